// SPDX-License-Identifier: GPL-2.0
/* The message device: each promise of its contract that one descriptor can show. */
#define _GNU_SOURCE
#include "device.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define MODE_RDWR	(O_RDWR | O_NONBLOCK)

static char buffer[FURLONG_MESSAGE_SIZE_MAX + 4096];
static char other[FURLONG_MESSAGE_SIZE_MAX + 4096];

static void send_text(int fd, const char *text)
{
	EQ(write(fd, text, strlen(text)), strlen(text));
}

static void receive_text(int fd, const char *text)
{
	char got[256];

	memset(got, 0, sizeof(got));
	EQ(read(fd, got, sizeof(got)), strlen(text));
	if (memcmp(got, text, strlen(text)))
		FAIL("received '%s', not '%s'", got, text);
}

CASE(open_modes)
{
	int reader = message_open(0, O_RDONLY | O_NONBLOCK);
	int writer = message_open(0, O_WRONLY | O_NONBLOCK);
	char byte = 'x';

	FAILS(write(reader, &byte, 1), EBADF);
	FAILS(write(reader, &byte, 0), EBADF);
	FAILS(read(writer, &byte, 1), EBADF);
	FAILS(read(writer, &byte, 0), EBADF);
	EQ(message_info(reader).queued, 0);
	EQ(write(writer, &byte, 1), 1);
	byte = 0;
	EQ(read(reader, &byte, 1), 1);
	EQ(byte, 'x');
}

CASE(empty_is_eagain)
{
	int fd = message_open(0, MODE_RDWR);

	FAILS(read(fd, buffer, SIZE), EAGAIN);
	FAILS(read(fd, buffer, 1), EAGAIN);
	/* Also when it became non-blocking after it was opened. */
	fd = message_open(0, O_RDWR);
	EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	FAILS(read(fd, buffer, SIZE), EAGAIN);
}

CASE(full_is_eagain)
{
	int fd = message_open(0, MODE_RDWR);
	uint32_t i, got;

	for (i = 0; i < DEPTH; i++)
		EQ(write(fd, &i, sizeof(i)), sizeof(i));
	FAILS(write(fd, &i, sizeof(i)), EAGAIN);
	EQ(message_info(fd).queued, DEPTH);
	EQ(read(fd, &got, sizeof(got)), sizeof(got));
	EQ(got, 0);
	EQ(write(fd, &i, sizeof(i)), sizeof(i));
	FAILS(write(fd, &i, sizeof(i)), EAGAIN);
	for (i = 1; i <= DEPTH; i++) {
		EQ(read(fd, &got, sizeof(got)), sizeof(got));
		EQ(got, i);
	}
	FAILS(read(fd, &got, sizeof(got)), EAGAIN);
}

CASE(boundaries_and_order)
{
	int fd = message_open(0, MODE_RDWR);
	size_t length;

	for (length = 16; length < 16 + DEPTH; length++) {
		parcel_make(buffer, 1, length, length);
		EQ(write(fd, buffer, length), length);
	}
	for (length = 16; length < 16 + DEPTH; length++) {
		EQ(read(fd, buffer, sizeof(buffer)), length);
		EQ(parcel_check(buffer, length), 0);
		EQ(((struct parcel *)buffer)->sequence, length);
	}
	FAILS(read(fd, buffer, sizeof(buffer)), EAGAIN);
}

CASE(channels_are_separate)
{
	int fds[CHANNELS];
	unsigned int i;

	for (i = 0; i < CHANNELS; i++)
		fds[i] = message_open(i, MODE_RDWR);
	for (i = 0; i < CHANNELS; i++) {
		EQ(message_info(fds[i]).channel, i);
		EQ(write(fds[i], &i, sizeof(i)), sizeof(i));
	}
	for (i = CHANNELS; i--; ) {
		unsigned int got = ~0;

		EQ(read(fds[i], &got, sizeof(got)), sizeof(got));
		EQ(got, i);
		FAILS(read(fds[i], &got, sizeof(got)), EAGAIN);
	}
}

CASE(largest_and_too_large)
{
	int fd = message_open(0, MODE_RDWR);
	volatile size_t huge = 0x7ffff000;

	parcel_make(buffer, 1, 1, SIZE);
	EQ(write(fd, buffer, SIZE), SIZE);
	FAILS(write(fd, buffer, SIZE + 1), EMSGSIZE);
	FAILS(write(fd, buffer, FURLONG_MESSAGE_SIZE_MAX + 1), EMSGSIZE);
	FAILS(write(fd, buffer, huge), EMSGSIZE);
	EQ(message_info(fd).queued, 1);
	EQ(message_info(fd).queued_bytes, SIZE);
	EQ(read(fd, other, sizeof(other)), SIZE);
	EQ(parcel_check(other, SIZE), 0);
	EQ(memcmp(buffer, other, SIZE), 0);
}

