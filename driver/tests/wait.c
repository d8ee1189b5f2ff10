// SPDX-License-Identifier: GPL-2.0
/*
 * The message device: waiting. Readiness, blocked readers and writers, signals,
 * and descriptors that several processes or threads share.
 */
#define _GNU_SOURCE
#include "device.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
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

/* What the processes of a case tell each other. */
struct board {
	atomic_int handled;
	atomic_int counts[64];
};

static struct board *board;
static char buffer[FURLONG_MESSAGE_SIZE_MAX];

static void setup(void)
{
	devices_clean();
	board = shared_memory(sizeof(*board));
}

CASE(poll_states)
{
	int fd = message_open(0, MODE_RDWR);

	EQ(polled(fd, POLLIN | POLLOUT | POLLPRI), POLLOUT);
	EQ(write(fd, "a", 1), 1);
	EQ(polled(fd, POLLIN | POLLOUT | POLLPRI), POLLIN | POLLOUT);
	message_fill(0);
	EQ(polled(fd, POLLIN | POLLOUT), POLLIN);
	EQ(read(fd, buffer, 1), 1);
	EQ(polled(fd, POLLIN | POLLOUT), POLLIN | POLLOUT);
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	EQ(polled(fd, POLLIN | POLLOUT), POLLOUT);
	/* Without asking for anything there is nothing, not even a hang-up. */
	EQ(polled(fd, 0), 0);
}

static int selected(int fd, int *can_read, int *can_write)
{
	struct timeval none = { 0, 0 };
	fd_set in, out;
	int count;

	FD_ZERO(&in);
	FD_SET(fd, &in);
	out = in;
	count = select(fd + 1, &in, &out, NULL, &none);
	*can_read = !!FD_ISSET(fd, &in);
	*can_write = !!FD_ISSET(fd, &out);
	return count;
}

CASE(select_states)
{
	int fd = message_open(0, MODE_RDWR), in, out;

	EQ(selected(fd, &in, &out), 1);
	EQ(in * 10 + out, 1);
	EQ(write(fd, "a", 1), 1);
	EQ(selected(fd, &in, &out), 2);
	EQ(in * 10 + out, 11);
	message_fill(0);
	EQ(selected(fd, &in, &out), 1);
	EQ(in * 10 + out, 10);
}

static int epoll_with(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	OK(epoll >= 0);
	EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
	return epoll;
}

static uint32_t epolled(int epoll)
{
	struct epoll_event event = { .events = 0 };

	OK(epoll_wait(epoll, &event, 1, 0) >= 0);
	return event.events;
}

CASE(epoll_level)
{
	int fd = message_open(0, MODE_RDWR);
	int in = epoll_with(fd, EPOLLIN), out = epoll_with(fd, EPOLLOUT);

	EQ(epolled(in), 0);
	EQ(epolled(out), EPOLLOUT);
	EQ(write(fd, "abc", 3), 3);
	EQ(epolled(in), EPOLLIN);
	EQ(epolled(in), EPOLLIN);
	EQ(read(fd, buffer, 1), 1);
	EQ(epolled(in), EPOLLIN);
	EQ(read(fd, buffer, 3), 2);
	EQ(epolled(in), 0);
	message_fill(0);
	EQ(epolled(out), 0);
	EQ(read(fd, buffer, 4), 4);
	EQ(epolled(out), EPOLLOUT);
	EQ(epolled(out), EPOLLOUT);
}

CASE(epoll_edge)
{
	int fd = message_open(0, MODE_RDWR);
	int in = epoll_with(fd, EPOLLIN | EPOLLET);
	int out = epoll_with(fd, EPOLLOUT | EPOLLET);

	EQ(epolled(in), 0);
	EQ(epolled(out), EPOLLOUT);
	EQ(epolled(out), 0);
	EQ(write(fd, "a", 1), 1);
	EQ(epolled(in), EPOLLIN);
	EQ(epolled(in), 0);
	EQ(write(fd, "b", 1), 1);
	EQ(epolled(in), EPOLLIN);
	EQ(epolled(in), 0);
	EQ(read(fd, buffer, 1), 1);
	EQ(read(fd, buffer, 1), 1);
	EQ(epolled(in), 0);
	message_fill(0);
	EQ(epolled(in), EPOLLIN);
	epolled(out);
	EQ(epolled(out), 0);
	EQ(read(fd, buffer, 4), 4);
	EQ(epolled(out), EPOLLOUT);
	EQ(epolled(out), 0);
}

