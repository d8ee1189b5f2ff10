// SPDX-License-Identifier: GPL-2.0
/* Operations that shell scripts cannot perform. A helper of the suites, not a suite. */
#define _GNU_SOURCE
#include "device.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *map_all(unsigned int channel, size_t *size)
{
	int fd = shm_device_open(channel, O_RDWR);
	char *memory;

	*size = shm_info(fd).size;
	memory = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	OK(memory != MAP_FAILED);
	return memory;
}

/* Writes to every byte of a region, then stays or goes. */
static void fill(unsigned int channel, int stay)
{
	size_t size;
	char *memory = map_all(channel, &size);

	memset(memory, 0x5a, size);
	if (stay) {
		puts("ready");
		fflush(stdout);
		pause();
	}
}

static void zero(unsigned int channel)
{
	size_t size, i;
	char *memory = map_all(channel, &size);

	for (i = 0; i < size; i++) {
		if (memory[i])
			FAIL("byte %zu of the region is %d", i, memory[i]);
	}
}

/* Two peers; the first rings the second. Prints their numbers. */
static void ring(unsigned int channel)
{
	int one = shm_device_open(channel, O_RDWR);
	int two = shm_device_open(channel, O_RDWR);

	EQ(shm_ring(one, shm_info(two).peer), 0);
	printf("from=%u to=%u\n", shm_info(one).peer, shm_info(two).peer);
}

/* Uses all there is of all channels and leaves it lying about. */
static void use(unsigned int channels)
{
	static char block[SIZE];
	unsigned int i;
	char *memory;
	size_t size;
	int fd;

	for (i = 0; i < channels; i++) {
		fd = message_open(i, O_RDWR | O_NONBLOCK);
		while (write(fd, block, sizeof(block)) > 0)
			;
		EQ(read(fd, block, 10), 10);
		EQ(read(fd, block, SIZE), SIZE - 10);
		EQ(write(fd, block, 100), 100);
		EQ(read(fd, block, 10), 10);
		EQ(message_limits(fd, 100, SIZE), 0);
		EQ(write(fd, block, SIZE), SIZE);
		memory = map_all(i, &size);
		memset(memory, 1, size);
		EQ(shm_ring(shm_device_open(i, O_RDWR), 0), 0);
	}
}

/* Reads one message as it is. */
static void receive(unsigned int channel)
{
	static char block[FURLONG_MESSAGE_SIZE_MAX];
	ssize_t length = read(message_open(channel, O_RDONLY), block,
			      sizeof(block));

	OK(length >= 0);
	EQ(fwrite(block, 1, length, stdout), length);
}

static void reset(unsigned int channel)
{
	int fd = message_open(channel, O_RDWR);

	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	EQ(message_limits(fd, DEPTH, SIZE), 0);
}

int main(int argc, char **argv)
{
	unsigned int number = argc > 2 ? atoi(argv[2]) : 0;
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "fill"))
		fill(number, 0);
	else if (!strcmp(what, "hold"))
		fill(number, 1);
	else if (!strcmp(what, "zero"))
		zero(number);
	else if (!strcmp(what, "ring"))
		ring(number);
	else if (!strcmp(what, "use"))
		use(number);
	else if (!strcmp(what, "receive"))
		receive(number);
	else if (!strcmp(what, "reset"))
		reset(number);
	else
		return 2;
	return 0;
}