CASE(too_large_does_not_wait)
{
	int fd = message_open(0, O_RDWR);

	EQ(message_fill(0), DEPTH);
	FAILS(write(fd, buffer, SIZE + 1), EMSGSIZE);
}

CASE(smallest)
{
	int fd = message_open(0, MODE_RDWR);
	int i;

	for (i = 0; i < 256; i += 4)
		EQ(write(fd, &i, 1), 1);
	for (i = 0; i < 256; i += 4) {
		EQ(read(fd, buffer, 10), 1);
		EQ((unsigned char)buffer[0], i);
	}
}

CASE(empty_message_is_not_sent)
{
	int fd = message_open(0, O_RDWR);
	struct iovec none[2] = { { buffer, 0 }, { NULL, 0 } };
	uint64_t sent = message_info(fd).sent;

	EQ(write(fd, buffer, 0), 0);
	EQ(write(fd, null_pointer, 0), 0);
	EQ(writev(fd, none, 2), 0);
	EQ(message_info(fd).queued, 0);
	EQ(message_info(fd).sent, sent);
	/* It needs no room. */
	EQ(message_fill(0), DEPTH);
	EQ(write(fd, buffer, 0), 0);
}

CASE(read_of_nothing)
{
	int fd = message_open(0, O_RDWR);

	/* It does not wait on the empty queue, and takes nothing. */
	EQ(read(fd, buffer, 0), 0);
	send_text(fd, "kept");
	EQ(read(fd, buffer, 0), 0);
	EQ(message_flags(fd, FURLONG_MESSAGE_STRICT), 0);
	EQ(read(fd, buffer, 0), 0);
	EQ(message_info(fd).queued, 1);
	receive_text(fd, "kept");
}

CASE(writev_is_one_message)
{
	int fd = message_open(0, MODE_RDWR);
	struct iovec parts[4] = {
		{ "to", 2 }, { "", 0 }, { "get", 3 }, { "her", 3 },
	};

	EQ(writev(fd, parts, 4), 8);
	EQ(message_info(fd).queued, 1);
	receive_text(fd, "together");
	/* It is the sum that must not be too large. */
	parts[0].iov_base = buffer;
	parts[0].iov_len = SIZE;
	EQ(writev(fd, parts, 1), SIZE);
	FAILS(writev(fd, parts, 4), EMSGSIZE);
	EQ(message_info(fd).queued, 1);
}

CASE(readv_receives_one_message)
{
	int fd = message_open(0, MODE_RDWR);
	char one[3], two[3], three[9];
	struct iovec parts[3] = {
		{ one, sizeof(one) }, { two, sizeof(two) }, { three, sizeof(three) },
	};

	send_text(fd, "abcdefgh");
	send_text(fd, "next");
	memset(three, '-', sizeof(three));
	EQ(readv(fd, parts, 3), 8);
	EQ(memcmp(one, "abc", 3), 0);
	EQ(memcmp(two, "def", 3), 0);
	EQ(memcmp(three, "gh-------", 9), 0);
	receive_text(fd, "next");
	/* And a part of one into several. */
	send_text(fd, "abcdefgh");
	EQ(readv(fd, parts, 2), 6);
	EQ(memcmp(two, "def", 3), 0);
	receive_text(fd, "gh");
}

CASE(no_position)
{
	int fd = message_open(0, MODE_RDWR);
	struct iovec part = { buffer, 4 };

	send_text(fd, "stay");
	FAILS(lseek(fd, 0, SEEK_SET), ESPIPE);
	FAILS(lseek(fd, 0, SEEK_CUR), ESPIPE);
	FAILS(lseek(fd, 0, SEEK_END), ESPIPE);
	FAILS(pread(fd, buffer, 4, 0), ESPIPE);
	FAILS(pwrite(fd, buffer, 4, 0), ESPIPE);
	FAILS(preadv(fd, &part, 1, 0), ESPIPE);
	FAILS(pwritev(fd, &part, 1, 0), ESPIPE);
	receive_text(fd, "stay");
	FAILS(read(fd, buffer, 4), EAGAIN);
}

CASE(rest_of_a_message)
{
	int fd = message_open(0, MODE_RDWR);

	send_text(fd, "abcdefgh");
	send_text(fd, "second");
	EQ(read(fd, buffer, 3), 3);
	EQ(memcmp(buffer, "abc", 3), 0);
	EQ(read(fd, buffer, 1), 1);
	EQ(buffer[0], 'd');
	/* A large buffer receives the rest, and nothing of the next message. */
	receive_text(fd, "efgh");
	receive_text(fd, "second");
	FAILS(read(fd, buffer, 1), EAGAIN);
}

