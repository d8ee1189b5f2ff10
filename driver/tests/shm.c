// SPDX-License-Identifier: GPL-2.0
/* The shared-memory device: peers, the region, bells, and the end of a peer. */
#define _GNU_SOURCE
#include "device.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODE_RDWR	(O_RDWR | O_NONBLOCK)
#define PAGE		4096UL
#define ALL_EVENTS	(POLLIN | POLLOUT | POLLRDHUP)

/* What the processes of a case tell each other. */
static atomic_int *board;

static void setup(void)
{
	devices_clean();
	board = shared_memory(PAGE);
}

static void *map_at(int fd, size_t length, off_t offset)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    offset);

	if (memory == MAP_FAILED)
		FAIL("mmap of %zu at %lld", length, (long long)offset);
	return memory;
}

static void not_mapped(int fd, size_t length, int protection, int flags,
		       off_t offset, int wanted)
{
	void *memory;

	errno = 0;
	memory = mmap(NULL, length, protection, flags, fd, offset);
	if (memory != MAP_FAILED || errno != wanted)
		FAIL("mmap(%zu, %d, %d, %lld) is %p, not failed with %d (%s)",
		     length, protection, flags, (long long)offset, memory,
		     wanted, strerror(wanted));
}

static int all_zero(const char *memory, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (memory[i])
			return 0;
	}
	return 1;
}

static void ring_by_write(int fd, uint32_t peer)
{
	EQ(write(fd, &peer, sizeof(peer)), sizeof(peer));
}

/* Reads a bell that was rung this often. */
static void rung(int fd, uint64_t wanted)
{
	uint64_t count = 0;

	EQ(read(fd, &count, sizeof(count)), sizeof(count));
	EQ(count, wanted);
}

static void not_rung(int fd)
{
	uint64_t count = 77;

	FAILS(read(fd, &count, sizeof(count)), EAGAIN);
	EQ(count, 77);
}

CASE(peers_have_numbers)
{
	int one = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	struct furlong_shm_info a = shm_info(one), b = shm_info(two);

	EQ(a.abi, FURLONG_ABI);
	EQ(a.channel, 0);
	OK(a.peer < FURLONG_SHM_PEERS && b.peer < FURLONG_SHM_PEERS);
	OK(a.peer != b.peer);
	EQ(a.peers, 1ULL << a.peer | 1ULL << b.peer);
	EQ(b.peers, a.peers);
	EQ(a.size, SHM_SIZE);
	EQ(a.mappings, 0);
	EQ(a.watched, 0);
	EQ(a.gone, 0);
	close(two);
	EQ(shm_info(one).peers, 1ULL << a.peer);
	/* Peers of one channel are none of another. */
	two = shm_device_open(1, MODE_RDWR);
	EQ(shm_info(two).channel, 1);
	EQ(shm_info(one).peers, 1ULL << a.peer);
}

CASE(sixty_four_peers)
{
	int fds[FURLONG_SHM_PEERS];
	uint64_t seen = 0;
	unsigned int i, number;

	for (i = 0; i < FURLONG_SHM_PEERS; i++) {
		fds[i] = shm_device_open(0, MODE_RDWR);
		number = shm_info(fds[i]).peer;
		OK(number < FURLONG_SHM_PEERS);
		OK(!(seen >> number & 1));
		seen |= 1ULL << number;
	}
	EQ(shm_info(fds[0]).peers, ~0ULL);
	FAILS(open("/dev/furlong-shm0", O_RDWR), EUSERS);
	FAILS(open("/dev/furlong-shm0", O_RDONLY), EUSERS);
	shm_device_open(1, O_RDWR);
	number = shm_info(fds[17]).peer;
	close(fds[17]);
	EQ(shm_info(fds[0]).peers, ~(1ULL << number));
	fds[17] = shm_device_open(0, MODE_RDWR);
	EQ(shm_info(fds[17]).peer, number);
	FAILS(open("/dev/furlong-shm0", O_RDWR), EUSERS);
}

CASE(dup_is_the_same_peer)
{
	int fd = shm_device_open(0, MODE_RDWR), same = dup(fd);
	uint32_t number = shm_info(fd).peer;

	EQ(shm_info(same).peer, number);
	EQ(shm_info(same).peers, 1ULL << number);
	ring_by_write(fd, number);
	close(fd);
	rung(same, 1);
}

static void ask_in_child(void *argument)
{
	int fd = (intptr_t)argument;

	EQ(shm_info(fd).peer, board[0]);
	EQ(shm_info(fd).peers, 1ULL << board[0]);
	rung(fd, 2);
}

CASE(fork_is_the_same_peer)
{
	int fd = shm_device_open(0, MODE_RDWR);

	board[0] = shm_info(fd).peer;
	ring_by_write(fd, board[0]);
	ring_by_write(fd, board[0]);
	JOIN(tap_spawn(ask_in_child, (void *)(intptr_t)fd));
	not_rung(fd);
	EQ(shm_info(fd).peers, 1ULL << board[0]);
}

CASE(region_is_zeroed_and_shared)
{
	int one = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	char *a = map_at(one, SHM_SIZE, 0), *b = map_at(two, SHM_SIZE, 0);
	size_t i;

	EQ(all_zero(a, SHM_SIZE), 1);
	for (i = 0; i < SHM_SIZE; i += 1000)
		a[i] = i / 1000;
	for (i = 0; i < SHM_SIZE; i += 1000)
		EQ(b[i], (char)(i / 1000));
	b[SHM_SIZE - 1] = 9;
	EQ(a[SHM_SIZE - 1], 9);
	/* Another channel has another region. */
	EQ(all_zero(map_at(shm_device_open(1, O_RDWR), SHM_SIZE, 0), SHM_SIZE), 1);
}