static void poll_for_message(void *argument)
{
	struct pollfd one = { .fd = message_open(0, O_RDONLY), .events = POLLIN };

	(void)argument;
	EQ(poll(&one, 1, -1), 1);
	EQ(one.revents, POLLIN);
}

static void select_for_message(void *argument)
{
	int fd = message_open(0, O_RDONLY);
	fd_set in;

	(void)argument;
	FD_ZERO(&in);
	FD_SET(fd, &in);
	EQ(select(fd + 1, &in, NULL, NULL, NULL), 1);
}

static void epoll_for_message(void *argument)
{
	struct epoll_event event;
	int epoll = epoll_with(message_open(0, O_RDONLY), *(uint32_t *)argument);

	EQ(epoll_wait(epoll, &event, 1, -1), 1);
	EQ(event.events, EPOLLIN);
}

CASE(all_who_poll_are_woken)
{
	uint32_t level = EPOLLIN, edge = EPOLLIN | EPOLLET;
	int fd = message_open(0, O_RDWR), i;
	pid_t pids[5];

	pids[0] = tap_spawn(poll_for_message, NULL);
	pids[1] = tap_spawn(poll_for_message, NULL);
	pids[2] = tap_spawn(select_for_message, NULL);
	pids[3] = tap_spawn(epoll_for_message, &level);
	pids[4] = tap_spawn(epoll_for_message, &edge);
	BLOCKED(pids[0], SYS_poll);
	BLOCKED(pids[1], SYS_poll);
	BLOCKED(pids[2], SYS_pselect6);
	BLOCKED(pids[3], SYS_epoll_wait);
	BLOCKED(pids[4], SYS_epoll_wait);
	EQ(write(fd, "a", 1), 1);
	for (i = 0; i < 5; i++)
		JOIN(pids[i]);
	EQ(message_info(fd).queued, 1);
}

static void poll_for_room(void *argument)
{
	struct pollfd one = { .fd = message_open(0, O_RDWR), .events = POLLOUT };

	(void)argument;
	EQ(poll(&one, 1, -1), 1);
	EQ(one.revents, POLLOUT);
}

static void room_by_read(int fd)
{
	EQ(read(fd, buffer, 100), 4);
}

static void room_by_rest(int fd)
{
	EQ(read(fd, buffer, 1), 1);
	EQ(read(fd, buffer, 100), 3);
}

/* A message that was read in part is thrown away. */
static void room_by_close(int fd)
{
	int other = message_open(0, O_RDONLY);

	(void)fd;
	EQ(read(other, buffer, 1), 1);
	close(other);
}

static void room_by_reset(int fd)
{
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
}

static void room_by_limits(int fd)
{
	EQ(message_limits(fd, DEPTH + 10, SIZE), 0);
}

CASE(room_wakes_who_polls)
{
	void (*const ways[])(int fd) = {
		room_by_read, room_by_rest, room_by_close, room_by_reset,
		room_by_limits,
	};
	int fd = message_open(0, O_RDWR);
	pid_t one, two;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		message_fill(0);
		one = tap_spawn(poll_for_room, NULL);
		two = tap_spawn(poll_for_room, NULL);
		BLOCKED(one, SYS_poll);
		BLOCKED(two, SYS_poll);
		ways[i](fd);
		JOIN(one);
		JOIN(two);
	}
}

/* Waits for messages with EPOLLEXCLUSIVE and counts them. */
static void exclusive_reader(void *argument)
{
	int number = (intptr_t)argument;
	int fd = message_open(0, O_RDONLY | O_NONBLOCK);
	int epoll = epoll_with(fd, EPOLLIN | EPOLLEXCLUSIVE);
	struct epoll_event event;
	uint32_t got;

	for (;;) {
		EQ(epoll_wait(epoll, &event, 1, -1), 1);
		atomic_fetch_add(&board->counts[number + 8], 1);
		while (read(fd, &got, sizeof(got)) > 0)
			atomic_fetch_add(&board->counts[number], 1);
		if (errno != EAGAIN)
			FAIL("read");
	}
}

