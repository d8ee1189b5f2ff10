// SPDX-License-Identifier: GPL-2.0
/* The message device under traffic: nothing lost, doubled, torn or out of order. */
#define _GNU_SOURCE
#include "device.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEED		20080607ULL
#define HEAD		sizeof(struct parcel)

/* Number of writers and readers, and of messages per writer. */
#define CROWD		8
#define CROWD_MESSAGES	1000
/* Processes that are killed, and how many more take their place. */
#define KILLS		80
#define LIVES		(KILLS + 16)
#define LIFE_MESSAGES	4096
/* Sender number of a message that marks the end. */
#define NO_MORE		0xffffffffU

struct board {
	atomic_int go;
	atomic_uint taken;
	/* Number of arrivals of each message of each writer. */
	atomic_uchar seen[LIVES][LIFE_MESSAGES];
};

static struct board *board;
/* Per thread, because threads must not overwrite each other's message. */
static __thread char buffer[2 * SIZE] __attribute__((aligned(16)));

static void setup(void)
{
	devices_clean();
	board = shared_memory(sizeof(*board));
}

static uint32_t random_length(uint64_t *state, uint32_t most)
{
	return HEAD + random_next(state) % (most - HEAD + 1);
}

#define EACH_WAY	10000

/* Sends parcels whose lengths follow from a state, and waits for room. */
static void send_parcels(unsigned int channel, uint32_t sender, uint64_t state,
			 uint32_t count, uint32_t most)
{
	int fd = message_open(channel, O_WRONLY);
	uint32_t i, length;

	for (i = 0; i < count; i++) {
		length = random_length(&state, most);
		parcel_make(buffer, sender, i, length);
		EQ(write(fd, buffer, length), length);
	}
}

static void receive_parcels(unsigned int channel, uint32_t sender)
{
	uint64_t state = SEED + sender;
	int fd = message_open(channel, O_RDONLY);
	struct parcel *parcel = (struct parcel *)buffer;
	uint32_t i, length;

	for (i = 0; i < EACH_WAY; i++) {
		length = random_length(&state, SIZE);
		EQ(read(fd, buffer, sizeof(buffer)), length);
		EQ(parcel_check(buffer, length), 0);
		EQ(parcel->sender, sender);
		EQ(parcel->sequence, i);
	}
}

static void *send_second(void *unused)
{
	(void)unused;
	send_parcels(1, 2, SEED + 2, EACH_WAY, SIZE);
	return NULL;
}

static void second_process(void *unused)
{
	pthread_t thread;

	(void)unused;
	EQ(pthread_create(&thread, NULL, send_second, NULL), 0);
	receive_parcels(0, 1);
	EQ(pthread_join(thread, NULL), 0);
}

static void *send_first(void *unused)
{
	(void)unused;
	send_parcels(0, 1, SEED + 1, EACH_WAY, SIZE);
	return NULL;
}

CASE_LONG(two_processes_each_way, 180)
{
	pid_t pid = tap_spawn(second_process, NULL);
	pthread_t thread;

	EQ(pthread_create(&thread, NULL, send_first, NULL), 0);
	receive_parcels(1, 2);
	EQ(pthread_join(thread, NULL), 0);
	JOIN(pid);
	EQ(message_info(message_open(0, O_RDONLY)).queued, 0);
	EQ(message_info(message_open(1, O_RDONLY)).queued, 0);
}

static void answer(void *unused)
{
	int in = message_open(0, O_RDONLY), out = message_open(1, O_WRONLY);
	struct pollfd one = { .fd = in, .events = POLLIN };
	ssize_t length;
	int i;

	(void)unused;
	for (i = 0; i < 2000; i++) {
		EQ(poll(&one, 1, -1), 1);
		length = read(in, buffer, SIZE);
		EQ(parcel_check(buffer, length), 0);
		EQ(write(out, buffer, length), length);
	}
}