CASE(parts_of_the_region)
{
	int fd = shm_device_open(0, MODE_RDWR);
	char *all = map_at(fd, SHM_SIZE, 0);
	char *third = map_at(fd, PAGE, 2 * PAGE);
	char *last = map_at(fd, 2 * PAGE, SHM_SIZE - 2 * PAGE);

	strcpy(third, "third");
	EQ(strcmp(all + 2 * PAGE, "third"), 0);
	EQ(all_zero(all, 2 * PAGE), 1);
	EQ(all_zero(all + 3 * PAGE, PAGE), 1);
	last[2 * PAGE - 1] = 1;
	EQ(all[SHM_SIZE - 1], 1);
	/* A length that is not a multiple of the page size is rounded up. */
	all = map_at(fd, 5, 0);
	all[PAGE - 1] = 'x';
}

CASE(mappings_that_are_refused)
{
	int fd = shm_device_open(0, MODE_RDWR);
	const int rw = PROT_READ | PROT_WRITE;

	not_mapped(fd, PAGE, rw, MAP_PRIVATE, 0, EINVAL);
	not_mapped(fd, PAGE, PROT_READ, MAP_PRIVATE, 0, EINVAL);
	not_mapped(fd, SHM_SIZE + 1, rw, MAP_SHARED, 0, EINVAL);
	not_mapped(fd, SHM_SIZE, rw, MAP_SHARED, PAGE, EINVAL);
	not_mapped(fd, PAGE, rw, MAP_SHARED, SHM_SIZE, EINVAL);
	not_mapped(fd, 1, rw, MAP_SHARED, SHM_SIZE, EINVAL);
	not_mapped(fd, PAGE, rw, MAP_SHARED, 1L << 40, EINVAL);
	not_mapped(fd, 1L << 40, rw, MAP_SHARED, 0, EINVAL);
	not_mapped(fd, 0, rw, MAP_SHARED, 0, EINVAL);
	EQ(shm_info(fd).mappings, 0);
	/* And they have not made the region unfit. */
	EQ(all_zero(map_at(fd, SHM_SIZE, 0), SHM_SIZE), 1);
}

CASE(read_only_descriptor)
{
	int fd = shm_device_open(0, O_RDONLY | O_NONBLOCK);
	int two = shm_device_open(0, MODE_RDWR);
	uint32_t number = shm_info(two).peer;
	char *memory, *other = map_at(two, PAGE, 0);

	not_mapped(fd, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0, EACCES);
	not_mapped(fd, PAGE, PROT_READ, MAP_PRIVATE, 0, EINVAL);
	memory = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	OK(memory != MAP_FAILED);
	FAILS(mprotect(memory, PAGE, PROT_READ | PROT_WRITE), EACCES);
	FAILS(mprotect(memory, PAGE, PROT_WRITE), EACCES);
	other[5] = 'x';
	EQ(memory[5], 'x');
	FAILS(write(fd, &number, sizeof(number)), EBADF);
	FAILS(shm_ring(fd, number), EBADF);
	FAILS(shm_resize(fd, PAGE), EBADF);
	not_rung(two);
	/* It is rung, watches and asks as any other. */
	ring_by_write(two, shm_info(fd).peer);
	rung(fd, 1);
	EQ(shm_watch(fd, number), 0);
	munmap(other, PAGE);
	close(two);
	EQ(polled(fd, POLLIN), POLLIN | POLLHUP);
}

CASE(write_only_descriptor)
{
	int fd = shm_device_open(0, O_WRONLY | O_NONBLOCK);
	uint64_t count;

	FAILS(read(fd, &count, sizeof(count)), EBADF);
	/* A writable mapping is also readable on this CPU. */
	not_mapped(fd, PAGE, PROT_WRITE, MAP_SHARED, 0, EACCES);
	not_mapped(fd, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0, EACCES);
	ring_by_write(fd, shm_info(fd).peer);
	EQ(shm_resize(fd, PAGE), 0);
}

static sigjmp_buf jump;

static void on_fault(int signal)
{
	siglongjmp(jump, signal);
}

/* The signal that touching a byte raises, or 0. */
static int touch(volatile char *byte)
{
	struct sigaction action = { .sa_handler = on_fault };
	int signal;

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	signal = sigsetjmp(jump, 1);
	if (!signal)
		(void)*byte;
	return signal;
}

