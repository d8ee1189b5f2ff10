// SPDX-License-Identifier: GPL-2.0
/*
 * Random calls on both devices by several processes, with sizes, numbers and
 * pointers that make no sense as often as such that do. What the calls return is
 * not judged; the kernel must live, and the devices must work afterwards.
 *
 * fuzz [SEED [OPERATIONS]] repeats a run.
 */
#define _GNU_SOURCE
#include "device.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES	4
#define FDS		24
#define MAPS		8
#define PAGE		4096UL

struct map {
	char *memory;
	size_t length;
};

static uint64_t seed = 6061;
static unsigned int operations = 20000;

static uint64_t state;
static int fds[FDS];
static struct map maps[MAPS];
static char *arena, *read_only;
static sigjmp_buf jump;
static volatile sig_atomic_t jumping;

static uint64_t below(uint64_t most)
{
	return random_next(&state) % most;
}

static int one_in(unsigned int most)
{
	return !below(most);
}

/* A number that a caller may have got wrong. */
static uint64_t odd_number(void)
{
	static const uint64_t odd[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 63, 64, 65, 4095, 4096, 4097,
		8191, 8192, 8193, 65535, 65536, 65537, 1 << 20, (1 << 20) + 1,
		0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 1ULL << 40,
		0x7fffffffffffffff, 0x8000000000000000, ~0ULL, ~0ULL - 4095,
	};

	return one_in(3) ? below(10000) : odd[below(ARRAY_SIZE(odd))];
}

static void *odd_pointer(size_t *room)
{
	*room = 65536;
	switch (below(12)) {
	case 0:
		return NULL;
	case 1:
		return bad_pointer;
	case 2:
		return (void *)0xffff888000000000UL;
	case 3:
		return (void *)0xffffffff81000000UL;
	case 4:
		return (void *)~0UL;
	case 5:
		return read_only;
	case 6:
		/* Crosses the end. */
		return arena + 65536 - below(100);
	case 7:
		if (maps[0].memory)
			return maps[0].memory;
		/* fall through */
	default:
		*room = 65536 - 256;
		return arena + below(256);
	}
}

static size_t odd_length(size_t room)
{
	if (one_in(8))
		return odd_number();
	return below(one_in(2) ? 64 : room < 9000 ? room : 9000);
}

static int any_fd(void)
{
	return fds[below(FDS)];
}

static void do_open(void)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_RDWR };
	unsigned int slot = below(FDS);
	char path[64];

	snprintf(path, sizeof(path), "/dev/furlong-%s%u",
		 one_in(2) ? "message" : "shm", (unsigned int)below(CHANNELS));
	if (fds[slot] >= 0)
		close(fds[slot]);
	fds[slot] = open(path, modes[below(5)] | (one_in(6) ? 0 : O_NONBLOCK) |
			 (one_in(8) ? O_APPEND | O_CREAT | O_TRUNC : 0), 0600);
}

static void do_dup(void)
{
	unsigned int slot = below(FDS);
	int fd = dup(any_fd());

	if (fds[slot] >= 0)
		close(fds[slot]);
	fds[slot] = fd;
}

static void do_transfer(void)
{
	struct iovec parts[4];
	size_t room, i, count = 1 + below(4);
	void *memory = odd_pointer(&room);
	int fd = any_fd(), flags = one_in(2) ? RWF_NOWAIT : (int)below(64);
	ssize_t result;

	for (i = 0; i < count; i++) {
		parts[i].iov_base = odd_pointer(&room);
		parts[i].iov_len = odd_length(room);
	}
	room = odd_length(room);
	switch (below(10)) {
	case 0:
	case 1:
	case 2:
		result = write(fd, memory, room);
		break;
	case 3:
	case 4:
	case 5:
		/* Not where the pools of this program lie. */
		result = read(fd, memory, room > 65536 ? 65536 : room);
		break;
	case 6:
		result = writev(fd, parts, count);
		break;
	case 7:
		for (i = 0; i < count; i++)
			parts[i].iov_len %= 60000;
		result = readv(fd, parts, count);
		break;
	case 8:
		result = pwritev2(fd, parts, count, one_in(2) ? -1 : 0, flags);
		break;
	default:
		for (i = 0; i < count; i++)
			parts[i].iov_len %= 60000;
		result = preadv2(fd, parts, count, one_in(2) ? -1 : 0, flags);
	}
	(void)result;
}