CASE(byte_by_byte)
{
	int fd = message_open(0, MODE_RDWR);
	size_t i;

	parcel_make(other, 7, 7, 1000);
	EQ(write(fd, other, 1000), 1000);
	for (i = 0; i < 1000; i++)
		EQ(read(fd, buffer + i, 1), 1);
	EQ(parcel_check(buffer, 1000), 0);
	FAILS(read(fd, buffer, 1), EAGAIN);
}

CASE(rest_is_of_one_descriptor)
{
	int one = message_open(0, MODE_RDWR), two = message_open(0, MODE_RDWR);

	send_text(one, "first");
	send_text(one, "second");
	EQ(read(one, buffer, 2), 2);
	/* The other reader goes on with the next message. */
	EQ(read(two, buffer, 3), 3);
	EQ(memcmp(buffer, "sec", 3), 0);
	receive_text(one, "rst");
	receive_text(two, "ond");
	FAILS(read(one, buffer, 1), EAGAIN);
	FAILS(read(two, buffer, 1), EAGAIN);
}

CASE(rest_is_seen_by_poll)
{
	int one = message_open(0, MODE_RDWR), two = message_open(0, MODE_RDWR);

	send_text(one, "abc");
	EQ(polled(one, POLLIN), POLLIN);
	EQ(polled(two, POLLIN), POLLIN);
	EQ(read(one, buffer, 1), 1);
	EQ(polled(one, POLLIN), POLLIN);
	EQ(polled(two, POLLIN), 0);
	EQ(read(one, buffer, 2), 2);
	EQ(polled(one, POLLIN), 0);
}

CASE(rest_goes_with_close)
{
	int one = message_open(0, MODE_RDWR), two = message_open(0, MODE_RDWR);

	send_text(one, "first");
	send_text(one, "second");
	EQ(read(one, buffer, 2), 2);
	EQ(message_info(two).queued, 1);
	close(one);
	EQ(message_info(two).queued, 1);
	receive_text(two, "second");
	FAILS(read(two, buffer, 1), EAGAIN);
}

CASE(rest_keeps_its_place)
{
	int one = message_open(0, MODE_RDWR), two = message_open(0, MODE_RDWR);

	EQ(message_fill(0), DEPTH);
	EQ(read(one, buffer, 1), 1);
	/* The message has left the queue, and is not yet out of the way. */
	EQ(message_info(one).queued, DEPTH - 1);
	EQ(message_info(one).queued_bytes, 4 * (DEPTH - 1));
	EQ(polled(one, POLLOUT), 0);
	EQ(polled(two, POLLOUT), 0);
	FAILS(write(two, buffer, 4), EAGAIN);
	/* Until it is read whole, */
	EQ(read(one, buffer, 2), 2);
	EQ(polled(two, POLLOUT), 0);
	EQ(read(one, buffer, 4), 1);
	EQ(polled(two, POLLOUT), POLLOUT);
	EQ(write(two, buffer, 4), 4);
	/* or thrown away. */
	EQ(read(one, buffer, 1), 1);
	FAILS(write(two, buffer, 4), EAGAIN);
	close(one);
	EQ(polled(two, POLLOUT), POLLOUT);
	EQ(write(two, buffer, 4), 4);
	FAILS(write(two, buffer, 4), EAGAIN);
}

CASE(rests_count_in_limits)
{
	int fds[4], i;

	for (i = 0; i < 4; i++) {
		fds[i] = message_open(0, MODE_RDWR);
		send_text(fds[i], "parts");
		EQ(read(fds[i], buffer, 1), 1);
	}
	FAILS(message_limits(fds[0], 3, SIZE), EBUSY);
	EQ(message_limits(fds[0], 4, SIZE), 0);
	FAILS(write(fds[0], buffer, 1), EAGAIN);
	/* Nothing is in the queue that could be thrown away. */
	EQ(ioctl(fds[0], FURLONG_MESSAGE_RESET), 0);
	FAILS(write(fds[0], buffer, 1), EAGAIN);
	for (i = 0; i < 4; i++) {
		receive_text(fds[i], "arts");
		EQ(write(fds[i], buffer, 1), 1);
	}
	FAILS(write(fds[0], buffer, 1), EAGAIN);
	EQ(ioctl(fds[0], FURLONG_MESSAGE_RESET), 0);
	EQ(message_limits(fds[0], 1, SIZE), 0);
}

CASE(rests_do_not_add_up)
{
	int fds[3 * DEPTH], i, held = 0;

	/* However many descriptors read in parts, no more is held than that. */
	for (i = 0; i < 3 * DEPTH; i++) {
		fds[i] = message_open(0, MODE_RDWR);
		message_fill(0);
		held += read(fds[i], buffer, 1) == 1;
	}
	EQ(held, DEPTH);
	EQ(message_info(fds[0]).queued, 0);
}