CASE(grown_mapping_ends_with_the_region)
{
	int fd = shm_device_open(0, MODE_RDWR), caught;
	char *memory, *grown;

	EQ(shm_resize(fd, 2 * PAGE), 0);
	memory = map_at(fd, 2 * PAGE, 0);
	memory[0] = 1;
	grown = mremap(memory, 2 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	if (grown == MAP_FAILED) {
		tap_note("mremap refuses: %s", strerror(errno));
		return;
	}
	EQ(grown[0], 1);
	EQ(touch(grown + 2 * PAGE - 1), 0);
	for (size_t at = 2 * PAGE; at < 64 * PAGE; at += PAGE) {
		caught = touch(grown + at);
		if (caught != SIGBUS)
			FAIL("page %zu of 2: signal %d", at / PAGE, caught);
	}
	/* Nor through the kernel. */
	FAILS(write(message_open(0, O_WRONLY), grown + 2 * PAGE, 8), EFAULT);
	FAILS(write(message_open(0, O_WRONLY), grown + 2 * PAGE - 4, 8), EFAULT);
}

CASE(shrunk_and_moved_mapping)
{
	int fd = shm_device_open(0, MODE_RDWR);
	char *memory = map_at(fd, 4 * PAGE, PAGE), *moved;

	strcpy(memory, "first");
	strcpy(memory + PAGE, "second");
	memory = mremap(memory, 4 * PAGE, 2 * PAGE, 0);
	OK(memory != MAP_FAILED);
	EQ(shm_info(fd).mappings, 1);
	moved = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	moved = mremap(memory, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       moved);
	OK(moved != MAP_FAILED);
	EQ(strcmp(moved, "first"), 0);
	EQ(strcmp(moved + PAGE, "second"), 0);
	EQ(shm_info(fd).mappings, 1);
	EQ(munmap(moved, 2 * PAGE), 0);
	EQ(shm_info(fd).mappings, 0);
}

CASE(mappings_are_counted)
{
	int fd = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	char *a = map_at(fd, SHM_SIZE, 0), *b = map_at(two, PAGE, 0);
	pid_t pid;

	EQ(shm_info(fd).mappings, 2);
	EQ(shm_info(two).mappings, 2);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	WAIT_WHILE(shm_info(fd).mappings != 4);
	tap_kill(pid);
	EQ(shm_info(fd).mappings, 2);
	munmap(b, PAGE);
	EQ(shm_info(fd).mappings, 1);
	munmap(a, SHM_SIZE);
	EQ(shm_info(fd).mappings, 0);
	/* In pieces, and each protected otherwise. */
	a = map_at(fd, 3 * PAGE, 0);
	EQ(mprotect(a + PAGE, PAGE, PROT_READ), 0);
	munmap(a + PAGE, PAGE);
	munmap(a, PAGE);
	OK(shm_info(fd).mappings >= 1);
	a[2 * PAGE] = 1;
	munmap(a + 2 * PAGE, PAGE);
	EQ(shm_info(fd).mappings, 0);
}

CASE(mapping_outlives_descriptor)
{
	int one = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	uint32_t number = shm_info(one).peer;
	char *memory = map_at(one, PAGE, 0), *other = map_at(two, PAGE, 0);

	EQ(shm_watch(two, number), 0);
	close(one);
	strcpy(memory, "still there");
	EQ(strcmp(other, "still there"), 0);
	/* It is a peer as long as it is mapped. */
	OK(shm_info(two).peers >> number & 1);
	ring_by_write(two, number);
	EQ(polled(two, ALL_EVENTS), POLLOUT);
	munmap(memory, PAGE);
	OK(!(shm_info(two).peers >> number & 1));
	FAILS(shm_ring(two, number), ENXIO);
	EQ(polled(two, ALL_EVENTS), POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
	EQ(strcmp(other, "still there"), 0);
}

CASE(region_goes_with_the_last_peer)
{
	int one = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	char *memory = map_at(one, SHM_SIZE, 0);

	memset(memory, 0x77, SHM_SIZE);
	munmap(memory, SHM_SIZE);
	close(one);
	/* A peer still exists, although no process maps the region. */
	memory = map_at(two, SHM_SIZE, 0);
	EQ(memory[SHM_SIZE - 1], 0x77);
	munmap(memory, SHM_SIZE);
	close(two);
	two = shm_device_open(0, MODE_RDWR);
	EQ(all_zero(map_at(two, SHM_SIZE, 0), SHM_SIZE), 1);
}

static void fill_and_wait(void *argument)
{
	int fd = shm_device_open(0, O_RDWR);

	(void)argument;
	memset(map_at(fd, SHM_SIZE, 0), 0x55, SHM_SIZE);
	board[0] = 1;
	pause();
}

CASE(killed_peer_leaves_nothing)
{
	pid_t pid = tap_spawn(fill_and_wait, NULL);
	int fd;

	WAIT_WHILE(!board[0]);
	tap_kill(pid);
	fd = shm_device_open(0, MODE_RDWR);
	EQ(shm_info(fd).peers, 1ULL << shm_info(fd).peer);
	EQ(shm_info(fd).mappings, 0);
	EQ(all_zero(map_at(fd, SHM_SIZE, 0), SHM_SIZE), 1);
}

CASE(resize_takes_effect)
{
	int fd = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	char *memory = map_at(two, SHM_SIZE, 0);

	memset(memory, 1, SHM_SIZE);
	FAILS(shm_resize(fd, 2 * SHM_SIZE), EBUSY);
	FAILS(shm_resize(fd, SHM_SIZE), EBUSY);
	EQ(memory[0], 1);
	munmap(memory, SHM_SIZE);
	/* Rounded up to pages, and zeroed. */
	EQ(shm_resize(fd, 2 * SHM_SIZE - PAGE + 1), 0);
	EQ(shm_info(two).size, 2 * SHM_SIZE);
	memory = map_at(two, 2 * SHM_SIZE, 0);
	EQ(all_zero(memory, 2 * SHM_SIZE), 1);
	not_mapped(fd, 2 * SHM_SIZE + 1, PROT_READ, MAP_SHARED, 0, EINVAL);
	memset(memory, 2, 2 * SHM_SIZE);
	munmap(memory, 2 * SHM_SIZE);
	EQ(shm_resize(fd, 1), 0);
	EQ(shm_info(fd).size, PAGE);
	memory = map_at(two, PAGE, 0);
	EQ(all_zero(memory, PAGE), 1);
	not_mapped(fd, PAGE + 1, PROT_READ, MAP_SHARED, 0, EINVAL);
	memory[0] = 3;
	munmap(memory, PAGE);
	/* The same size again: zeroed too. */
	EQ(shm_resize(fd, PAGE), 0);
	memory = map_at(two, PAGE, 0);
	EQ(memory[0], 0);
}

CASE(resize_is_of_its_time)
{
	int fd = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);

	EQ(shm_resize(fd, 5 * PAGE), 0);
	close(fd);
	EQ(shm_info(two).size, 5 * PAGE);
	close(two);
	/* The last peer has gone, so the initial size is restored. */
	EQ(shm_info(shm_device_open(0, MODE_RDWR)).size, SHM_SIZE);
}

CASE(sizes_that_are_refused)
{
	int fd = shm_device_open(0, MODE_RDWR), two = shm_device_open(1, MODE_RDWR);

	FAILS(shm_resize(fd, 0), EINVAL);
	FAILS(shm_resize(fd, MEMORY_MAX), ENOSPC);
	FAILS(shm_resize(fd, 1ULL << 40), ENOSPC);
	FAILS(shm_resize(fd, ~0ULL), ENOSPC);
	FAILS(shm_resize(fd, ~0ULL - PAGE), ENOSPC);
	FAILS(shm_resize(fd, 1ULL << 63), ENOSPC);
	FAILS(ioctl(fd, FURLONG_SHM_RESIZE, null_pointer), EFAULT);
	FAILS(ioctl(fd, FURLONG_SHM_RESIZE, bad_pointer), EFAULT);
	EQ(shm_info(fd).size, SHM_SIZE);
	/* What one has, another cannot have. */
	EQ(shm_resize(fd, 30UL << 20), 0);
	FAILS(shm_resize(two, 34UL << 20), ENOSPC);
	EQ(shm_info(two).size, SHM_SIZE);
	FAILS(message_limits(message_open(0, O_RDWR), 34, 1 << 20), ENOSPC);
	close(fd);
	EQ(shm_resize(two, 34UL << 20), 0);
}

CASE(bells_add_up)
{
	int one = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	uint32_t number = shm_info(two).peer;
	int i;

	not_rung(two);
	ring_by_write(one, number);
	rung(two, 1);
	not_rung(two);
	for (i = 0; i < 1000; i++)
		ring_by_write(one, number);
	/* Rings by ioctl and by the peer itself have equal effects. */
	EQ(shm_ring(one, number), 0);
	EQ(shm_ring(two, number), 0);
	rung(two, 1002);
	not_rung(two);
	not_rung(one);
}

CASE(sizes_of_a_bell)
{
	int one = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	uint64_t numbers[2] = { shm_info(two).peer, 0 }, counts[2] = { 0, 0x5a5a };

	FAILS(write(one, numbers, 0), EINVAL);
	FAILS(write(one, numbers, 1), EINVAL);
	FAILS(write(one, numbers, 3), EINVAL);
	FAILS(write(one, numbers, 5), EINVAL);
	FAILS(write(one, numbers, 8), EINVAL);
	FAILS(write(one, numbers, 16), EINVAL);
	not_rung(two);
	ring_by_write(one, numbers[0]);
	FAILS(read(two, counts, 0), EINVAL);
	FAILS(read(two, counts, 4), EINVAL);
	FAILS(read(two, counts, 7), EINVAL);
	/* Failed reads forget nothing; room for more is not used. */
	EQ(read(two, counts, 16), 8);
	EQ(counts[0], 1);
	EQ(counts[1], 0x5a5a);
}

CASE(bells_in_pieces)
{
	int fd = shm_device_open(0, MODE_RDWR), waits = shm_device_open(0, O_RDWR);
	uint32_t numbers[2] = { shm_info(fd).peer, shm_info(fd).peer };
	uint64_t counts[2] = { 0, 0x5a5a };
	struct iovec rings[2] = { { &numbers[0], 4 }, { &numbers[1], 4 } };
	struct iovec into[2] = { { &counts[0], 8 }, { &counts[1], 8 } };

	/* Several buffers are as one: two numbers are eight bytes. */
	FAILS(writev(fd, rings, 2), EINVAL);
	not_rung(fd);
	rings[0].iov_len = 2;
	rings[1].iov_base = (char *)&numbers[0] + 2;
	rings[1].iov_len = 2;
	EQ(writev(fd, rings, 2), 4);
	EQ(readv(fd, into, 2), 8);
	EQ(counts[0], 1);
	EQ(counts[1], 0x5a5a);
	/* And one count is read, not two, also where reading waits. */
	numbers[0] = shm_info(waits).peer;
	ring_by_write(fd, numbers[0]);
	EQ(readv(waits, into, 2), 8);
	EQ(counts[1], 0x5a5a);
	FAILS(preadv2(waits, into, 1, -1, RWF_NOWAIT), EAGAIN);
}

CASE(bells_that_are_not_there)
{
	int fd = shm_device_open(0, MODE_RDWR), two;
	uint32_t mine = shm_info(fd).peer, number;

	for (number = 0; number < FURLONG_SHM_PEERS; number++) {
		if (number == mine)
			continue;
		FAILS(write(fd, &number, sizeof(number)), ENXIO);
		FAILS(shm_ring(fd, number), ENXIO);
	}
	for (number = FURLONG_SHM_PEERS; number; number <<= 1) {
		FAILS(write(fd, &number, sizeof(number)), EINVAL);
		FAILS(shm_ring(fd, number), EINVAL);
	}
	number = ~0U;
	FAILS(write(fd, &number, sizeof(number)), EINVAL);
	two = shm_device_open(0, MODE_RDWR);
	number = shm_info(two).peer;
	ring_by_write(fd, number);
	close(two);
	FAILS(write(fd, &number, sizeof(number)), ENXIO);
	FAILS(shm_ring(fd, number), ENXIO);
	/* The next peer with this number was not rung. */
	two = shm_device_open(0, MODE_RDWR);
	EQ(shm_info(two).peer, number);
	not_rung(two);
}

CASE(bells_and_bad_memory)
{
	int fd = shm_device_open(0, MODE_RDWR);
	uint32_t number = shm_info(fd).peer;

	FAILS(write(fd, bad_pointer, 4), EFAULT);
	FAILS(write(fd, before_hole(2), 4), EFAULT);
	FAILS(ioctl(fd, FURLONG_SHM_RING, bad_pointer), EFAULT);
	FAILS(ioctl(fd, FURLONG_SHM_RING, null_pointer), EFAULT);
	FAILS(ioctl(fd, FURLONG_SHM_WATCH, bad_pointer), EFAULT);
	FAILS(ioctl(fd, FURLONG_SHM_INFO, bad_pointer), EFAULT);
	FAILS(ioctl(fd, FURLONG_SHM_INFO, before_hole(8)), EFAULT);
	not_rung(fd);
	ring_by_write(fd, number);
	ring_by_write(fd, number);
	FAILS(read(fd, bad_pointer, 8), EFAULT);
	FAILS(read(fd, before_hole(4), 8), EFAULT);
	/* The number was not delivered, so it is kept. */
	EQ(polled(fd, POLLIN), POLLIN);
	rung(fd, 2);
}

CASE(bell_has_no_position)
{
	int fd = shm_device_open(0, MODE_RDWR);
	uint64_t count;

	FAILS(lseek(fd, 0, SEEK_SET), ESPIPE);
	FAILS(lseek(fd, 8, SEEK_CUR), ESPIPE);
	FAILS(pread(fd, &count, 8, 0), ESPIPE);
	FAILS(pwrite(fd, &count, 4, 0), ESPIPE);
}

CASE(bell_is_seen_by_all_ways)
{
	int one = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	uint32_t number = shm_info(two).peer;
	struct epoll_event event = { .events = EPOLLIN };
	struct timeval none = { 0, 0 };
	int level = epoll_create1(0), edge = epoll_create1(0);
	fd_set in, out;

	EQ(epoll_ctl(level, EPOLL_CTL_ADD, two, &event), 0);
	event.events = EPOLLIN | EPOLLET;
	EQ(epoll_ctl(edge, EPOLL_CTL_ADD, two, &event), 0);
	EQ(polled(two, ALL_EVENTS), POLLOUT);
	EQ(epoll_wait(level, &event, 1, 0), 0);
	EQ(epoll_wait(edge, &event, 1, 0), 0);
	ring_by_write(one, number);
	EQ(polled(two, ALL_EVENTS), POLLIN | POLLOUT);
	FD_ZERO(&in);
	FD_SET(two, &in);
	out = in;
	EQ(select(two + 1, &in, &out, NULL, &none), 2);
	EQ(epoll_wait(level, &event, 1, 0), 1);
	EQ(event.events, EPOLLIN);
	EQ(epoll_wait(level, &event, 1, 0), 1);
	EQ(epoll_wait(edge, &event, 1, 0), 1);
	EQ(epoll_wait(edge, &event, 1, 0), 0);
	ring_by_write(one, number);
	EQ(epoll_wait(edge, &event, 1, 0), 1);
	EQ(epoll_wait(edge, &event, 1, 0), 0);
	rung(two, 2);
	EQ(polled(two, ALL_EVENTS), POLLOUT);
	EQ(epoll_wait(level, &event, 1, 0), 0);
	FD_ZERO(&in);
	FD_SET(two, &in);
	EQ(select(two + 1, &in, NULL, NULL, &none), 0);
}

enum way { BY_READ, BY_POLL, BY_SELECT, BY_EPOLL, WAYS };

/*
 * Waits in this way until the descriptor is readable. Calls that report events
 * must report these.
 */
static void await_news(int fd, int epoll, enum way way, int events)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	struct epoll_event event;
	fd_set in;

	switch (way) {
	case BY_POLL:
		EQ(poll(&one, 1, -1), 1);
		EQ(one.revents, events);
		break;
	case BY_SELECT:
		FD_ZERO(&in);
		FD_SET(fd, &in);
		EQ(select(fd + 1, &in, NULL, NULL, NULL), 1);
		break;
	case BY_EPOLL:
		EQ(epoll_wait(epoll, &event, 1, -1), 1);
		/* The numbers of poll() and epoll are the same. */
		EQ(event.events, events);
		break;
	default:
		break;
	}
}

