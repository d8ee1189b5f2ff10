// SPDX-License-Identifier: GPL-2.0
#include "device.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *bad_pointer = (void *)8, *null_pointer;

static int device_open(const char *kind, unsigned int channel, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/furlong-%s%u", kind, channel);
	errno = 0;
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		FAIL("open %s", path);
	return fd;
}

int message_open(unsigned int channel, int flags)
{
	return device_open("message", channel, flags);
}

int shm_device_open(unsigned int channel, int flags)
{
	return device_open("shm", channel, flags);
}

struct furlong_message_info message_info(int fd)
{
	struct furlong_message_info info;

	memset(&info, 0xff, sizeof(info));
	EQ(ioctl(fd, FURLONG_MESSAGE_INFO, &info), 0);
	return info;
}

struct furlong_shm_info shm_info(int fd)
{
	struct furlong_shm_info info;

	memset(&info, 0xff, sizeof(info));
	EQ(ioctl(fd, FURLONG_SHM_INFO, &info), 0);
	return info;
}

int message_limits(int fd, uint32_t depth, uint32_t size)
{
	struct furlong_message_limits limits = { .depth = depth, .size = size };

	return ioctl(fd, FURLONG_MESSAGE_LIMITS, &limits);
}

int message_flags(int fd, uint32_t flags)
{
	return ioctl(fd, FURLONG_MESSAGE_FLAGS, &flags);
}

int shm_resize(int fd, uint64_t size)
{
	return ioctl(fd, FURLONG_SHM_RESIZE, &size);
}

int shm_ring(int fd, uint32_t peer)
{
	return ioctl(fd, FURLONG_SHM_RING, &peer);
}

int shm_watch(int fd, uint32_t peer)
{
	return ioctl(fd, FURLONG_SHM_WATCH, &peer);
}

int polled(int fd, int events)
{
	struct pollfd one = { .fd = fd, .events = events };

	OK(poll(&one, 1, 0) >= 0);
	return one.revents;
}

unsigned int message_fill(unsigned int channel)
{
	int fd = message_open(channel, O_WRONLY | O_NONBLOCK);
	uint32_t count = 0;

	while (write(fd, &count, sizeof(count)) == sizeof(count))
		count++;
	if (errno != EAGAIN)
		FAIL("write of message %u", count);
	close(fd);
	return count;
}

void devices_clean(void)
{
	unsigned int i;
	int fd;

	for (i = 0; i < CHANNELS; i++) {
		fd = message_open(i, O_RDWR);
		EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
		EQ(message_limits(fd, DEPTH, SIZE), 0);
		close(fd);
		fd = shm_device_open(i, O_RDWR);
		if (shm_info(fd).size != SHM_SIZE)
			EQ(shm_resize(fd, SHM_SIZE), 0);
		close(fd);
	}
}

/* xorshift64*: short, and good enough to find a byte in the wrong place. */
uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dULL;
}

static uint64_t parcel_seed(uint32_t sender, uint32_t sequence)
{
	return ((uint64_t)sender << 32 | sequence) * 0x9e3779b97f4a7c15ULL | 1;
}

static uint32_t parcel_sum(const struct parcel *parcel)
{
	return parcel->sender * 31 + parcel->sequence * 17 +
		parcel->length * 7 + 12345;
}

void parcel_make(void *buffer, uint32_t sender, uint32_t sequence,
		 uint32_t length)
{
	uint64_t state = parcel_seed(sender, sequence), word;
	struct parcel parcel = {
		.sender = sender, .sequence = sequence, .length = length,
	};
	size_t at, part;

	parcel.sum = parcel_sum(&parcel);
	memcpy(buffer, &parcel, sizeof(parcel));
	for (at = sizeof(parcel); at < length; at += part) {
		word = random_next(&state);
		part = length - at < sizeof(word) ? length - at : sizeof(word);
		memcpy((char *)buffer + at, &word, part);
	}
}

int parcel_check(const void *buffer, size_t length)
{
	uint64_t state, word;
	struct parcel parcel;
	size_t at, part;

	if (length < sizeof(parcel))
		return -1;
	memcpy(&parcel, buffer, sizeof(parcel));
	if (parcel.length != length || parcel.sum != parcel_sum(&parcel))
		return -1;
	state = parcel_seed(parcel.sender, parcel.sequence);
	for (at = sizeof(parcel); at < length; at += part) {
		word = random_next(&state);
		part = length - at < sizeof(word) ? length - at : sizeof(word);
		if (memcmp((const char *)buffer + at, &word, part))
			return -1;
	}
	return 0;
}

void *shared_memory(size_t length)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	OK(memory != MAP_FAILED);
	return memory;
}

void *before_hole(size_t length)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t whole = (length + page - 1) / page * page;
	char *memory;

	memory = mmap(NULL, whole + page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OK(memory != MAP_FAILED);
	EQ(mprotect(memory + whole, page, PROT_NONE), 0);
	return memory + whole - length;
}