CASE(strict_keeps_the_message)
{
	int strict = message_open(0, MODE_RDWR), two = message_open(0, MODE_RDWR);

	EQ(message_flags(strict, FURLONG_MESSAGE_STRICT), 0);
	EQ(message_info(strict).flags, FURLONG_MESSAGE_STRICT);
	EQ(message_info(two).flags, 0);
	send_text(two, "first");
	send_text(two, "second");
	memset(buffer, '-', 8);
	FAILS(read(strict, buffer, 4), EMSGSIZE);
	EQ(memcmp(buffer, "--------", 8), 0);
	EQ(message_info(two).queued, 2);
	EQ(polled(strict, POLLIN), POLLIN);
	receive_text(strict, "first");
	FAILS(read(strict, buffer, 4), EMSGSIZE);
	/* It stayed in the queue, for others too. */
	receive_text(two, "second");
	FAILS(read(strict, buffer, 4), EAGAIN);
	/* A buffer of just the right size is not too short. */
	send_text(two, "right");
	EQ(read(strict, buffer, 5), 5);
	/* And back. */
	EQ(message_flags(strict, 0), 0);
	EQ(message_info(strict).flags, 0);
	send_text(two, "parts");
	EQ(read(strict, buffer, 3), 3);
	receive_text(strict, "ts");
}

CASE(strict_does_not_wait_when_short)
{
	int fd = message_open(0, O_RDWR);

	EQ(message_flags(fd, FURLONG_MESSAGE_STRICT), 0);
	send_text(fd, "long");
	FAILS(read(fd, buffer, 1), EMSGSIZE);
	receive_text(fd, "long");
}

CASE(rest_survives_strict)
{
	int fd = message_open(0, MODE_RDWR);

	send_text(fd, "abcdef");
	EQ(read(fd, buffer, 2), 2);
	EQ(message_flags(fd, FURLONG_MESSAGE_STRICT), 0);
	receive_text(fd, "cdef");
}

CASE(write_from_bad_memory)
{
	int fd = message_open(0, MODE_RDWR);
	uint64_t sent = message_info(fd).sent;
	struct iovec parts[2] = { { "good", 4 }, { bad_pointer, 4 } };

	FAILS(write(fd, bad_pointer, 16), EFAULT);
	FAILS(write(fd, null_pointer, 1), EFAULT);
	/* Half of it can be read, half not. */
	FAILS(write(fd, before_hole(100), 200), EFAULT);
	FAILS(write(fd, before_hole(4096), SIZE), EFAULT);
	FAILS(writev(fd, parts, 2), EFAULT);
	EQ(message_info(fd).queued, 0);
	EQ(message_info(fd).queued_bytes, 0);
	EQ(message_info(fd).sent, sent);
	FAILS(read(fd, buffer, 1), EAGAIN);
	send_text(fd, "well");
	receive_text(fd, "well");
}

CASE(read_to_bad_memory)
{
	int fd = message_open(0, MODE_RDWR);

	send_text(fd, "first");
	send_text(fd, "second");
	FAILS(read(fd, bad_pointer, 16), EFAULT);
	FAILS(read(fd, null_pointer, 2), EFAULT);
	FAILS(read(fd, before_hole(0), 16), EFAULT);
	EQ(polled(fd, POLLIN), POLLIN);
	receive_text(fd, "first");
	receive_text(fd, "second");
	FAILS(read(fd, buffer, 1), EAGAIN);
}

CASE(unread_message_is_not_lost)
{
	int one = message_open(0, MODE_RDWR), two = message_open(0, MODE_RDWR);

	send_text(one, "first");
	send_text(one, "second");
	FAILS(read(one, bad_pointer, 16), EFAULT);
	/* Nothing of it was read: closing must not throw it away. */
	close(one);
	receive_text(two, "first");
	receive_text(two, "second");
}

CASE(read_to_memory_with_a_hole)
{
	int fd = message_open(0, MODE_RDWR);
	size_t length = 6000, got = 0;
	ssize_t part;
	char *short_memory = before_hole(1000);

	parcel_make(other, 3, 4, length);
	EQ(write(fd, other, length), length);
	send_text(fd, "next");
	/*
	 * Either the part that fitted was received and the rest stays, or
	 * nothing was and all stays: together it is the message, once.
	 */
	part = read(fd, short_memory, length);
	if (part == -1) {
		if (errno != EFAULT)
			FAIL("read into memory with a hole");
	} else {
		OK(part > 0 && part <= 1000);
		memcpy(buffer, short_memory, part);
		got = part;
	}
	part = read(fd, buffer + got, sizeof(buffer) - got);
	EQ(part, length - got);
	EQ(parcel_check(buffer, length), 0);
	receive_text(fd, "next");
}