/* Waits until the bell was rung, and reads it. */
static uint64_t wait_bell(int fd, int epoll, enum way way)
{
	uint64_t count = 0;

	await_news(fd, epoll, way, POLLIN);
	EQ(read(fd, &count, sizeof(count)), sizeof(count));
	return count;
}

static int epoll_of(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0);

	EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
	return epoll;
}

static void wait_for_bell(void *argument)
{
	enum way way = (intptr_t)argument;
	int fd = shm_device_open(0, O_RDWR);

	board[way + 1] = shm_info(fd).peer;
	board[0]++;
	EQ(wait_bell(fd, epoll_of(fd), way), 1);
}

CASE(bell_wakes_who_waits)
{
	static const long calls[WAYS] = {
		SYS_read, SYS_poll, SYS_pselect6, SYS_epoll_wait
	};
	int fd = shm_device_open(0, O_RDWR), i;
	pid_t pids[WAYS];

	for (i = 0; i < WAYS; i++)
		pids[i] = tap_spawn(wait_for_bell, (void *)(intptr_t)i);
	WAIT_WHILE(board[0] < WAYS);
	for (i = 0; i < WAYS; i++)
		BLOCKED(pids[i], calls[i]);
	for (i = 0; i < WAYS; i++) {
		ring_by_write(fd, board[i + 1]);
		JOIN(pids[i]);
	}
}

