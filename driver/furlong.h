/* SPDX-License-Identifier: GPL-2.0 */
/* What the module's files share. */
#ifndef FURLONG_H
#define FURLONG_H

#include <linux/fs.h>
#include <linux/types.h>

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

int furlong_message_init(void);
void furlong_message_exit(void);
int furlong_shm_init(void);
void furlong_shm_exit(void);

#endif /* FURLONG_H */