static void do_ioctl(void)
{
	static const unsigned long known[] = {
		FURLONG_MESSAGE_INFO, FURLONG_MESSAGE_LIMITS,
		FURLONG_MESSAGE_FLAGS, FURLONG_MESSAGE_RESET, FURLONG_SHM_INFO,
		FURLONG_SHM_RESIZE, FURLONG_SHM_RING, FURLONG_SHM_WATCH,
	};
	unsigned long number = known[below(ARRAY_SIZE(known))];
	size_t room, i;
	void *memory = odd_pointer(&room);
	uint32_t words[64];

	if (one_in(6))
		number = random_next(&state);
	else if (one_in(10))
		number ^= 1UL << below(32);
	if (one_in(2)) {
		for (i = 0; i < ARRAY_SIZE(words); i++)
			words[i] = one_in(3) ? 0 : odd_number();
		memory = words;
	}
	/* None that the kernel handles itself for any file. */
	if ((number >> 8 & 0xff) != FURLONG_IOC_MAGIC && one_in(2))
		number = (number & ~0xff00UL) | FURLONG_IOC_MAGIC << 8;
	if (number == 0x5451 || number == 0x5450 || number == 0x5421 ||
	    number == 0x5452)
		return;
	ioctl(any_fd(), number, memory);
}

static void do_mmap(void)
{
	struct map *map = &maps[below(MAPS)];
	int protection = below(8), flags = one_in(6) ? MAP_PRIVATE : MAP_SHARED;
	size_t length = one_in(4) ? odd_number() : PAGE * (1 + below(300));
	off_t offset = one_in(2) ? 0 : one_in(2) ? odd_number() :
		PAGE * below(300);

	if (map->memory)
		munmap(map->memory, map->length);
	if (one_in(6))
		flags |= MAP_POPULATE;
	if (one_in(12))
		flags |= MAP_LOCKED;
	map->memory = mmap(NULL, length, protection, flags, any_fd(), offset);
	map->length = length;
	if (map->memory == MAP_FAILED)
		map->memory = NULL;
}

static void do_change_map(void)
{
	struct map *map = &maps[below(MAPS)];
	size_t length = PAGE * (1 + below(600));
	void *moved;

	if (!map->memory || !map->length)
		return;
	switch (below(5)) {
	case 0:
		moved = mremap(map->memory, map->length, length, MREMAP_MAYMOVE);
		if (moved == MAP_FAILED)
			break;
		map->memory = moved;
		map->length = length;
		break;
	case 1:
		mprotect(map->memory, map->length, below(8));
		break;
	case 2:
		madvise(map->memory, map->length, below(26));
		break;
	case 3:
		/* A hole in it, or its end. */
		munmap(map->memory + PAGE * below(4), PAGE);
		break;
	default:
		msync(map->memory, map->length, MS_SYNC);
		mlock(map->memory, PAGE);
	}
}

static void on_fault(int signal)
{
	if (!jumping)
		_exit(100 + signal);
	siglongjmp(jump, signal);
}

static void do_touch(void)
{
	struct map *map = &maps[below(MAPS)];
	volatile char *byte;

	if (!map->memory || !map->length)
		return;
	byte = map->memory + below(map->length);
	jumping = 1;
	if (!sigsetjmp(jump, 1)) {
		if (one_in(2))
			*byte = 1;
		else
			(void)*byte;
	}
	jumping = 0;
}

static void do_poll(void)
{
	struct pollfd all[4];
	struct epoll_event event = { .events = random_next(&state) & 0x3fff };
	int epoll, i;

	for (i = 0; i < 4; i++) {
		all[i].fd = any_fd();
		all[i].events = random_next(&state);
	}
	poll(all, 4, below(2));
	epoll = epoll_create1(0);
	if (one_in(2))
		event.events |= EPOLLET;
	if (one_in(4))
		event.events |= EPOLLEXCLUSIVE;
	epoll_ctl(epoll, EPOLL_CTL_ADD, any_fd(), &event);
	epoll_ctl(epoll, EPOLL_CTL_ADD, any_fd(), &event);
	epoll_wait(epoll, &event, 1, 0);
	close(epoll);
}

static void do_other(void)
{
	int fd = any_fd();
	off_t offset = odd_number();

	switch (below(8)) {
	case 0:
		lseek(fd, offset, below(6));
		break;
	case 1:
		fcntl(fd, F_SETFL, one_in(6) ? 0 : O_NONBLOCK);
		break;
	case 2:
		fsync(fd);
		break;
	case 3:
		if (ftruncate(fd, offset))
			break;
		break;
	case 4:
		fallocate(fd, 0, 0, 4096);
		break;
	case 5:
		syscall(SYS_splice, fd, NULL, any_fd(), NULL, 100, SPLICE_F_NONBLOCK);
		break;
	case 6:
		syscall(SYS_sendfile, fd, any_fd(), NULL, 100);
		break;
	default:
		fcntl(fd, F_SETOWN, getpid());
		fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
	}
}

static void do_fork(void);