static void on_signal(int signal)
{
	(void)signal;
	board[5]++;
}

static void bell_interrupted(void *argument)
{
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = (intptr_t)argument
	};
	int fd = shm_device_open(0, O_RDWR);
	uint64_t count;

	sigaction(SIGUSR1, &action, NULL);
	board[1] = shm_info(fd).peer;
	if (argument)
		rung(fd, 1);
	else
		FAILS(read(fd, &count, sizeof(count)), EINTR);
}

CASE(signals_and_bells)
{
	int fd = shm_device_open(0, O_RDWR);
	pid_t pid = tap_spawn(bell_interrupted, NULL);

	BLOCKED(pid, SYS_read);
	kill(pid, SIGUSR1);
	JOIN(pid);
	pid = tap_spawn(bell_interrupted, (void *)SA_RESTART);
	BLOCKED(pid, SYS_read);
	kill(pid, SIGUSR1);
	WAIT_WHILE(board[5] < 2);
	BLOCKED(pid, SYS_read);
	EQ(shm_ring(fd, board[1]), 0);
	JOIN(pid);
}

static void peer_that_waits(void *argument)
{
	int fd = shm_device_open(0, O_RDWR);

	if (argument)
		map_at(fd, PAGE, 0);
	board[1] = shm_info(fd).peer;
	board[0] = 1;
	pause();
}