CASE(rest_to_bad_memory)
{
	int fd = message_open(0, MODE_RDWR);

	send_text(fd, "abcdef");
	EQ(read(fd, buffer, 2), 2);
	FAILS(read(fd, bad_pointer, 16), EFAULT);
	FAILS(read(fd, bad_pointer, 1), EFAULT);
	receive_text(fd, "cdef");
}

CASE(strict_to_bad_memory)
{
	int fd = message_open(0, MODE_RDWR), two = message_open(0, MODE_RDWR);

	EQ(message_flags(fd, FURLONG_MESSAGE_STRICT), 0);
	parcel_make(other, 1, 1, 100);
	EQ(write(fd, other, 100), 100);
	FAILS(read(fd, bad_pointer, 100), EFAULT);
	/* No message is read in parts: not even up to the hole. */
	FAILS(read(fd, before_hole(50), 100), EFAULT);
	close(fd);
	EQ(read(two, buffer, SIZE), 100);
	EQ(parcel_check(buffer, 100), 0);
}

CASE(nothing_beyond_is_written)
{
	int fd = message_open(0, MODE_RDWR);
	size_t i;

	memset(buffer, 0x5a, 4096);
	send_text(fd, "five!");
	EQ(read(fd, buffer, 4096), 5);
	for (i = 5; i < 4096; i++)
		EQ(buffer[i], 0x5a);
}

CASE(nowait_flag)
{
	int fd = message_open(0, O_RDWR);
	struct iovec part = { "word", 4 }, into = { buffer, 100 };

	/* On a blocking descriptor: only these calls do not wait. */
	FAILS(preadv2(fd, &into, 1, -1, RWF_NOWAIT), EAGAIN);
	EQ(pwritev2(fd, &part, 1, -1, RWF_NOWAIT), 4);
	EQ(preadv2(fd, &into, 1, -1, RWF_NOWAIT), 4);
	EQ(memcmp(buffer, "word", 4), 0);
	EQ(message_fill(0), DEPTH);
	FAILS(pwritev2(fd, &part, 1, -1, RWF_NOWAIT), EAGAIN);
	EQ(message_info(fd).queued, DEPTH);
}

CASE(info_is_exact)
{
	int fd = message_open(1, MODE_RDWR), two, copy;
	struct furlong_message_info before = message_info(fd), now;

	EQ(before.abi, FURLONG_ABI);
	EQ(before.channel, 1);
	EQ(before.depth, DEPTH);
	EQ(before.size, SIZE);
	EQ(before.queued, 0);
	EQ(before.openers, 1);
	EQ(before.flags, 0);
	EQ(before.reserved, 0);
	EQ(before.queued_bytes, 0);
	EQ(before.sent, before.received + before.discarded);

	two = message_open(1, O_RDONLY);
	copy = dup(two);
	EQ(message_info(fd).openers, 2);
	close(two);
	EQ(message_info(fd).openers, 2);
	close(copy);
	EQ(message_info(fd).openers, 1);

	EQ(write(fd, buffer, 100), 100);
	EQ(write(fd, buffer, 23), 23);
	EQ(write(fd, buffer, 1), 1);
	FAILS(write(fd, buffer, SIZE + 1), EMSGSIZE);
	now = message_info(fd);
	EQ(now.queued, 3);
	EQ(now.queued_bytes, 124);
	EQ(now.sent - before.sent, 3);
	EQ(now.received - before.received, 0);

	EQ(read(fd, buffer, 10), 10);
	now = message_info(fd);
	EQ(now.queued, 2);
	EQ(now.queued_bytes, 24);
	EQ(now.received - before.received, 1);
	EQ(read(fd, buffer, 100), 90);
	now = message_info(fd);
	EQ(now.queued, 2);
	EQ(now.received - before.received, 1);

	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	now = message_info(fd);
	EQ(now.queued, 0);
	EQ(now.queued_bytes, 0);
	EQ(now.sent - before.sent, 3);
	EQ(now.received - before.received, 1);
	EQ(now.discarded - before.discarded, 2);
}

CASE(info_of_any_descriptor)
{
	struct furlong_message_info info;

	EQ(ioctl(message_open(2, O_RDONLY), FURLONG_MESSAGE_INFO, &info), 0);
	EQ(ioctl(message_open(2, O_WRONLY), FURLONG_MESSAGE_INFO, &info), 0);
	EQ(info.channel, 2);
	EQ(info.openers, 2);
}

