/* SPDX-License-Identifier: GPL-2.0 */
/* The two devices, as the tests use them. */
#ifndef FURLONG_DEVICE_H
#define FURLONG_DEVICE_H

#include <linux/furlong.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "tap.h"

/* Module parameters that the tests run with: the usual ones. */
#define CHANNELS	4
#define DEPTH		64
#define SIZE		8192
#define SHM_SIZE	(1UL << 20)
#define MEMORY_MAX	(64UL << 20)

/* Opens a device of a channel; the case fails when it cannot be opened. */
int message_open(unsigned int channel, int flags);
int shm_device_open(unsigned int channel, int flags);

struct furlong_message_info message_info(int fd);
struct furlong_shm_info shm_info(int fd);
/* The ioctls as calls: 0, or -1 and errno. */
int message_limits(int fd, uint32_t depth, uint32_t size);
int message_flags(int fd, uint32_t flags);
int shm_resize(int fd, uint64_t size);
int shm_ring(int fd, uint32_t peer);
int shm_watch(int fd, uint32_t peer);

/* Returns those of these events that poll() reports without waiting. */
int polled(int fd, int events);
/* Fills a queue with messages of 4 bytes through a non-blocking descriptor. */
unsigned int message_fill(unsigned int channel);

/* Empty queues, usual limits and sizes: before each case. */
void devices_clean(void);

/*
 * A message that can be verified without context: its sender, its number among
 * the sender's messages, its length, and contents derived from these and from a
 * seed.
 */
struct parcel {
	uint32_t sender;
	uint32_t sequence;
	uint32_t length;
	uint32_t sum;
};

void parcel_make(void *buffer, uint32_t sender, uint32_t sequence,
		 uint32_t length);
/* Returns 0 when these bytes are one whole parcel. */
int parcel_check(const void *buffer, size_t length);

/* A repeatable sequence of numbers. */
uint64_t random_next(uint64_t *state);

/* Zeroed memory that a case shares with the processes that it starts. */
void *shared_memory(size_t length);

/* Memory: length bytes, followed by a page that cannot be touched. */
void *before_hole(size_t length);

/* Addresses where nothing is; variables, so that the compiler does not know. */
extern void *bad_pointer, *null_pointer;

#endif
