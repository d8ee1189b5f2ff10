// SPDX-License-Identifier: GPL-2.0
/* Permissions: modes, 32-bit programs, memory cgroups, and invalid memory. */
#define _GNU_SOURCE
#include "device.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY		65534
#define SOME_GROUP	4711
#define MESSAGE		"/dev/furlong-message0"
#define SHM		"/dev/furlong-shm0"

static const char *const nodes[] = { MESSAGE, SHM };

static void setup(void)
{
	size_t i;

	devices_clean();
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		EQ(chown(nodes[i], 0, 0), 0);
		EQ(chmod(nodes[i], 0660), 0);
	}
}

static void become(gid_t group)
{
	EQ(setgroups(0, NULL), 0);
	EQ(setgid(group), 0);
	EQ(setuid(NOBODY), 0);
}

CASE(usual_owner_and_mode)
{
	struct stat stat_;
	char path[64];
	unsigned int i;

	for (i = 0; i < 2 * CHANNELS; i++) {
		snprintf(path, sizeof(path), "/dev/furlong-%s%u",
			 i % 2 ? "shm" : "message", i / 2);
		EQ(stat(path, &stat_), 0);
		EQ(stat_.st_mode, S_IFCHR | 0660);
		EQ(stat_.st_uid, 0);
		EQ(stat_.st_gid, 0);
	}
}

CASE(nobody_is_refused)
{
	size_t i;

	become(NOBODY);
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		FAILS(open(nodes[i], O_RDONLY), EACCES);
		FAILS(open(nodes[i], O_WRONLY), EACCES);
		FAILS(open(nodes[i], O_RDWR), EACCES);
	}
}

CASE(a_group_has_access)
{
	char byte = 'g';
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(nodes); i++)
		EQ(chown(nodes[i], 0, SOME_GROUP), 0);
	become(SOME_GROUP);
	fd = message_open(0, O_RDWR);
	EQ(write(fd, &byte, 1), 1);
	EQ(read(fd, &byte, 1), 1);
	fd = shm_device_open(0, O_RDWR);
	OK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
	   MAP_FAILED);
	FAILS(open("/dev/furlong-message1", O_RDWR), EACCES);
}

CASE(others_as_the_mode_says)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nodes); i++)
		EQ(chmod(nodes[i], 0664), 0);
	become(NOBODY);
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		OK(open(nodes[i], O_RDONLY) >= 0);
		FAILS(open(nodes[i], O_WRONLY), EACCES);
		FAILS(open(nodes[i], O_RDWR), EACCES);
	}
}

CASE(a_descriptor_is_enough)
{
	int fd = message_open(0, O_RDWR), bell = shm_device_open(0, O_RDWR);
	char byte = 'd';

	/* It is the opening that is checked. */
	become(NOBODY);
	EQ(write(fd, &byte, 1), 1);
	EQ(read(fd, &byte, 1), 1);
	EQ(message_limits(fd, 10, 10), 0);
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	EQ(shm_ring(bell, shm_info(bell).peer), 0);
}

/* Succeeds if it may, and is EBADF if it may not. */
#define MAY(may, call)							\
	do {								\
		if (may)						\
			OK((call) >= 0);				\
		else							\
			FAILS(call, EBADF);				\
	} while (0)

CASE(calls_by_open_mode)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	int fd, filler, reads, writes;
	uint32_t peer;
	uint64_t count;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		reads = modes[i] != O_WRONLY;
		writes = modes[i] != O_RDONLY;
		filler = message_open(0, O_WRONLY);
		EQ(write(filler, "fill", 4), 4);
		fd = message_open(0, modes[i]);
		MAY(1, ioctl(fd, FURLONG_MESSAGE_INFO, &(char[256]){ 0 }));
		MAY(1, message_flags(fd, FURLONG_MESSAGE_STRICT));
		MAY(1, message_flags(fd, 0));
		MAY(writes, write(fd, "mode", 4));
		MAY(reads, read(fd, &count, 4));
		MAY(writes, message_limits(fd, DEPTH, SIZE));
		MAY(reads && writes, ioctl(fd, FURLONG_MESSAGE_RESET));
		EQ(polled(fd, POLLOUT), writes ? POLLOUT : 0);
		EQ(write(filler, "fill", 4), 4);
		EQ(polled(fd, POLLIN), reads ? POLLIN : 0);

		filler = shm_device_open(0, O_RDWR);
		fd = shm_device_open(0, modes[i]);
		peer = shm_info(fd).peer;
		EQ(shm_ring(filler, peer), 0);
		MAY(1, shm_watch(fd, shm_info(filler).peer));
		MAY(writes, write(fd, &peer, sizeof(peer)));
		MAY(writes, shm_ring(fd, peer));
		MAY(reads, read(fd, &count, sizeof(count)));
		MAY(writes, shm_resize(fd, 4096));
	}
}