CASE(limits_hold)
{
	int fd = message_open(0, MODE_RDWR);

	EQ(message_limits(fd, 2, 16), 0);
	EQ(message_info(fd).depth, 2);
	EQ(message_info(fd).size, 16);
	FAILS(write(fd, buffer, 17), EMSGSIZE);
	EQ(write(fd, buffer, 16), 16);
	EQ(write(fd, buffer, 16), 16);
	FAILS(write(fd, buffer, 16), EAGAIN);
	EQ(polled(fd, POLLIN | POLLOUT), POLLIN);
	/* They are of the channel, not of the descriptor or its opener. */
	close(fd);
	fd = message_open(0, MODE_RDWR);
	EQ(message_info(fd).depth, 2);
	EQ(message_info(fd).queued, 2);
	EQ(message_info(message_open(1, O_RDONLY)).depth, DEPTH);
}

CASE(limits_of_one)
{
	int fd = message_open(0, MODE_RDWR), i;

	EQ(message_limits(fd, 1, 1), 0);
	for (i = 0; i < 100; i++) {
		EQ(write(fd, "xy", 1), 1);
		FAILS(write(fd, "xy", 1), EAGAIN);
		FAILS(write(fd, "xy", 2), EMSGSIZE);
		EQ(read(fd, buffer, 2), 1);
	}
}

CASE(limits_of_a_megabyte)
{
	int fd = message_open(0, MODE_RDWR);

	EQ(message_limits(fd, 3, FURLONG_MESSAGE_SIZE_MAX), 0);
	parcel_make(other, 1, 2, FURLONG_MESSAGE_SIZE_MAX);
	EQ(write(fd, other, FURLONG_MESSAGE_SIZE_MAX), FURLONG_MESSAGE_SIZE_MAX);
	FAILS(write(fd, other, FURLONG_MESSAGE_SIZE_MAX + 1), EMSGSIZE);
	EQ(read(fd, buffer, sizeof(buffer)), FURLONG_MESSAGE_SIZE_MAX);
	EQ(parcel_check(buffer, FURLONG_MESSAGE_SIZE_MAX), 0);
}

CASE(limits_of_65536)
{
	int fd = message_open(0, MODE_RDWR);

	EQ(message_limits(fd, FURLONG_MESSAGE_DEPTH_MAX, 4), 0);
	EQ(message_fill(0), FURLONG_MESSAGE_DEPTH_MAX);
	EQ(message_info(fd).queued_bytes, 4 * FURLONG_MESSAGE_DEPTH_MAX);
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	EQ(message_info(fd).queued_bytes, 0);
}

CASE(limits_that_are_none)
{
	int fd = message_open(0, MODE_RDWR);
	struct furlong_message_limits limits = { .depth = 2, .size = 2 };

	FAILS(message_limits(fd, 0, 16), EINVAL);
	FAILS(message_limits(fd, 16, 0), EINVAL);
	FAILS(message_limits(fd, FURLONG_MESSAGE_DEPTH_MAX + 1, 1), EINVAL);
	FAILS(message_limits(fd, 1, FURLONG_MESSAGE_SIZE_MAX + 1), EINVAL);
	FAILS(message_limits(fd, ~0U, ~0U), EINVAL);
	limits.reserved[0] = 1;
	FAILS(ioctl(fd, FURLONG_MESSAGE_LIMITS, &limits), EINVAL);
	limits.reserved[0] = 0;
	limits.reserved[1] = 1;
	FAILS(ioctl(fd, FURLONG_MESSAGE_LIMITS, &limits), EINVAL);
	FAILS(ioctl(fd, FURLONG_MESSAGE_LIMITS, NULL), EFAULT);
	EQ(message_info(fd).depth, DEPTH);
	EQ(message_info(fd).size, SIZE);
}

CASE(limits_of_a_queue_in_use)
{
	int fd = message_open(0, MODE_RDWR);

	EQ(write(fd, buffer, 10), 10);
	EQ(write(fd, buffer, 100), 100);
	EQ(write(fd, buffer, 20), 20);
	/* More messages, or more bytes than so many of that size. */
	FAILS(message_limits(fd, 2, SIZE), EBUSY);
	FAILS(message_limits(fd, 3, 43), EBUSY);
	EQ(message_info(fd).depth, DEPTH);
	EQ(message_info(fd).size, SIZE);
	EQ(message_limits(fd, 3, 44), 0);
	FAILS(write(fd, buffer, 10), EAGAIN);
	/* Messages sent before are received whole. */
	EQ(read(fd, buffer, SIZE), 10);
	FAILS(write(fd, buffer, 45), EMSGSIZE);
	EQ(write(fd, buffer, 44), 44);
	EQ(read(fd, buffer, SIZE), 100);
	EQ(read(fd, buffer, SIZE), 20);
	FAILS(message_limits(fd, 1, 43), EBUSY);
	EQ(message_limits(fd, 1, 44), 0);
	EQ(read(fd, buffer, SIZE), 44);
	EQ(message_limits(fd, 1, 1), 0);
}

