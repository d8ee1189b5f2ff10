/* SPDX-License-Identifier: GPL-2.0 */
/* What the module's files share. */
#ifndef FURLONG_H
#define FURLONG_H

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/types.h>

/* Debian's 6.1 has 128 minor numbers for all miscellaneous devices together. */
#define FURLONG_CHANNELS_MAX	16

/* Room for the longest device name and any number. */
#define FURLONG_NAME_SIZE	32

/* At most this many bytes of a message go into a trace. */
#define FURLONG_LOG_BYTES_MAX	64U

/* The module's parameters; main.c describes them. */
extern unsigned int furlong_channels;
extern unsigned int furlong_message_depth;
extern unsigned int furlong_message_size;
extern unsigned long furlong_shm_size;
extern unsigned int furlong_log_bytes;

/**
 * furlong_reserve() - sets bytes of the module's memory_max aside
 * @bytes: how many
 * @before: how many were set aside for the same thing until now
 *
 * What a channel may hold is set aside when its limits are set, so that sending
 * never fails because of another channel. It never succeeds in asking for more
 * than memory_max in all, and never fails in asking for less than before.
 *
 * Return: 0, or -ENOSPC when fewer are left; then @before stays set aside.
 */
int furlong_reserve(u64 bytes, u64 before);

/**
 * furlong_may_not_wait() - whether a call must fail with -EAGAIN sooner than wait
 * @call: the call
 */
static inline bool furlong_may_not_wait(const struct kiocb *call)
{
	return call->ki_flags & IOCB_NOWAIT || call->ki_filp->f_flags & O_NONBLOCK;
}

/**
 * struct furlong_device - what a channel of either kind is to the rest of the kernel
 * @misc: the device
 * @name: its name
 * @number: the number in that
 */
struct furlong_device {
	struct miscdevice misc;
	char name[FURLONG_NAME_SIZE];
	unsigned int number;
};

/**
 * furlong_register() - makes a device, for root alone until udev says otherwise
 * @device: the channel's part of it, all zero
 * @kind: what stands before the number in its name
 * @number: the number
 * @operations: its calls
 * @groups: what it shows in sysfs
 *
 * From now on it can be opened. misc_deregister() ends it.
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