CASE(counters_for_everybody)
{
	static const char *const files[] = {
		"furlong-message0/queued", "furlong-message0/depth",
		"furlong-message0/size", "furlong-message0/sent",
		"furlong-message0/received", "furlong-message0/discarded",
		"furlong-message0/openers", "furlong-shm0/size",
		"furlong-shm0/peers", "furlong-shm0/mappings",
	};
	char path[100], text[64];
	struct stat stat_;
	ssize_t length;
	size_t i;
	int fd;

	become(NOBODY);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "/sys/class/misc/%s", files[i]);
		EQ(stat(path, &stat_), 0);
		EQ(stat_.st_mode & 07777, 0444);
		fd = open(path, O_RDONLY);
		OK(fd >= 0);
		length = read(fd, text, sizeof(text));
		OK(length >= 2 && text[length - 1] == '\n');
		EQ(strspn(text, "0123456789"), (size_t)length - 1);
		FAILS(open(path, O_WRONLY), EACCES);
	}
}

CASE(counters_are_exact)
{
	static const struct {
		const char *file;
		long long value;
	} wanted[] = {
		{ "furlong-message0/queued", 2 }, { "furlong-message0/depth", 7 },
		{ "furlong-message0/size", 99 }, { "furlong-message0/openers", 2 },
		{ "furlong-shm0/size", 12288 }, { "furlong-shm0/peers", 2 },
		{ "furlong-shm0/mappings", 1 },
	};
	int fd = message_open(0, O_RDWR), bell = shm_device_open(0, O_RDWR);
	char path[100];
	long long got;
	size_t i;
	FILE *file;

	message_open(0, O_RDONLY);
	EQ(message_limits(fd, 7, 99), 0);
	EQ(write(fd, "one", 3), 3);
	EQ(write(fd, "two", 3), 3);
	shm_device_open(0, O_RDONLY);
	EQ(shm_resize(bell, 12288), 0);
	OK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, bell, 0) != MAP_FAILED);
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		snprintf(path, sizeof(path), "/sys/class/misc/%s", wanted[i].file);
		file = fopen(path, "r");
		OK(file);
		got = -1;
		EQ(fscanf(file, "%lld", &got), 1);
		fclose(file);
		if (got != wanted[i].value)
			FAIL("%s is %lld, not %lld", wanted[i].file, got,
			     wanted[i].value);
	}
}

CASE(info_writes_its_own_bytes_only)
{
	unsigned char bytes[256];
	size_t i;

	memset(bytes, 0xa5, sizeof(bytes));
	EQ(ioctl(message_open(0, O_RDWR), FURLONG_MESSAGE_INFO, bytes), 0);
	for (i = sizeof(struct furlong_message_info); i < sizeof(bytes); i++)
		EQ(bytes[i], 0xa5);
	EQ(((struct furlong_message_info *)bytes)->reserved, 0);
	memset(bytes, 0xa5, sizeof(bytes));
	EQ(ioctl(shm_device_open(0, O_RDWR), FURLONG_SHM_INFO, bytes), 0);
	for (i = sizeof(struct furlong_shm_info); i < sizeof(bytes); i++)
		EQ(bytes[i], 0xa5);
}

CASE(old_bytes_are_not_seen)
{
	int fd = message_open(0, O_RDWR | O_NONBLOCK);
	char secret[4096], got[4096];
	size_t i, length;

	memset(secret, 'S', sizeof(secret));
	for (length = 1; length < 4096; length = length * 3 + 1) {
		/* Memory that held a secret is used for something shorter. */
		EQ(write(fd, secret, sizeof(secret)), sizeof(secret));
		EQ(read(fd, got, sizeof(got)), sizeof(got));
		memset(got, 0, sizeof(got));
		EQ(write(fd, "x", 1), 1);
		EQ(read(fd, got, sizeof(got)), 1);
		for (i = 1; i < sizeof(got); i++)
			EQ(got[i], 0);
		/* Or for something that came only in part. */
		EQ(write(fd, secret, sizeof(secret)), sizeof(secret));
		EQ(read(fd, got, sizeof(got)), sizeof(got));
		memset(got, 0, sizeof(got));
		FAILS(write(fd, before_hole(length), 4096), EFAULT);
		FAILS(read(fd, got, sizeof(got)), EAGAIN);
		EQ(got[0], 0);
	}
}

/* A system call as a 32-bit program makes it: numbers and pointers of 32 bits. */
static long call32(long number, long a, long b, long c)
{
	int result;

	asm volatile("int $0x80"
		     : "=a" (result)
		     : "a" (number), "b" (a), "c" (b), "d" (c)
		     : "memory", "r8", "r9", "r10", "r11");
	if (result < 0 && result > -4096) {
		errno = -result;
		return -1;
	}
	return result;
}