CASE(question_and_answer)
{
	int out = message_open(0, O_WRONLY), in = message_open(1, O_RDONLY);
	pid_t pid = tap_spawn(answer, NULL);
	uint64_t state = SEED;
	uint32_t i, length;

	for (i = 0; i < 2000; i++) {
		length = random_length(&state, 256);
		parcel_make(buffer, 7, i, length);
		EQ(write(out, buffer, length), length);
		memset(buffer, 0, length);
		EQ(read(in, buffer, SIZE), length);
		EQ(parcel_check(buffer, length), 0);
		EQ(((struct parcel *)buffer)->sequence, i);
	}
	JOIN(pid);
}

/* Records the arrival of a parcel, which must be whole, known and not a duplicate. */
static void take(const void *bytes, ssize_t length)
{
	const struct parcel *parcel = bytes;

	if (length < 0)
		FAIL("read");
	EQ(parcel_check(bytes, length), 0);
	OK(parcel->sender < LIVES && parcel->sequence < LIFE_MESSAGES);
	EQ(atomic_fetch_add(&board->seen[parcel->sender][parcel->sequence], 1), 0);
	atomic_fetch_add(&board->taken, 1);
}

static void crowd_writer(void *argument)
{
	uint32_t sender = (intptr_t)argument;

	send_parcels(0, sender, SEED * (sender + 1), CROWD_MESSAGES, 300);
}

static void crowd_reader(void *unused)
{
	struct parcel *parcel = (struct parcel *)buffer;
	int fd = message_open(0, O_RDONLY);
	int64_t last[CROWD];
	ssize_t length;

	(void)unused;
	memset(last, 0xff, sizeof(last));
	for (;;) {
		length = read(fd, buffer, SIZE);
		if (length == HEAD && parcel->sender == NO_MORE)
			return;
		take(buffer, length);
		/* A writer's messages come to a reader in their order. */
		OK(parcel->sequence > last[parcel->sender]);
		last[parcel->sender] = parcel->sequence;
	}
}

static void no_more(int readers)
{
	int fd = message_open(0, O_WRONLY);

	while (readers--) {
		parcel_make(buffer, NO_MORE, 0, HEAD);
		EQ(write(fd, buffer, HEAD), HEAD);
	}
}

static void crowd(int writers, int readers)
{
	pid_t pids[CROWD], reading[CROWD];
	int i, j;

	for (i = 0; i < readers; i++)
		reading[i] = tap_spawn(crowd_reader, NULL);
	for (i = 0; i < writers; i++)
		pids[i] = tap_spawn(crowd_writer, (void *)(intptr_t)i);
	for (i = 0; i < writers; i++)
		JOIN(pids[i]);
	no_more(readers);
	for (i = 0; i < readers; i++)
		JOIN(reading[i]);
	EQ(board->taken, writers * CROWD_MESSAGES);
	for (i = 0; i < writers; i++) {
		for (j = 0; j < CROWD_MESSAGES; j++)
			EQ(board->seen[i][j], 1);
	}
	EQ(message_info(message_open(0, O_RDONLY)).queued, 0);
}

CASE_LONG(eight_writers_and_eight_readers, 180)
{
	crowd(CROWD, CROWD);
}

CASE_LONG(eight_writers_and_one_reader, 180)
{
	crowd(CROWD, 1);
}

CASE(one_writer_and_eight_readers)
{
	crowd(1, CROWD);
}

CASE_LONG(queue_of_one, 180)
{
	/* Every message and every read causes a wake-up; no process may sleep for ever. */
	EQ(message_limits(message_open(0, O_RDWR), 1, 512), 0);
	crowd(4, 4);
}

/* As above with EAGAIN and poll(), where several wake for one message. */
static void polling_writer(void *argument)
{
	int fd = message_open(0, O_WRONLY | O_NONBLOCK);
	struct pollfd one = { .fd = fd, .events = POLLOUT };
	uint32_t sender = (intptr_t)argument, i;

	for (i = 0; i < CROWD_MESSAGES; i++) {
		parcel_make(buffer, sender, i, 64);
		while (write(fd, buffer, 64) != 64) {
			if (errno != EAGAIN)
				FAIL("write");
			EQ(poll(&one, 1, -1), 1);
		}
	}
}