static uint32_t start_peer(pid_t *pid, void *mapped)
{
	board[0] = 0;
	*pid = tap_spawn(peer_that_waits, mapped);
	WAIT_WHILE(!board[0]);
	return board[1];
}

CASE(death_is_seen)
{
	int fd = shm_device_open(0, MODE_RDWR), round;
	struct epoll_event event;
	uint64_t count;
	uint32_t number;
	pid_t pid;

	for (round = 0; round < 2; round++) {
		number = start_peer(&pid, round ? "mapped" : NULL);
		EQ(shm_watch(fd, number), 0);
		EQ(shm_info(fd).watched, 1ULL << number);
		EQ(shm_info(fd).gone, 0);
		EQ(polled(fd, ALL_EVENTS), POLLOUT);
		not_rung(fd);
		tap_kill(pid);
		EQ(polled(fd, ALL_EVENTS),
		   POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
		EQ(polled(fd, 0), POLLHUP);
		EQ(epoll_wait(epoll_of(fd), &event, 1, 0), 1);
		EQ(event.events, EPOLLIN | EPOLLHUP);
		/* The end of file stays. */
		EQ(read(fd, &count, sizeof(count)), 0);
		EQ(read(fd, &count, sizeof(count)), 0);
		EQ(shm_info(fd).gone, 1ULL << number);
		EQ(shm_info(fd).watched, 1ULL << number);
		EQ(shm_info(fd).peers >> number & 1, 0);
		FAILS(shm_watch(fd, number), ENXIO);
		close(fd);
		fd = shm_device_open(0, MODE_RDWR);
	}
	/* The next peer with this number inherits none of that. */
	EQ(shm_info(fd).gone, 0);
	EQ(polled(fd, ALL_EVENTS), POLLOUT);
}

CASE(death_comes_after_bells)
{
	int fd = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	uint64_t count;

	EQ(shm_watch(fd, shm_info(two).peer), 0);
	ring_by_write(two, shm_info(fd).peer);
	close(two);
	/* Earlier rings can still be read before the end of file. */
	rung(fd, 1);
	EQ(read(fd, &count, sizeof(count)), 0);
	ring_by_write(fd, shm_info(fd).peer);
	rung(fd, 1);
	EQ(read(fd, &count, sizeof(count)), 0);
}

static void wait_for_end(void *argument)
{
	enum way way = (intptr_t)argument;
	int fd = shm_device_open(0, O_RDWR);
	uint64_t count;

	EQ(shm_watch(fd, board[1]), 0);
	await_news(fd, way == BY_EPOLL ? epoll_of(fd) : -1, way, POLLIN | POLLHUP);
	EQ(read(fd, &count, sizeof(count)), 0);
}

CASE(death_wakes_who_waits)
{
	static const long calls[WAYS] = {
		SYS_read, SYS_poll, SYS_pselect6, SYS_epoll_wait
	};
	pid_t peer, pids[WAYS];
	int i;

	start_peer(&peer, NULL);
	for (i = 0; i < WAYS; i++)
		pids[i] = tap_spawn(wait_for_end, (void *)(intptr_t)i);
	for (i = 0; i < WAYS; i++)
		BLOCKED(pids[i], calls[i]);
	tap_kill(peer);
	for (i = 0; i < WAYS; i++)
		JOIN(pids[i]);
}

CASE(next_of_that_number_does_not_hide_it)
{
	int fd = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	uint32_t number = shm_info(two).peer;
	uint64_t count;

	EQ(shm_watch(fd, number), 0);
	close(two);
	two = shm_device_open(0, MODE_RDWR);
	EQ(shm_info(two).peer, number);
	EQ(shm_info(fd).gone, 1ULL << number);
	EQ(shm_info(fd).peers >> number & 1, 1);
	EQ(read(fd, &count, sizeof(count)), 0);
	EQ(polled(fd, POLLIN), POLLIN | POLLHUP);
	/* The new one is not watched, and is rung as any other. */
	ring_by_write(fd, number);
	rung(two, 1);
}

CASE(only_watched_peers_matter)
{
	int fd = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	int three = shm_device_open(0, MODE_RDWR);
	uint32_t mine = shm_info(fd).peer, number = shm_info(two).peer;

	FAILS(shm_watch(fd, mine), EINVAL);
	FAILS(shm_watch(fd, 64), EINVAL);
	FAILS(shm_watch(fd, ~0U), EINVAL);
	FAILS(shm_watch(fd, 63), ENXIO);
	EQ(shm_info(fd).watched, 0);
	EQ(shm_watch(fd, number), 0);
	EQ(shm_watch(fd, number), 0);
	EQ(shm_info(fd).watched, 1ULL << number);
	EQ(shm_info(three).watched, 0);
	close(three);
	EQ(polled(fd, ALL_EVENTS), POLLOUT);
	not_rung(fd);
	close(two);
	EQ(polled(fd, ALL_EVENTS), POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
}

static void hold_copy(void *argument)
{
	(void)argument;
	board[0] = 1;
	pause();
}

CASE(fork_keeps_the_peer)
{
	int fd = shm_device_open(0, MODE_RDWR), two = shm_device_open(0, MODE_RDWR);
	uint32_t number = shm_info(two).peer;
	pid_t pid;

	EQ(shm_watch(fd, number), 0);
	pid = tap_spawn(hold_copy, NULL);
	WAIT_WHILE(!board[0]);
	close(two);
	EQ(shm_info(fd).gone, 0);
	EQ(shm_ring(fd, number), 0);
	tap_kill(pid);
	EQ(shm_info(fd).gone, 1ULL << number);
}

/* Two processes exchange numbers: 20,000 bells, each with data in the region. */
#define ROUNDS	10000

struct table {
	volatile uint64_t words[2][8];
};

static void pass_to_and_fro(int fd, struct table *table, int me, uint32_t other)
{
	int epoll = epoll_of(fd);
	uint64_t i, j;

	for (i = 1; i <= ROUNDS; i++) {
		if (me == 0) {
			for (j = 0; j < 8; j++)
				table->words[0][j] = i * 8 + j;
			ring_by_write(fd, other);
		}
		EQ(wait_bell(fd, epoll, i % WAYS), 1);
		for (j = 0; j < 8; j++) {
			if (table->words[!me][j] != i * 8 + j)
				FAIL("round %llu: word %llu is old",
				     (unsigned long long)i, (unsigned long long)j);
		}
		if (me == 1) {
			for (j = 0; j < 8; j++)
				table->words[1][j] = i * 8 + j;
			EQ(shm_ring(fd, other), 0);
		}
	}
}

static void second_player(void *argument)
{
	int fd = shm_device_open(0, O_RDWR);
	struct table *table = map_at(fd, PAGE, 0);

	(void)argument;
	board[1] = shm_info(fd).peer;
	board[0] = 1;
	pass_to_and_fro(fd, table, 1, board[2]);
}

CASE_LONG(no_bell_is_lost, 180)
{
	int fd = shm_device_open(0, O_RDWR);
	struct table *table = map_at(fd, PAGE, 0);
	pid_t pid;

	board[2] = shm_info(fd).peer;
	pid = tap_spawn(second_player, NULL);
	WAIT_WHILE(!board[0]);
	pass_to_and_fro(fd, table, 0, board[1]);
	JOIN(pid);
}

static void ring_everybody(void *argument)
{
	int fd = shm_device_open(0, O_RDWR);
	uint32_t number;
	uint64_t sum = 0;

	(void)argument;
	board[0]++;
	WAIT_WHILE(board[0] < (int)FURLONG_SHM_PEERS);
	for (number = 0; number < FURLONG_SHM_PEERS; number++)
		ring_by_write(fd, number);
	while (sum < FURLONG_SHM_PEERS)
		sum += wait_bell(fd, -1, BY_READ);
	EQ(sum, FURLONG_SHM_PEERS);
	/* No peer leaves before all have been rung. */
	board[1]++;
	WAIT_WHILE(board[1] < (int)FURLONG_SHM_PEERS);
	EQ(polled(fd, POLLIN), 0);
}

CASE(all_ring_all)
{
	pid_t pids[FURLONG_SHM_PEERS];
	size_t i;

	for (i = 0; i < FURLONG_SHM_PEERS; i++)
		pids[i] = tap_spawn(ring_everybody, NULL);
	for (i = 0; i < FURLONG_SHM_PEERS; i++)
		JOIN(pids[i]);
}

static void come_and_go(void *argument)
{
	uint32_t number;
	int fd, i;

	for (i = 0; i < 150; i++) {
		fd = shm_device_open(0, MODE_RDWR);
		number = (intptr_t)argument + i;
		number %= 6;
		if (shm_ring(fd, number) && errno != ENXIO)
			FAIL("ring %u", number);
		if (number != shm_info(fd).peer && shm_watch(fd, number) &&
		    errno != ENXIO)
			FAIL("watch %u", number);
		if (i % 3 == 0) {
			char *memory = map_at(fd, 2 * PAGE, 0);

			memory[PAGE]++;
			munmap(memory, 2 * PAGE);
		}
		close(fd);
	}
}

CASE(peers_come_and_go)
{
	pid_t pids[5];
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(pids); i++)
		pids[i] = tap_spawn(come_and_go, (void *)i);
	for (i = 0; i < ARRAY_SIZE(pids); i++)
		JOIN(pids[i]);
	fd = shm_device_open(0, MODE_RDWR);
	EQ(shm_info(fd).peers, 1ULL << shm_info(fd).peer);
	EQ(shm_info(fd).mappings, 0);
}

CASE(unknown_ioctls)
{
	int fd = shm_device_open(0, MODE_RDWR);
	char memory[256] = { 0 };
	unsigned int number;

	for (number = 0; number < 256; number++) {
		if (number >= 0x10 && number <= 0x13)
			continue;
		FAILS(ioctl(fd, _IO(FURLONG_IOC_MAGIC, number), memory), ENOTTY);
		FAILS(ioctl(fd, _IOW(FURLONG_IOC_MAGIC, number, uint32_t),
			    memory), ENOTTY);
	}
	FAILS(ioctl(fd, FURLONG_MESSAGE_INFO, memory), ENOTTY);
	FAILS(ioctl(fd, FURLONG_MESSAGE_RESET), ENOTTY);
	FAILS(ioctl(fd, _IOR(FURLONG_IOC_MAGIC, 0x10, uint32_t), memory), ENOTTY);
	FAILS(ioctl(fd, 0x5401 /* TCGETS */, memory), ENOTTY);
}

/*
 * What else the kernel lets a program do with mapped pages. The pages are the
 * module's and no file's: none of this may upset the kernel, as its log shows.
 */
CASE(odd_uses_of_a_mapping)
{
	static const int advice[] = {
		MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
		MADV_DONTNEED, MADV_FREE, MADV_REMOVE, MADV_COLD, MADV_PAGEOUT,
		MADV_HUGEPAGE, MADV_MERGEABLE, MADV_POPULATE_READ,
		MADV_POPULATE_WRITE, MADV_DODUMP, MADV_DONTDUMP, MADV_DOFORK,
		MADV_DONTFORK,
	};
	int fd = shm_device_open(0, MODE_RDWR), memory_file, pipes[2];
	char *memory = map_at(fd, SHM_SIZE, 0), got[16];
	struct iovec local = { got, 6 }, remote = { memory, 6 };
	unsigned char resident[SHM_SIZE / PAGE];
	size_t i;

	strcpy(memory, "region");
	for (i = 0; i < ARRAY_SIZE(advice); i++)
		madvise(memory, SHM_SIZE, advice[i]);
	EQ(strcmp(memory, "region"), 0);
	EQ(mlock(memory, SHM_SIZE), 0);
	memory[PAGE] = 1;
	EQ(munlock(memory, SHM_SIZE), 0);
	EQ(mlock(memory, 16 * PAGE), 0);
	EQ(mincore(memory, SHM_SIZE, resident), 0);
	msync(memory, SHM_SIZE, MS_SYNC);
	EQ(process_vm_readv(getpid(), &local, 1, &remote, 1, 0), 6);
	EQ(memcmp(got, "region", 6), 0);
	memory_file = open("/proc/self/mem", O_RDWR);
	OK(memory_file >= 0);
	EQ(pwrite(memory_file, "REGION", 6, (uintptr_t)memory), 6);
	EQ(strcmp(memory, "REGION"), 0);
	/* A message written directly from the region, and pages held in a pipe. */
	EQ(write(message_open(0, O_RDWR), memory, SIZE), SIZE);
	EQ(pipe(pipes), 0);
	remote.iov_len = PAGE;
	vmsplice(pipes[1], &remote, 1, 0);
	EQ(mremap(memory, SHM_SIZE, SHM_SIZE, MREMAP_MAYMOVE) == memory, 1);
	OK(mmap(memory + 4 * PAGE, PAGE, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_FIXED | MAP_LOCKED | MAP_POPULATE, fd, 0) ==
	   memory + 4 * PAGE);
	EQ(strcmp(memory + 4 * PAGE, "REGION"), 0);
	EQ(munmap(memory, SHM_SIZE), 0);
	EQ(shm_info(fd).mappings, 0);
	close(fd);
	if (read(pipes[0], got, 6) == 6)
		EQ(memcmp(got, "REGION", 6), 0);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv, setup);
}
