// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the module would lose: each operation is done many times, and no
 * cache of the kernel's may have grown by about as many objects, nor may memory
 * be missing. Debian's kernels have no kmemleak; where there is one, it is asked.
 */
#define _GNU_SOURCE
#include "device.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define ROUNDS		1500
#define CACHES_MAX	400

struct cache {
	char name[64];
	long objects;
};

struct memory {
	struct cache caches[CACHES_MAX];
	size_t count;
	long free;	/* KiB */
	long vmalloc;	/* KiB */
};

static struct memory before, after;
static char buffer[FURLONG_MESSAGE_SIZE_MAX];

static void setup(void)
{
	devices_clean();
}

static void look(struct memory *memory)
{
	char line[512];
	FILE *file = fopen("/proc/slabinfo", "r");
	struct cache *cache;

	if (!file)
		tap_skip("no /proc/slabinfo");
	memory->count = 0;
	while (fgets(line, sizeof(line), file)) {
		cache = &memory->caches[memory->count];
		/* The module has no separate caches. */
		if (strncmp(line, "kmalloc-", 8))
			continue;
		EQ(sscanf(line, "%63s %ld", cache->name, &cache->objects), 2);
		OK(++memory->count < CACHES_MAX);
	}
	fclose(file);
	file = fopen("/proc/meminfo", "r");
	OK(file);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "MemFree: %ld", &memory->free);
		sscanf(line, "VmallocUsed: %ld", &memory->vmalloc);
	}
	fclose(file);
}

/* Returns whether memory has grown like a leak; with @say, prints where. */
static int grown(long limit, int say)
{
	int found = 0;
	size_t i, j;
	long more;

	for (i = 0; i < after.count; i++) {
		for (j = 0; j < before.count; j++) {
			if (!strcmp(before.caches[j].name, after.caches[i].name))
				break;
		}
		if (j == before.count)
			continue;
		more = after.caches[i].objects - before.caches[j].objects;
		if (more < limit)
			continue;
		found = 1;
		if (say)
			tap_note("%ld more objects in %s", more,
				 after.caches[i].name);
	}
	more = after.vmalloc - before.vmalloc;
	if (more >= 4096) {
		found = 1;
		if (say)
			tap_note("%ld KiB more in vmalloc", more);
	}
	more = before.free - after.free;
	if (more >= 16384) {
		found = 1;
		if (say)
			tap_note("%ld KiB less free", more);
	}
	return found;
}

static void no_leak(void (*operation)(int), int rounds)
{
	int i, tries;

	for (i = 0; i < rounds / 4; i++)
		operation(i);
	look(&before);
	for (i = 0; i < rounds; i++)
		operation(i);
	/*
	 * Some memory is freed later, by RCU or by a worker. In addition, a few
	 * slabs of each cache count as full while a CPU holds them. With fewer
	 * rounds, a leak could not be distinguished from these effects.
	 */
	for (tries = 0; tries < 200; tries++) {
		look(&after);
		if (!grown(rounds / 3, 0))
			return;
		tap_pause(100000);
	}
	grown(rounds / 3, 1);
	FAIL("memory is missing after %d times", rounds);
}

static int message_fd;

static void open_close(int i)
{
	(void)i;
	close(message_open(0, O_RDWR));
	close(shm_device_open(0, O_RDWR));
}

static void send_receive(int i)
{
	size_t length = 1 + i * 37 % SIZE;

	EQ(write(message_fd, buffer, length), length);
	EQ(read(message_fd, buffer, SIZE), length);
}

static void leave_rest(int i)
{
	int fd = message_open(0, O_RDWR);

	EQ(write(fd, buffer, 100 + i % 3000), 100 + i % 3000);
	EQ(read(fd, buffer, 10), 10);
	close(fd);
}

static void send_badly(int i)
{
	char *memory = before_hole(64);

	FAILS(write(message_fd, memory, 65 + i % 5000), EFAULT);
	FAILS(write(message_fd, bad_pointer, 100), EFAULT);
	FAILS(write(message_fd, buffer, SIZE + 1), EMSGSIZE);
	munmap((void *)((uintptr_t)memory & ~4095UL), 8192);
}

static void receive_badly(int i)
{
	EQ(write(message_fd, buffer, 100 + i % 1000), 100 + i % 1000);
	FAILS(read(message_fd, bad_pointer, 100), EFAULT);
	EQ(read(message_fd, buffer, SIZE), 100 + i % 1000);
}

static void refuse(int i)
{
	int fd = message_open(1, O_WRONLY | O_NONBLOCK);

	FAILS(write(fd, buffer, 1 + i % SIZE), EAGAIN);
	close(fd);
}