static int total(int from)
{
	int i, sum = 0;

	for (i = from; i < from + 4; i++)
		sum += atomic_load(&board->counts[i]);
	return sum;
}

CASE(epoll_exclusive)
{
	const int messages = 300;
	int fd = message_open(0, O_WRONLY);
	uint32_t i;
	pid_t pids[4];

	for (i = 0; i < 4; i++)
		pids[i] = tap_spawn(exclusive_reader, (void *)(intptr_t)i);
	for (i = 0; i < 4; i++)
		BLOCKED(pids[i], SYS_epoll_wait);
	for (i = 0; i < (uint32_t)messages; i++) {
		EQ(write(fd, &i, sizeof(i)), sizeof(i));
		/* Sometimes all sleep when it comes, sometimes not. */
		if (i % 3 == 0) {
			WAIT_WHILE(total(0) <= (int)i);
		}
	}
	WAIT_WHILE(total(0) < messages);
	tap_note("%d messages woke 4 exclusive waiters %d times", messages,
		 total(8));
	for (i = 0; i < 4; i++)
		tap_kill(pids[i]);
}

static void read_one(void *argument)
{
	int fd = message_open(0, O_RDONLY);

	(void)argument;
	EQ(read(fd, buffer, 100), 5);
	EQ(memcmp(buffer, "hello", 5), 0);
}

CASE(blocked_reader_is_woken)
{
	int fd = message_open(0, O_WRONLY), i;
	pid_t pids[3];

	for (i = 0; i < 3; i++)
		pids[i] = tap_spawn(read_one, NULL);
	for (i = 0; i < 3; i++)
		BLOCKED(pids[i], SYS_read);
	/* One message, one reader. */
	EQ(write(fd, "hello", 5), 5);
	WAIT_WHILE(message_info(fd).queued);
	EQ(write(fd, "hello", 5), 5);
	EQ(write(fd, "hello", 5), 5);
	for (i = 0; i < 3; i++)
		JOIN(pids[i]);
	EQ(message_info(fd).queued, 0);
}

static void write_one(void *argument)
{
	int fd = message_open(0, O_WRONLY);
	size_t length = (intptr_t)argument;

	memset(buffer, 'w', length);
	EQ(write(fd, buffer, length), length);
}

CASE(blocked_writer_is_woken)
{
	int fd = message_open(0, MODE_RDWR), i;
	pid_t pids[3];

	message_fill(0);
	for (i = 0; i < 3; i++)
		pids[i] = tap_spawn(write_one, (void *)9);
	for (i = 0; i < 3; i++)
		BLOCKED(pids[i], SYS_write);
	EQ(message_info(fd).queued, DEPTH);
	for (i = 0; i < DEPTH; i++)
		EQ(read(fd, buffer, 100), 4);
	for (i = 0; i < 3; i++)
		JOIN(pids[i]);
	for (i = 0; i < 3; i++)
		EQ(read(fd, buffer, 100), 9);
	FAILS(read(fd, buffer, 100), EAGAIN);
}

CASE(room_wakes_blocked_writers)
{
	void (*const ways[])(int fd) = { room_by_reset, room_by_limits };
	int fd = message_open(0, MODE_RDWR), j;
	pid_t pids[3];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		message_fill(0);
		for (j = 0; j < 3; j++)
			pids[j] = tap_spawn(write_one, (void *)9);
		for (j = 0; j < 3; j++)
			BLOCKED(pids[j], SYS_write);
		ways[i](fd);
		for (j = 0; j < 3; j++)
			JOIN(pids[j]);
	}
}

CASE(room_wakes_one_blocked_writer)
{
	void (*const ways[])(int fd) = {
		room_by_read, room_by_rest, room_by_close
	};
	int fd = message_open(0, MODE_RDWR);
	size_t i;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		message_fill(0);
		pid = tap_spawn(write_one, (void *)4);
		BLOCKED(pid, SYS_write);
		ways[i](fd);
		JOIN(pid);
		EQ(message_info(fd).queued, DEPTH);
	}
}