#define READ32(fd, at, length)	call32(3, fd, (long)(at), length)
#define WRITE32(fd, at, length)	call32(4, fd, (long)(at), length)
#define IOCTL32(fd, number, at)	call32(54, fd, number, (long)(at))
#define GETPID32		20

/* Memory that a 32-bit pointer can name. */
static void *low_memory(void)
{
	void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	pid_t pid = fork();
	int status;

	OK(memory != MAP_FAILED);
	if (!pid)
		_exit(call32(GETPID32, 0, 0, 0) != getpid());
	waitpid(pid, &status, 0);
	if (status)
		tap_skip("this kernel runs no 32-bit programs");
	return memory;
}

CASE(message_calls_of_32_bits)
{
	struct furlong_message_info *info = low_memory();
	struct furlong_message_limits *limits = (void *)info;
	uint32_t *flags = (void *)info;
	char *text = (void *)info;
	int fd = message_open(0, O_RDWR | O_NONBLOCK);

	EQ(IOCTL32(fd, FURLONG_MESSAGE_INFO, info), 0);
	EQ(info->abi, FURLONG_ABI);
	EQ(info->depth, DEPTH);
	EQ(info->size, SIZE);
	EQ(info->openers, 1);
	memset(limits, 0, sizeof(*limits));
	limits->depth = 3;
	limits->size = 50;
	EQ(IOCTL32(fd, FURLONG_MESSAGE_LIMITS, limits), 0);
	EQ(message_info(fd).depth, 3);
	EQ(message_info(fd).size, 50);
	limits->reserved[1] = 1;
	FAILS(IOCTL32(fd, FURLONG_MESSAGE_LIMITS, limits), EINVAL);
	*flags = FURLONG_MESSAGE_STRICT;
	EQ(IOCTL32(fd, FURLONG_MESSAGE_FLAGS, flags), 0);
	EQ(message_info(fd).flags, FURLONG_MESSAGE_STRICT);
	*flags = 8;
	FAILS(IOCTL32(fd, FURLONG_MESSAGE_FLAGS, flags), EINVAL);
	FAILS(IOCTL32(fd, FURLONG_MESSAGE_INFO, 8), EFAULT);
	FAILS(IOCTL32(fd, FURLONG_SHM_INFO, info), ENOTTY);
	strcpy(text, "compat");
	EQ(WRITE32(fd, text, 6), 6);
	EQ(IOCTL32(fd, FURLONG_MESSAGE_INFO, info), 0);
	EQ(info->queued, 1);
	EQ(info->queued_bytes, 6);
	EQ(READ32(fd, text, 100), 6);
	EQ(memcmp(text, "compat", 6), 0);
	EQ(WRITE32(fd, text, 6), 6);
	EQ(IOCTL32(fd, FURLONG_MESSAGE_RESET, 0), 0);
	FAILS(READ32(fd, text, 100), EAGAIN);
}

CASE(shm_calls_of_32_bits)
{
	struct furlong_shm_info *info = low_memory();
	int fd = shm_device_open(0, O_RDWR | O_NONBLOCK);
	int two = shm_device_open(0, O_RDWR);
	uint32_t peer = shm_info(two).peer, *number = (void *)info;
	uint64_t *wide = (void *)info;

	EQ(IOCTL32(fd, FURLONG_SHM_INFO, info), 0);
	EQ(info->abi, FURLONG_ABI);
	EQ(info->size, SHM_SIZE);
	EQ(info->peers, shm_info(two).peers);
	*wide = 5 * 4096;
	EQ(IOCTL32(fd, FURLONG_SHM_RESIZE, wide), 0);
	EQ(shm_info(fd).size, 5 * 4096);
	*number = shm_info(fd).peer;
	EQ(IOCTL32(fd, FURLONG_SHM_RING, number), 0);
	EQ(WRITE32(fd, number, 4), 4);
	EQ(READ32(fd, wide, 8), 8);
	EQ(*wide, 2);
	*number = peer;
	EQ(IOCTL32(fd, FURLONG_SHM_WATCH, number), 0);
	EQ(shm_info(fd).watched, 1ULL << peer);
	FAILS(IOCTL32(fd, FURLONG_SHM_WATCH, 8), EFAULT);
	FAILS(IOCTL32(fd, FURLONG_MESSAGE_INFO, info), ENOTTY);
}

#define GROUPS	"/tmp/furlong-cgroup"
#define GROUP	GROUPS "/furlong-test"

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), result;

	if (fd < 0)
		return -1;
	result = write(fd, text, strlen(text)) < 0 ? -1 : 0;
	close(fd);
	return result;
}