static void polling_reader(void *unused)
{
	int fd = message_open(0, O_RDONLY | O_NONBLOCK);
	struct pollfd one = { .fd = fd, .events = POLLIN };
	struct parcel *parcel = (struct parcel *)buffer;
	ssize_t length;

	(void)unused;
	for (;;) {
		length = read(fd, buffer, SIZE);
		if (length < 0) {
			if (errno != EAGAIN)
				FAIL("read");
			EQ(poll(&one, 1, -1), 1);
			continue;
		}
		if (parcel->sender == NO_MORE)
			return;
		take(buffer, length);
	}
}

CASE_LONG(polling_crowd, 180)
{
	pid_t pids[4], reading[4];
	int i;

	EQ(message_limits(message_open(0, O_RDWR), 4, 512), 0);
	for (i = 0; i < 4; i++) {
		pids[i] = tap_spawn(polling_writer, (void *)(intptr_t)i);
		reading[i] = tap_spawn(polling_reader, NULL);
	}
	for (i = 0; i < 4; i++)
		JOIN(pids[i]);
	no_more(4);
	for (i = 0; i < 4; i++)
		JOIN(reading[i]);
	EQ(board->taken, 4 * CROWD_MESSAGES);
}

static void endless_writer(void *argument)
{
	uint32_t sender = (intptr_t)argument;

	send_parcels(0, sender, SEED * (sender + 1), LIFE_MESSAGES, 6000);
	pause();
}

static void endless_reader(void *unused)
{
	int fd = message_open(0, O_RDONLY);

	(void)unused;
	for (;;)
		take(buffer, read(fd, buffer, SIZE));
}

CASE_LONG(killed_in_traffic, 180)
{
	struct furlong_message_info info, before;
	int fd = message_open(0, O_RDWR | O_NONBLOCK), i, victim;
	uint64_t state = SEED;
	uint32_t lives = 0;
	pid_t pids[6];
	ssize_t length;

	before = message_info(fd);
	/* Four writers and two readers. */
	for (i = 0; i < 6; i++)
		pids[i] = i < 4 ? tap_spawn(endless_writer,
					    (void *)(intptr_t)lives++) :
			tap_spawn(endless_reader, NULL);
	for (i = 0; i < KILLS; i++) {
		tap_pause(random_next(&state) % 4000);
		victim = random_next(&state) % 6;
		/* If it has exited already, one of its checks failed. */
		EQ(waitpid(pids[victim], NULL, WNOHANG), 0);
		tap_kill(pids[victim]);
		pids[victim] = victim < 4 ? tap_spawn(endless_writer,
						      (void *)(intptr_t)lives++) :
			tap_spawn(endless_reader, NULL);
	}
	for (i = 0; i < 6; i++) {
		EQ(waitpid(pids[i], NULL, WNOHANG), 0);
		tap_kill(pids[i]);
	}
	info = message_info(fd);
	EQ(info.openers, 1);
	EQ(info.sent - info.received - info.discarded, info.queued);
	/* A killed reader may have taken one with it: none came twice or torn. */
	OK(board->taken <= info.received - before.received);
	OK(board->taken + 3 * KILLS >= info.received - before.received);
	while ((length = read(fd, buffer, SIZE)) >= 0)
		take(buffer, length);
	if (errno != EAGAIN)
		FAIL("read");
	tap_note("%u processes killed, %llu messages sent, %u seen", KILLS,
		 (unsigned long long)(info.sent - before.sent), board->taken);
	EQ(write(fd, "works", 5), 5);
	EQ(read(fd, buffer, SIZE), 5);
}

static atomic_uint piece_bytes, piece_sum;

static void *thread_writes(void *argument)
{
	uint32_t sender = (intptr_t)argument >> 16, i;
	int fd = (intptr_t)argument & 0xffff;
	char mine[64];

	for (i = 0; i < CROWD_MESSAGES; i++) {
		parcel_make(mine, sender, i, sizeof(mine));
		EQ(write(fd, mine, sizeof(mine)), sizeof(mine));
	}
	return NULL;
}

static void *thread_takes(void *argument)
{
	int fd = (intptr_t)argument;
	char mine[64];
	int i;

	for (i = 0; i < CROWD_MESSAGES; i++)
		take(mine, read(fd, mine, sizeof(mine)));
	return NULL;
}