static void discard(int i)
{
	EQ(write(message_fd, buffer, 50 + i % 400), 50 + i % 400);
	EQ(write(message_fd, buffer, 50), 50);
	EQ(ioctl(message_fd, FURLONG_MESSAGE_RESET), 0);
}

static void transient(int i)
{
	int fd = message_open(2, O_RDWR);

	EQ(message_flags(fd, FURLONG_MESSAGE_TRANSIENT), 0);
	EQ(write(fd, buffer, 50 + i % 400), 50 + i % 400);
	EQ(write(fd, buffer, 5000), 5000);
	close(fd);
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* A signal comes while it waits, or a little before: then the next one. */
static void interrupted(int i)
{
	struct itimerval timer = {
		.it_value = { 0, 300 + i % 50 }, .it_interval = { 0, 1000 },
	};

	setitimer(ITIMER_REAL, &timer, NULL);
	FAILS(write(message_fd, buffer, 1 + i % SIZE), EINTR);
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void send_large(int i)
{
	(void)i;
	EQ(write(message_fd, buffer, sizeof(buffer)), sizeof(buffer));
	EQ(read(message_fd, buffer, 10), 10);
	EQ(read(message_fd, buffer, sizeof(buffer)), sizeof(buffer) - 10);
}

static void map_unmap(int i)
{
	int fd = shm_device_open(0, O_RDWR), two = shm_device_open(0, O_RDWR);
	size_t size = 4096UL * (4 + i % 32);
	char *memory;

	EQ(shm_resize(fd, size), 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	OK(memory != MAP_FAILED);
	memory[i % size] = 1;
	EQ(shm_watch(fd, shm_info(two).peer), 0);
	EQ(shm_ring(two, shm_info(fd).peer), 0);
	OK(mmap(NULL, size + 1, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	EQ(munmap(memory, size), 0);
	/* Resized with pages, and closed with and without. */
	if (i % 3)
		EQ(shm_resize(fd, 4096 * (1 + i % 9)), 0);
	close(two);
	close(fd);
}

static void poll_all(int i)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT };
	int epoll = epoll_create1(0), fd = shm_device_open(1, O_RDWR);

	(void)i;
	EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, message_fd, &event), 0);
	EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
	polled(fd, POLLIN);
	close(fd);
	close(epoll);
}

CASE(opening)
{
	no_leak(open_close, ROUNDS);
}

CASE(sending_and_receiving)
{
	message_fd = message_open(0, O_RDWR);
	no_leak(send_receive, ROUNDS);
}

CASE(rests)
{
	no_leak(leave_rest, ROUNDS);
}

CASE(failed_sending)
{
	message_fd = message_open(0, O_RDWR);
	no_leak(send_badly, ROUNDS);
}

CASE(failed_receiving)
{
	message_fd = message_open(0, O_RDWR);
	no_leak(receive_badly, ROUNDS);
}

CASE(full_queues)
{
	message_fill(1);
	no_leak(refuse, ROUNDS);
}

CASE(discarding)
{
	message_fd = message_open(0, O_RDWR);
	no_leak(discard, ROUNDS);
}

CASE(transient_channels)
{
	no_leak(transient, ROUNDS);
}

CASE(interrupted_sending)
{
	struct sigaction action = { .sa_handler = on_alarm };

	EQ(sigaction(SIGALRM, &action, NULL), 0);
	message_fill(1);
	message_fd = message_open(1, O_WRONLY);
	no_leak(interrupted, ROUNDS / 2);
}

CASE(large_messages)
{
	message_fd = message_open(0, O_RDWR);
	EQ(message_limits(message_fd, 4, FURLONG_MESSAGE_SIZE_MAX), 0);
	no_leak(send_large, 60);
}

CASE(regions)
{
	no_leak(map_unmap, ROUNDS);
}

CASE(polling)
{
	message_fd = message_open(0, O_RDWR);
	no_leak(poll_all, ROUNDS);
}

CASE(kmemleak)
{
	static const char path[] = "/sys/kernel/debug/kmemleak";
	char text[4096];
	ssize_t length;
	int fd;

	fd = open(path, O_RDWR);
	if (fd < 0)
		tap_skip("this kernel has no kmemleak");
	/* Two scans, because a single one also reports pointers that are being moved. */
	EQ(write(fd, "scan", 4), 4);
	tap_pause(6000000);
	EQ(write(fd, "scan", 4), 4);
	length = read(fd, text, sizeof(text) - 1);
	if (length > 0) {
		text[length] = 0;
		if (strstr(text, "furlong"))
			FAIL("%.300s", text);
	}
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv, setup);
}