CASE(limits_of_all_memory)
{
	int one = message_open(0, MODE_RDWR), two = message_open(1, MODE_RDWR);

	FAILS(message_limits(one, FURLONG_MESSAGE_DEPTH_MAX,
			     FURLONG_MESSAGE_SIZE_MAX), ENOSPC);
	FAILS(message_limits(one, MEMORY_MAX / SIZE, SIZE), ENOSPC);
	EQ(message_info(one).depth, DEPTH);
	/* What one channel has, another cannot have. */
	EQ(message_limits(one, 30, 1 << 20), 0);
	FAILS(message_limits(two, 34, 1 << 20), ENOSPC);
	EQ(message_info(two).depth, DEPTH);
	EQ(message_info(two).size, SIZE);
	EQ(message_limits(one, DEPTH, SIZE), 0);
	EQ(message_limits(two, 34, 1 << 20), 0);
}

CASE(limits_need_writing)
{
	int fd = message_open(0, O_RDONLY);

	FAILS(message_limits(fd, 2, 16), EBADF);
	EQ(message_info(fd).depth, DEPTH);
	EQ(message_limits(message_open(0, O_WRONLY), 2, 16), 0);
	EQ(message_info(fd).depth, 2);
}

CASE(reset_throws_away)
{
	int fd = message_open(0, MODE_RDWR);

	send_text(fd, "in parts");
	EQ(read(fd, buffer, 3), 3);
	EQ(message_fill(0), DEPTH - 1);
	EQ(polled(fd, POLLOUT), 0);
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
	EQ(polled(fd, POLLOUT), POLLOUT);
	/* Reset discards the queue, but not the rest of a partially read message. */
	receive_text(fd, "parts");
	FAILS(read(fd, buffer, 1), EAGAIN);
	EQ(ioctl(fd, FURLONG_MESSAGE_RESET), 0);
}

CASE(reset_needs_both)
{
	int fd = message_open(0, O_RDONLY);

	EQ(message_fill(0), DEPTH);
	FAILS(ioctl(fd, FURLONG_MESSAGE_RESET), EBADF);
	FAILS(ioctl(message_open(0, O_WRONLY), FURLONG_MESSAGE_RESET), EBADF);
	EQ(message_info(fd).queued, DEPTH);
}

CASE(unknown_flags)
{
	int fd = message_open(0, MODE_RDWR);
	unsigned int bit;

	EQ(message_flags(fd, FURLONG_MESSAGE_STRICT), 0);
	for (bit = 2; bit < 32; bit++) {
		FAILS(message_flags(fd, 1U << bit), EINVAL);
		FAILS(message_flags(fd, 1U << bit | FURLONG_MESSAGE_STRICT),
		      EINVAL);
		FAILS(message_flags(fd, 1U << bit | FURLONG_MESSAGE_TRANSIENT),
		      EINVAL);
	}
	FAILS(ioctl(fd, FURLONG_MESSAGE_FLAGS, null_pointer), EFAULT);
	FAILS(ioctl(fd, FURLONG_MESSAGE_FLAGS, bad_pointer), EFAULT);
	EQ(message_info(fd).flags, FURLONG_MESSAGE_STRICT);
}

CASE(transient_leaves_nothing)
{
	int fd = message_open(0, MODE_RDWR), two = message_open(0, O_RDONLY);
	struct furlong_message_info before = message_info(fd), now;

	EQ(message_limits(fd, 200, 100), 0);
	EQ(message_flags(fd, FURLONG_MESSAGE_TRANSIENT), 0);
	/* It is the channel's: others see it, and clearing it is not possible. */
	EQ(message_info(two).flags, FURLONG_MESSAGE_TRANSIENT);
	EQ(message_flags(fd, FURLONG_MESSAGE_STRICT), 0);
	EQ(message_info(fd).flags,
	   FURLONG_MESSAGE_TRANSIENT | FURLONG_MESSAGE_STRICT);
	send_text(fd, "one");
	send_text(fd, "two");
	close(fd);
	/* A process still has it open. */
	now = message_info(two);
	EQ(now.queued, 2);
	EQ(now.depth, 200);
	EQ(now.size, 100);
	close(two);
	fd = message_open(0, MODE_RDWR);
	now = message_info(fd);
	EQ(now.flags, 0);
	EQ(now.queued, 0);
	EQ(now.queued_bytes, 0);
	EQ(now.depth, DEPTH);
	EQ(now.size, SIZE);
	EQ(now.discarded - before.discarded, 2);
	FAILS(read(fd, buffer, 1), EAGAIN);
	/* It was for that time only. */
	send_text(fd, "stays");
	close(fd);
	fd = message_open(0, MODE_RDWR);
	receive_text(fd, "stays");
}