CASE(threads_on_one_descriptor)
{
	int fd = message_open(0, O_RDWR);
	pthread_t threads[4];
	intptr_t i;

	for (i = 0; i < 2; i++) {
		EQ(pthread_create(&threads[i], NULL, thread_writes,
				  (void *)(i << 16 | fd)), 0);
		EQ(pthread_create(&threads[2 + i], NULL, thread_takes,
				  (void *)(intptr_t)fd), 0);
	}
	for (i = 0; i < 4; i++)
		EQ(pthread_join(threads[i], NULL), 0);
	EQ(board->taken, 2 * CROWD_MESSAGES);
}

static void *thread_takes_pieces(void *argument)
{
	int fd = (intptr_t)argument;
	unsigned char mine[7];
	ssize_t length, i;

	for (;;) {
		length = read(fd, mine, sizeof(mine));
		if (length < 0)
			FAIL("read");
		if (length == 1)
			return NULL;
		for (i = 0; i < length; i++)
			atomic_fetch_add(&piece_sum, mine[i]);
		atomic_fetch_add(&piece_bytes, length);
	}
}

CASE(pieces_for_several_threads)
{
	int fd = message_open(0, O_RDWR), i, j;
	unsigned int sum = 0;
	pthread_t threads[3];
	unsigned char mine[20];

	/* Several threads receive 20 bytes in pieces of 7, 7 and 6; one byte ends a thread. */
	for (i = 0; i < 3; i++)
		EQ(pthread_create(&threads[i], NULL, thread_takes_pieces,
				  (void *)(intptr_t)fd), 0);
	for (i = 0; i < 2000; i++) {
		for (j = 0; j < (int)sizeof(mine); j++) {
			mine[j] = i * 7 + j * 13;
			sum += mine[j];
		}
		EQ(write(fd, mine, sizeof(mine)), sizeof(mine));
	}
	for (i = 0; i < 3; i++)
		EQ(write(fd, "", 1), 1);
	for (i = 0; i < 3; i++)
		EQ(pthread_join(threads[i], NULL), 0);
	EQ(piece_bytes, 2000 * sizeof(mine));
	EQ(piece_sum, sum);
}

/* A page whose first access blocks until userfaultfd provides its content. */
static int stalling_page(char **page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api))
		tap_skip("no userfaultfd: %s", strerror(errno));
	*page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OK(*page != MAP_FAILED);
	area.range.start = (uintptr_t)*page;
	area.range.len = 4096;
	EQ(ioctl(uffd, UFFDIO_REGISTER, &area), 0);
	return uffd;
}

static void wait_for_fault(int uffd)
{
	struct uffd_msg message;

	EQ(read(uffd, &message, sizeof(message)), sizeof(message));
	EQ(message.event, UFFD_EVENT_PAGEFAULT);
}

static void fill_page(int uffd, char *page, const char *text)
{
	static char source[4096] __attribute__((aligned(4096)));
	struct uffdio_copy copy = {
		.dst = (uintptr_t)page, .src = (uintptr_t)source, .len = 4096,
	};

	strcpy(source, text);
	EQ(ioctl(uffd, UFFDIO_COPY, &copy), 0);
}

struct stalled {
	int fd;
	char *page;
	int writes;
	ssize_t result;
};

static void *stalled_call(void *argument)
{
	struct stalled *stalled = argument;

	stalled->result = stalled->writes ?
		write(stalled->fd, stalled->page, 7) :
		read(stalled->fd, stalled->page, 7);
	return NULL;
}

/* Other processes continue while one process blocks in its copy. */
static void others_go_on(void *unused)
{
	int fd = message_open(0, O_RDWR | O_NONBLOCK);
	int i;

	(void)unused;
	for (i = 0; i < 3 * DEPTH; i++) {
		EQ(polled(fd, POLLOUT), POLLOUT);
		EQ(write(fd, "others", 6), 6);
		EQ(polled(fd, POLLIN), POLLIN);
		EQ(read(fd, buffer, SIZE), 6);
		EQ(memcmp(buffer, "others", 6), 0);
	}
	EQ(message_flags(fd, 0), 0);
	EQ(message_limits(fd, 2, 100), 0);
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	EQ(message_limits(fd, DEPTH, SIZE), 0);
	EQ(message_info(fd).queued, 0);
}