static long long get(const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY);

	OK(fd >= 0);
	OK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atoll(text);
}

/* Creates a memory cgroup with this limit in bytes. Without cgroups, the case is skipped. */
static void make_group(const char *most)
{
	mkdir("/tmp", 0755);
	mkdir(GROUPS, 0755);
	if (access(GROUPS "/cgroup.procs", F_OK) &&
	    mount("cgroup2", GROUPS, "cgroup2", 0, NULL))
		tap_skip("no cgroup2: %s", strerror(errno));
	rmdir(GROUP);
	if (put(GROUPS "/cgroup.subtree_control", "+memory") ||
	    (mkdir(GROUP, 0755) && errno != EEXIST) ||
	    put(GROUP "/memory.max", most))
		tap_skip("no memory cgroup: %s", strerror(errno));
}

static void join_group(void)
{
	EQ(put(GROUP "/cgroup.procs", "0"), 0);
}

#define MIB	(1 << 20)

/* Joins the group and sends until an error, which it returns. */
static int fill_in_group(void)
{
	static char block[65536];
	int fd = message_open(0, O_WRONLY | O_NONBLOCK);

	memset(block, 1, sizeof(block));
	join_group();
	while (write(fd, block, sizeof(block)) > 0)
		;
	return errno;
}

static void fill_until_full(void *unused)
{
	(void)unused;
	errno = fill_in_group();
	if (errno != EAGAIN)
		FAIL("write");
}

CASE(messages_are_charged)
{
	int fd = message_open(0, O_RDWR);
	long long before, full, after;

	make_group("max");
	EQ(message_limits(fd, 128, 65536), 0);
	before = get(GROUP "/memory.current");
	JOIN(tap_spawn(fill_until_full, NULL));
	EQ(message_info(fd).queued, 128);
	full = get(GROUP "/memory.current");
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	after = get(GROUP "/memory.current");
	tap_note("8 MiB of messages: %lld KiB before, %lld full, %lld after",
		 before >> 10, full >> 10, after >> 10);
	/* Charges are kept in batches for each processor: not to the byte. */
	OK(full - before >= 7 * MIB && full - before < 10 * MIB);
	OK(full - after >= 7 * MIB);
	rmdir(GROUP);
}

static void fill_beyond_group(void *unused)
{
	(void)unused;
	/* Refused, unless killed for it before. */
	_exit(fill_in_group() == ENOMEM ? 0 : 1);
}

CASE(group_bounds_messages)
{
	int fd = message_open(0, O_RDWR), status;
	pid_t pid;

	make_group("8388608");
	EQ(message_limits(fd, 512, 65536), 0);
	pid = tap_spawn(fill_beyond_group, NULL);
	EQ(waitpid(pid, &status, 0), pid);
	tap_note("%u messages of 64 KiB in a group of 8 MiB, then %s",
		 message_info(fd).queued,
		 WIFSIGNALED(status) ? "killed" : "ENOMEM");
	OK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : status == 0);
	OK(message_info(fd).queued <= 128);
	/* Those outside the group go on. */
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	EQ(write(fd, "works", 5), 5);
	rmdir(GROUP);
}

static void map_in_group(void *unused)
{
	int fd = shm_device_open(0, O_RDWR);
	void *memory;
	long long before, mapped;

	(void)unused;
	join_group();
	before = get(GROUP "/memory.current");
	memory = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	OK(memory != MAP_FAILED);
	memset(memory, 1, 16 * MIB);
	mapped = get(GROUP "/memory.current");
	tap_note("a region of 16 MiB: %lld KiB before, %lld mapped",
		 before >> 10, mapped >> 10);
	OK(mapped - before >= 15 * MIB && mapped - before < 19 * MIB);
}

CASE(region_is_charged)
{
	int fd = shm_device_open(0, O_RDWR);

	make_group("max");
	EQ(shm_resize(fd, 16 * MIB), 0);
	JOIN(tap_spawn(map_in_group, NULL));
	rmdir(GROUP);
}

static void map_beyond_group(void *unused)
{
	int fd = shm_device_open(0, O_RDWR);

	(void)unused;
	join_group();
	if (mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
	    MAP_FAILED)
		_exit(1);
	_exit(errno == ENOMEM ? 0 : 2);
}

CASE(group_bounds_the_region)
{
	int fd = shm_device_open(0, O_RDWR), status;
	pid_t pid;

	make_group("8388608");
	EQ(shm_resize(fd, 32 * MIB), 0);
	pid = tap_spawn(map_beyond_group, NULL);
	EQ(waitpid(pid, &status, 0), pid);
	OK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : status == 0);
	EQ(shm_info(fd).mappings, 0);
	/* A process outside the limited cgroup can still map it. */
	OK(mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
	rmdir(GROUP);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv, setup);
}