static void write_too_long_by_now(void *argument)
{
	int fd = message_open(0, O_WRONLY);

	(void)argument;
	FAILS(write(fd, buffer, 1000), EMSGSIZE);
}

CASE(limits_hold_for_blocked_writers)
{
	int fd = message_open(0, MODE_RDWR);
	pid_t pid;

	message_fill(0);
	pid = tap_spawn(write_too_long_by_now, NULL);
	BLOCKED(pid, SYS_write);
	EQ(message_limits(fd, DEPTH, 100), 0);
	EQ(read(fd, buffer, 4), 4);
	JOIN(pid);
	EQ(message_info(fd).queued, DEPTH - 1);
	EQ(message_info(fd).queued_bytes, 4 * (DEPTH - 1));
}

static void on_signal(int signal)
{
	(void)signal;
	atomic_fetch_add(&board->handled, 1);
}

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	EQ(sigaction(SIGUSR1, &action, NULL), 0);
}

static void read_interrupted(void *argument)
{
	(void)argument;
	handle(0);
	FAILS(read(message_open(0, O_RDONLY), buffer, 100), EINTR);
}

static void write_interrupted(void *argument)
{
	(void)argument;
	handle(0);
	FAILS(write(message_open(0, O_WRONLY), buffer, 100), EINTR);
}

static void poll_interrupted(void *argument)
{
	struct pollfd one = { .fd = message_open(0, O_RDONLY), .events = POLLIN };

	(void)argument;
	handle(SA_RESTART);
	FAILS(poll(&one, 1, -1), EINTR);
}

CASE(signals_interrupt)
{
	int fd = message_open(0, MODE_RDWR);
	uint64_t sent;
	pid_t pid;

	pid = tap_spawn(read_interrupted, NULL);
	BLOCKED(pid, SYS_read);
	kill(pid, SIGUSR1);
	JOIN(pid);
	pid = tap_spawn(poll_interrupted, NULL);
	BLOCKED(pid, SYS_poll);
	kill(pid, SIGUSR1);
	JOIN(pid);
	message_fill(0);
	sent = message_info(fd).sent;
	pid = tap_spawn(write_interrupted, NULL);
	BLOCKED(pid, SYS_write);
	kill(pid, SIGUSR1);
	JOIN(pid);
	EQ(atomic_load(&board->handled), 3);
	/* Nothing was sent, now or later. */
	EQ(read(fd, buffer, 100), 4);
	tap_pause(10000);
	EQ(message_info(fd).sent, sent);
	EQ(message_info(fd).queued, DEPTH - 1);
}

static void restarted_read(void *argument)
{
	handle(SA_RESTART);
	read_one(argument);
}

static void restarted_write(void *argument)
{
	handle(SA_RESTART);
	write_one(argument);
}

CASE(signals_restart)
{
	int fd = message_open(0, MODE_RDWR), i;
	pid_t pid;

	pid = tap_spawn(restarted_read, NULL);
	for (i = 1; i <= 3; i++) {
		BLOCKED(pid, SYS_read);
		kill(pid, SIGUSR1);
		WAIT_WHILE(atomic_load(&board->handled) < i);
	}
	BLOCKED(pid, SYS_read);
	EQ(write(fd, "hello", 5), 5);
	JOIN(pid);

	message_fill(0);
	pid = tap_spawn(restarted_write, (void *)9);
	for (i = 4; i <= 6; i++) {
		BLOCKED(pid, SYS_write);
		kill(pid, SIGUSR1);
		WAIT_WHILE(atomic_load(&board->handled) < i);
	}
	BLOCKED(pid, SYS_write);
	for (i = 0; i < DEPTH; i++)
		EQ(read(fd, buffer, 100), 4);
	JOIN(pid);
	EQ(read(fd, buffer, 100), 9);
	FAILS(read(fd, buffer, 100), EAGAIN);
}

static void read_or_interrupted(void *argument)
{
	(void)argument;
	handle(0);
	if (read(message_open(0, O_RDONLY), buffer, 100) < 0 && errno != EINTR)
		FAIL("read");
}