CASE(transient_goes_with_a_killed_process)
{
	int fds[2], fd;
	pid_t pid;

	EQ(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		fd = message_open(0, O_RDWR);
		EQ(message_flags(fd, FURLONG_MESSAGE_TRANSIENT), 0);
		message_fill(0);
		EQ(write(fds[1], "x", 1), 1);
		pause();
	}
	EQ(read(fds[0], buffer, 1), 1);
	tap_kill(pid);
	fd = message_open(0, MODE_RDWR);
	EQ(message_info(fd).queued, 0);
	EQ(message_info(fd).flags, 0);
}

CASE(transient_needs_both)
{
	FAILS(message_flags(message_open(0, O_RDONLY),
			    FURLONG_MESSAGE_TRANSIENT), EBADF);
	FAILS(message_flags(message_open(0, O_WRONLY),
			    FURLONG_MESSAGE_TRANSIENT), EBADF);
	EQ(message_info(message_open(0, O_RDWR)).flags, 0);
	/* The flag of a descriptor does not. */
	EQ(message_flags(message_open(0, O_RDONLY), FURLONG_MESSAGE_STRICT), 0);
	EQ(message_flags(message_open(0, O_WRONLY), FURLONG_MESSAGE_STRICT), 0);
}

CASE(flags_go_with_the_descriptor)
{
	int fd = message_open(0, MODE_RDWR), copy = dup(fd);

	EQ(message_flags(copy, FURLONG_MESSAGE_STRICT), 0);
	EQ(message_info(fd).flags, FURLONG_MESSAGE_STRICT);
	close(fd);
	close(copy);
	EQ(message_info(message_open(0, MODE_RDWR)).flags, 0);
}

CASE(unknown_ioctls)
{
	int fd = message_open(0, MODE_RDWR);
	unsigned int number;

	for (number = 4; number < 256; number++) {
		FAILS(ioctl(fd, _IO(FURLONG_IOC_MAGIC, number), buffer), ENOTTY);
		FAILS(ioctl(fd, _IOWR(FURLONG_IOC_MAGIC, number, uint64_t),
			    buffer), ENOTTY);
	}
	FAILS(ioctl(fd, FURLONG_SHM_INFO, buffer), ENOTTY);
	FAILS(ioctl(fd, FURLONG_SHM_RESIZE, buffer), ENOTTY);
	FAILS(ioctl(fd, FURLONG_SHM_RING, buffer), ENOTTY);
	FAILS(ioctl(fd, FURLONG_SHM_WATCH, buffer), ENOTTY);
	/* The right number with another size, direction or magic. */
	FAILS(ioctl(fd, _IOR(FURLONG_IOC_MAGIC, 0, uint32_t), buffer), ENOTTY);
	FAILS(ioctl(fd, _IOW(FURLONG_IOC_MAGIC, 0, struct furlong_message_info),
		    buffer), ENOTTY);
	FAILS(ioctl(fd, _IOR('f', 0, struct furlong_message_info), buffer),
	      ENOTTY);
	FAILS(ioctl(fd, 0x5401 /* TCGETS */, buffer), ENOTTY);
	FAILS(ioctl(fd, FURLONG_MESSAGE_INFO, bad_pointer), EFAULT);
}

CASE(queue_outlives_its_users)
{
	int fd = message_open(3, O_WRONLY);

	send_text(fd, "left");
	send_text(fd, "behind");
	close(fd);
	tap_pause(10000);
	fd = message_open(3, MODE_RDWR);
	EQ(message_info(fd).openers, 1);
	EQ(message_info(fd).queued, 2);
	receive_text(fd, "left");
	close(fd);
	fd = message_open(3, O_RDONLY | O_NONBLOCK);
	receive_text(fd, "behind");
	FAILS(read(fd, buffer, 1), EAGAIN);
}

CASE(cannot_be_mapped)
{
	int fd = message_open(0, O_RDWR);

	OK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	OK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED);
}

CASE(shell_open_flags)
{
	int fd = message_open(0, O_WRONLY);

	/* What a shell adds for ">" and ">>" changes nothing. */
	send_text(fd, "before");
	fd = message_open(0, O_WRONLY | O_CREAT | O_TRUNC);
	send_text(fd, "created");
	fd = message_open(0, O_WRONLY | O_APPEND);
	send_text(fd, "appended");
	fd = message_open(0, MODE_RDWR);
	receive_text(fd, "before");
	receive_text(fd, "created");
	receive_text(fd, "appended");
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv, devices_clean);
}
