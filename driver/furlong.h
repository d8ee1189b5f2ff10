/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the module's files. */
#ifndef FURLONG_H
#define FURLONG_H

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/types.h>

/* Debian's Linux 6.1 has 128 minor numbers for all miscellaneous devices. */
#define FURLONG_CHANNELS_MAX	16

/* Room for the longest device name and any number. */
#define FURLONG_NAME_SIZE	32

/* Maximum number of bytes of a message in a trace event. */
#define FURLONG_LOG_BYTES_MAX	64U

/* The module's parameters; main.c describes them. */
extern unsigned int furlong_channels;
extern unsigned int furlong_message_depth;
extern unsigned int furlong_message_size;
extern unsigned long furlong_shm_size;
extern unsigned int furlong_log_bytes;

/**
 * furlong_reserve() - reserves bytes of the module's memory_max
 * @bytes: number of bytes
 * @before: number of bytes reserved for the same purpose so far
 *
 * A channel's maximum content is reserved when its limits are set, so that
 * sending never fails because of another channel. The sum never exceeds
 * memory_max. A request for fewer bytes than before never fails.
 *
 * Return: 0, or -ENOSPC if too few are left; then @before stays reserved.
 */
int furlong_reserve(u64 bytes, u64 before);

/**
 * furlong_may_not_wait() - whether a call must fail with -EAGAIN instead of blocking
 * @call: the call
 */
static inline bool furlong_may_not_wait(const struct kiocb *call)
{
	return call->ki_flags & IOCB_NOWAIT || call->ki_filp->f_flags & O_NONBLOCK;
}

/**
 * struct furlong_device - device of a channel of either kind
 * @misc: the device
 * @name: its name
 * @number: the number in its name
 */
struct furlong_device {
	struct miscdevice misc;
	char name[FURLONG_NAME_SIZE];
	unsigned int number;
};

/**
 * furlong_register() - creates a device, accessible to root only unless udev
 *                      changes that
 * @device: the channel's device, zeroed
 * @kind: name of the device without its number
 * @number: the number
 * @operations: its file operations
 * @groups: its sysfs attributes
 *
 * The call makes the device available to open(). misc_deregister() removes it.
 *
 * Return: 0, or an error.
 */
int furlong_register(struct furlong_device *device, const char *kind, unsigned int number,
		     const struct file_operations *operations,
		     const struct attribute_group **groups);

int furlong_message_add(unsigned int number);
void furlong_message_remove(unsigned int number);
int furlong_shm_add(unsigned int number);
void furlong_shm_remove(unsigned int number);

#endif /* FURLONG_H */