static void write_or_interrupted(void *argument)
{
	(void)argument;
	handle(0);
	if (write(message_open(0, O_WRONLY), buffer, 4) < 0 && errno != EINTR)
		FAIL("write");
}

/*
 * A message arrives while one of two waiting readers gets a signal: one of them
 * must receive the message. Returns once it was received; otherwise the
 * watchdog reports the hang.
 */
static void message_and_signal(int fd, int signal, int signal_first)
{
	pid_t pids[2];

	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	pids[0] = tap_spawn(read_or_interrupted, NULL);
	pids[1] = tap_spawn(read_or_interrupted, NULL);
	BLOCKED(pids[0], SYS_read);
	BLOCKED(pids[1], SYS_read);
	if (signal_first)
		kill(pids[0], signal);
	EQ(write(fd, "abcd", 4), 4);
	if (!signal_first)
		kill(pids[0], signal);
	WAIT_WHILE(message_info(fd).queued);
	tap_kill(pids[0]);
	tap_kill(pids[1]);
}

static void room_and_signal(int fd, int signal, int signal_first)
{
	pid_t pids[2];

	message_fill(0);
	pids[0] = tap_spawn(write_or_interrupted, NULL);
	pids[1] = tap_spawn(write_or_interrupted, NULL);
	BLOCKED(pids[0], SYS_write);
	BLOCKED(pids[1], SYS_write);
	if (signal_first)
		kill(pids[0], signal);
	EQ(read(fd, buffer, 4), 4);
	if (!signal_first)
		kill(pids[0], signal);
	WAIT_WHILE(message_info(fd).queued < DEPTH);
	tap_kill(pids[0]);
	tap_kill(pids[1]);
}

CASE(signal_takes_no_wakeup_with_it)
{
	int fd = message_open(0, O_RDWR), i;

	for (i = 0; i < 40; i++) {
		message_and_signal(fd, SIGUSR1, i % 2);
		room_and_signal(fd, SIGUSR1, i % 2);
	}
}

CASE(kill_takes_no_wakeup_with_it)
{
	int fd = message_open(0, O_RDWR), i;

	for (i = 0; i < 40; i++) {
		message_and_signal(fd, SIGKILL, i % 2);
		room_and_signal(fd, SIGKILL, i % 2);
	}
}

CASE(killed_writer_sends_nothing)
{
	int fd = message_open(0, O_RDWR), i;
	pid_t pid;

	message_fill(0);
	pid = tap_spawn(write_one, (void *)9);
	BLOCKED(pid, SYS_write);
	tap_kill(pid);
	for (i = 0; i < DEPTH; i++)
		EQ(read(fd, buffer, 100), 4);
	EQ(message_info(fd).queued, 0);
	EQ(message_info(fd).openers, 1);
}

struct thread {
	pthread_t thread;
	atomic_int id;
	int fd;
	size_t length;
	ssize_t result;
	char bytes[64];
};

static void *thread_read(void *argument)
{
	struct thread *thread = argument;

	atomic_store(&thread->id, gettid());
	thread->result = read(thread->fd, thread->bytes, thread->length);
	return NULL;
}

static void thread_start(struct thread *thread, int fd, size_t length)
{
	thread->fd = fd;
	thread->length = length;
	atomic_store(&thread->id, 0);
	EQ(pthread_create(&thread->thread, NULL, thread_read, thread), 0);
	WAIT_WHILE(!atomic_load(&thread->id));
	BLOCKED(atomic_load(&thread->id), SYS_read);
}

CASE(close_while_blocked)
{
	int fd = message_open(0, O_RDWR), same = dup(fd);
	int other = message_open(0, O_RDWR);
	struct thread thread;

	thread_start(&thread, fd, sizeof(thread.bytes));
	/* Neither another descriptor, nor a copy, nor the very one ends it. */
	close(other);
	close(same);
	close(fd);
	BLOCKED(atomic_load(&thread.id), SYS_read);
	other = message_open(0, O_RDWR);
	EQ(write(other, "hello", 5), 5);
	EQ(pthread_join(thread.thread, NULL), 0);
	EQ(thread.result, 5);
	EQ(memcmp(thread.bytes, "hello", 5), 0);
	/* And then the description has gone. */
	EQ(message_info(other).openers, 1);
}