CASE(stalled_writer_blocks_nobody)
{
	struct stalled stalled = { .writes = 1 };
	pthread_t thread;
	int uffd;

	uffd = stalling_page(&stalled.page);
	stalled.fd = message_open(0, O_RDWR);
	EQ(pthread_create(&thread, NULL, stalled_call, &stalled), 0);
	wait_for_fault(uffd);
	JOIN(tap_spawn(others_go_on, NULL));
	/* On the same descriptor, too. */
	EQ(polled(stalled.fd, POLLIN | POLLOUT), POLLOUT);
	EQ(message_info(stalled.fd).queued, 0);
	EQ(write(stalled.fd, "sooner", 6), 6);
	fill_page(uffd, stalled.page, "stalled");
	EQ(pthread_join(thread, NULL), 0);
	EQ(stalled.result, 7);
	EQ(read(stalled.fd, buffer, SIZE), 6);
	EQ(read(stalled.fd, buffer, SIZE), 7);
	EQ(memcmp(buffer, "stalled", 7), 0);
}

CASE(stalled_writer_and_limits)
{
	struct stalled stalled = { .writes = 1 };
	struct furlong_message_info info;
	pthread_t thread;
	int uffd;

	uffd = stalling_page(&stalled.page);
	stalled.fd = message_open(0, O_RDWR);
	EQ(pthread_create(&thread, NULL, stalled_call, &stalled), 0);
	wait_for_fault(uffd);
	/* While it copies, its message becomes too long. */
	EQ(message_limits(stalled.fd, DEPTH, 6), 0);
	fill_page(uffd, stalled.page, "stalled");
	EQ(pthread_join(thread, NULL), 0);
	info = message_info(stalled.fd);
	EQ(stalled.result, -1);
	EQ(info.queued_bytes, 0);
}

CASE(stalled_reader_blocks_nobody)
{
	struct stalled stalled = { .writes = 0 };
	pthread_t thread;
	int uffd, other = message_open(0, O_RDWR | O_NONBLOCK);

	uffd = stalling_page(&stalled.page);
	stalled.fd = message_open(0, O_RDONLY);
	EQ(write(other, "stalled", 7), 7);
	EQ(pthread_create(&thread, NULL, stalled_call, &stalled), 0);
	wait_for_fault(uffd);
	JOIN(tap_spawn(others_go_on, NULL));
	EQ(message_info(stalled.fd).openers, 2);
	fill_page(uffd, stalled.page, "-");
	EQ(pthread_join(thread, NULL), 0);
	EQ(stalled.result, 7);
	EQ(memcmp(stalled.page, "stalled", 7), 0);
	FAILS(read(other, buffer, SIZE), EAGAIN);
}

static void stalled_process(void *argument)
{
	struct stalled stalled = { .writes = !!argument };
	pthread_t thread;
	int uffd;

	uffd = stalling_page(&stalled.page);
	stalled.fd = message_open(0, O_RDWR);
	EQ(pthread_create(&thread, NULL, stalled_call, &stalled), 0);
	wait_for_fault(uffd);
	board->go = 1;
	pause();
}

CASE(killed_while_stalled)
{
	int fd = message_open(0, O_RDWR | O_NONBLOCK);
	char *page;
	pid_t pid;

	close(stalling_page(&page));
	/* A writer that is killed in its copy sends nothing. */
	pid = tap_spawn(stalled_process, "writes");
	WAIT_WHILE(!board->go);
	tap_kill(pid);
	EQ(message_info(fd).queued, 0);
	EQ(message_info(fd).openers, 1);
	/* A reader that is killed in its copy has received nothing. */
	board->go = 0;
	EQ(write(fd, "message", 7), 7);
	pid = tap_spawn(stalled_process, NULL);
	WAIT_WHILE(!board->go);
	tap_kill(pid);
	EQ(message_info(fd).openers, 1);
	EQ(read(fd, buffer, SIZE), 7);
	EQ(memcmp(buffer, "message", 7), 0);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv, setup);
}