static void do_one(void)
{
	switch (below(20)) {
	case 0:
	case 1:
		do_open();
		break;
	case 2:
		do_dup();
		break;
	case 3:
		if (one_in(4))
			close(any_fd());
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		do_ioctl();
		break;
	case 8:
		do_mmap();
		break;
	case 9:
		do_change_map();
		break;
	case 10:
		do_touch();
		break;
	case 11:
		do_poll();
		break;
	case 12:
		do_other();
		break;
	case 13:
		if (one_in(20))
			do_fork();
		break;
	default:
		do_transfer();
	}
}

/* A child that goes on with all descriptors and mappings until it is killed. */
static void do_fork(void)
{
	pid_t pid = fork();
	int i;

	if (pid < 0)
		return;
	if (!pid) {
		state ^= 0x5555555555555555ULL;
		for (i = 0; i < 100; i++) {
			if (one_in(30))
				_exit(0);
			/* No children of children. */
			if (below(20) < 10)
				do_transfer();
			else
				do_ioctl();
		}
		_exit(0);
	}
	tap_pause(below(3000));
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void on_tick(int signal)
{
	(void)signal;
}

static void fuzz(void *argument)
{
	struct sigaction fault = { .sa_handler = on_fault };
	struct sigaction tick = { .sa_handler = on_tick };
	/* Ends every call that waits. */
	struct itimerval timer = { { 0, 5000 }, { 0, 5000 } };
	unsigned int i;

	state = seed * 1000003 + (intptr_t)argument + 1;
	for (i = 0; i < FDS; i++)
		fds[i] = -1;
	for (i = 0; i < FDS / 2; i++)
		do_open();
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	sigaction(SIGALRM, &tick, NULL);
	sigaction(SIGIO, &tick, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (i = 0; i < operations; i++)
		do_one();
}

CASE_LONG(everything_at_random, 200)
{
	struct furlong_message_info info;
	unsigned int i;
	pid_t pids[PROCESSES];
	int status;

	tap_note("seed %llu, %u operations in each of %d processes",
		 (unsigned long long)seed, operations, PROCESSES);
	arena = before_hole(65536);
	read_only = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	for (i = 0; i < PROCESSES; i++)
		pids[i] = tap_spawn(fuzz, (void *)(intptr_t)i);
	for (i = 0; i < PROCESSES; i++) {
		EQ(waitpid(pids[i], &status, 0), pids[i]);
		if (status)
			tap_note("process %u ended with status %#x", i, status);
	}
	for (i = 0; i < CHANNELS; i++) {
		info = message_info(message_open(i, O_RDONLY));
		EQ(info.openers, 1);
		EQ(info.sent - info.received - info.discarded, info.queued);
		OK(info.queued <= info.depth);
		OK(info.queued_bytes <= (uint64_t)info.depth * info.size);
	}
	devices_clean();
}

CASE(messages_work_afterwards)
{
	static char block[SIZE], got[SIZE];
	unsigned int channel, i;
	int fd;

	for (channel = 0; channel < CHANNELS; channel++) {
		fd = message_open(channel, O_RDWR | O_NONBLOCK);
		EQ(message_info(fd).flags, 0);
		EQ(message_info(fd).openers, 1);
		for (i = 0; i < DEPTH; i++) {
			parcel_make(block, channel, i, SIZE - i);
			EQ(write(fd, block, SIZE - i), SIZE - i);
		}
		FAILS(write(fd, block, 1), EAGAIN);
		for (i = 0; i < DEPTH; i++) {
			EQ(read(fd, got, sizeof(got)), SIZE - i);
			EQ(parcel_check(got, SIZE - i), 0);
		}
		FAILS(read(fd, got, 1), EAGAIN);
		/* All memory is there again. */
		EQ(message_limits(fd, 58, 1 << 20), 0);
		EQ(message_limits(fd, DEPTH, SIZE), 0);
	}
}

CASE(regions_work_afterwards)
{
	unsigned int channel, i;
	int list[FURLONG_SHM_PEERS];
	char *memory;

	for (channel = 0; channel < CHANNELS; channel++) {
		for (i = 0; i < FURLONG_SHM_PEERS; i++)
			list[i] = shm_device_open(channel, O_RDWR | O_NONBLOCK);
		EQ(shm_info(list[0]).peers, ~0ULL);
		EQ(shm_info(list[0]).mappings, 0);
		EQ(shm_info(list[0]).gone, 0);
		memory = mmap(NULL, SHM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      list[5], 0);
		OK(memory != MAP_FAILED);
		for (i = 0; i < SHM_SIZE; i++)
			OK(!memory[i]);
		EQ(shm_ring(list[1], shm_info(list[2]).peer), 0);
		EQ(polled(list[2], POLLIN), POLLIN);
		munmap(memory, SHM_SIZE);
		for (i = 0; i < FURLONG_SHM_PEERS; i++)
			close(list[i]);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		operations = strtoul(argv[2], NULL, 0);
	return tap_main(1, argv, NULL);
}