CASE(threads_share_the_rest)
{
	int fd = message_open(0, O_RDWR);
	struct thread one, two;
	char all[8];

	thread_start(&one, fd, 4);
	thread_start(&two, fd, 4);
	EQ(write(fd, "abcdefgh", 8), 8);
	EQ(pthread_join(one.thread, NULL), 0);
	EQ(pthread_join(two.thread, NULL), 0);
	EQ(one.result, 4);
	EQ(two.result, 4);
	memcpy(all, one.bytes[0] == 'a' ? one.bytes : two.bytes, 4);
	memcpy(all + 4, one.bytes[0] == 'a' ? two.bytes : one.bytes, 4);
	EQ(memcmp(all, "abcdefgh", 8), 0);
}

CASE(blocked_thread_does_not_block_others)
{
	int fd = message_open(0, O_RDWR);
	struct thread thread;

	thread_start(&thread, fd, sizeof(thread.bytes));
	/* All other calls on the descriptor continue to work. */
	EQ(polled(fd, POLLIN | POLLOUT), POLLOUT);
	EQ(message_info(fd).queued, 0);
	EQ(message_flags(fd, 0), 0);
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	EQ(message_limits(fd, DEPTH, SIZE), 0);
	EQ(read(fd, buffer, 0), 0);
	EQ(write(fd, "hello", 5), 5);
	EQ(pthread_join(thread.thread, NULL), 0);
	EQ(thread.result, 5);
}

CASE(dup_shares_the_rest)
{
	int fd = message_open(0, MODE_RDWR), same = dup(fd);

	EQ(write(fd, "abcdef", 6), 6);
	EQ(read(fd, buffer, 2), 2);
	EQ(polled(same, POLLIN), POLLIN);
	EQ(read(same, buffer, 2), 2);
	EQ(memcmp(buffer, "cd", 2), 0);
	close(same);
	EQ(read(fd, buffer, 9), 2);
	EQ(memcmp(buffer, "ef", 2), 0);
}

static void read_cd(void *argument)
{
	EQ(read((intptr_t)argument, buffer, 2), 2);
	EQ(memcmp(buffer, "cd", 2), 0);
}

CASE(fork_shares_the_rest)
{
	int fd = message_open(0, MODE_RDWR);

	EQ(write(fd, "abcdef", 6), 6);
	EQ(read(fd, buffer, 2), 2);
	EQ(message_info(fd).openers, 1);
	JOIN(tap_spawn(read_cd, (void *)(intptr_t)fd));
	EQ(message_info(fd).openers, 1);
	EQ(read(fd, buffer, 9), 2);
	EQ(memcmp(buffer, "ef", 2), 0);
}

union control {
	struct cmsghdr head;
	char space[CMSG_SPACE(sizeof(int))];
};

static void pass_descriptor(int socket, int fd)
{
	union control control;
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	memset(&control, 0, sizeof(control));
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	EQ(sendmsg(socket, &message, 0), 1);
}

static void receive_and_read(void *argument)
{
	union control control;
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int fd;

	EQ(recvmsg((intptr_t)argument, &message, 0), 1);
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	EQ(message_info(fd).openers, 1);
	EQ(read(fd, buffer, 9), 4);
	EQ(memcmp(buffer, "cdef", 4), 0);
	FAILS(read(fd, buffer, 9), EAGAIN);
}

CASE(passed_descriptor_has_the_rest)
{
	int sockets[2], fd;
	pid_t pid;

	EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	pid = tap_spawn(receive_and_read, (void *)(intptr_t)sockets[1]);
	fd = message_open(0, MODE_RDWR);
	EQ(write(fd, "abcdef", 6), 6);
	EQ(read(fd, buffer, 2), 2);
	pass_descriptor(sockets[0], fd);
	/* In flight, no process has it as a descriptor. */
	close(fd);
	JOIN(pid);
}

/* As much of io_uring as two operations need. */
struct uring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void *uring_map(int fd, size_t length, off_t offset)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_POPULATE, fd, offset);

	OK(memory != MAP_FAILED);
	return memory;
}

static void uring_open(struct uring *ring)
{
	struct io_uring_params params;
	char *sq, *cq;

	memset(&params, 0, sizeof(params));
	ring->fd = syscall(SYS_io_uring_setup, 8, &params);
	if (ring->fd < 0)
		tap_skip("no io_uring: %s", strerror(errno));
	sq = uring_map(ring->fd, params.sq_off.array +
		       params.sq_entries * sizeof(unsigned int), IORING_OFF_SQ_RING);
	cq = uring_map(ring->fd, params.cq_off.cqes +
		       params.cq_entries * sizeof(struct io_uring_cqe),
		       IORING_OFF_CQ_RING);
	ring->sqes = uring_map(ring->fd, params.sq_entries *
			       sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	ring->sq_tail = (unsigned int *)(sq + params.sq_off.tail);
	ring->sq_mask = (unsigned int *)(sq + params.sq_off.ring_mask);
	ring->sq_array = (unsigned int *)(sq + params.sq_off.array);
	ring->cq_head = (unsigned int *)(cq + params.cq_off.head);
	ring->cq_tail = (unsigned int *)(cq + params.cq_off.tail);
	ring->cq_mask = (unsigned int *)(cq + params.cq_off.ring_mask);
	ring->cqes = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
}

static void uring_submit(struct uring *ring, int op, int fd, void *memory,
			 size_t length)
{
	unsigned int tail = *ring->sq_tail, at = tail & *ring->sq_mask;
	struct io_uring_sqe *sqe = &ring->sqes[at];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = op;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)memory;
	sqe->len = length;
	sqe->off = -1;
	sqe->user_data = op;
	ring->sq_array[at] = at;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	EQ(syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0), 1);
}

/* Waits for the next completion: the operation that it is of, and its result. */
static int uring_wait(struct uring *ring, int *result)
{
	unsigned int head = *ring->cq_head;
	struct io_uring_cqe *cqe;

	while (__atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) == head)
		EQ(syscall(SYS_io_uring_enter, ring->fd, 0, 1,
			   IORING_ENTER_GETEVENTS, NULL, 0), 0);
	cqe = &ring->cqes[head & *ring->cq_mask];
	*result = cqe->res;
	head = cqe->user_data;
	__atomic_store_n(ring->cq_head, *ring->cq_head + 1, __ATOMIC_RELEASE);
	return head;
}

CASE(uring_reads_and_writes)
{
	int fd = message_open(0, O_RDWR), result;
	struct uring ring;
	char text[16];

	uring_open(&ring);
	/* The read waits, and the submission does not. */
	uring_submit(&ring, IORING_OP_READ, fd, text, sizeof(text));
	EQ(__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE), *ring.cq_head);
	uring_submit(&ring, IORING_OP_WRITE, fd, "by ring", 7);
	EQ(uring_wait(&ring, &result) + uring_wait(&ring, &result),
	   IORING_OP_READ + IORING_OP_WRITE);
	EQ(result, 7);
	EQ(memcmp(text, "by ring", 7), 0);
	EQ(message_info(fd).queued, 0);

	message_fill(0);
	uring_submit(&ring, IORING_OP_WRITE, fd, "later", 5);
	EQ(__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE), *ring.cq_head);
	EQ(read(fd, buffer, 4), 4);
	EQ(uring_wait(&ring, &result), IORING_OP_WRITE);
	EQ(result, 5);
	EQ(message_info(fd).queued, DEPTH);
}

static void uring_read_and_leave(void *argument)
{
	struct uring ring;

	(void)argument;
	uring_open(&ring);
	uring_submit(&ring, IORING_OP_READ, message_open(0, O_RDWR), buffer, 16);
}

CASE(uring_is_given_up)
{
	int fd = message_open(0, MODE_RDWR);
	struct uring ring;

	uring_open(&ring);
	/* A read that waits when its process ends takes no message any more. */
	JOIN(tap_spawn(uring_read_and_leave, NULL));
	WAIT_WHILE(message_info(fd).openers > 1);
	EQ(write(fd, "hello", 5), 5);
	tap_pause(10000);
	EQ(read(fd, buffer, 16), 5);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv, setup);
}
