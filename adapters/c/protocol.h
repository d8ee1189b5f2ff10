/*
 * furlong's adapter protocol, version 1: the conversation, the stamps and the loops.
 *
 * A program passes its row to run(): the name from the manifest, the shape and the claims as JSON, and four
 * functions. Functions of type int return 0, or -1 with errno. An errno of 0 means that the other end has closed the
 * connection.
 */
#ifndef FURLONG_PROTOCOL_H
#define FURLONG_PROTOCOL_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* Maximum distance of a number that still counts as another message's. A larger distance counts as corruption. */
enum { NEAR = 64 };

enum role { INITIATOR, RESPONDER, BOTH };

/* Set-up of one role, as furlong requests it. */
struct set_up {
	enum role role;
	bool one_way;
	char pattern[16], wait[16];
	size_t sizes[2];
	size_t own_size, other_size;
	uint64_t own_stamp, other_stamp;
	char folder[4096], name[256];
};

struct row {
	const char *name, *wait, *shape, *claims;
	int (*open_end)(const struct set_up *set_up);
	int (*send)(const unsigned char *message, size_t size);
	/* Returns the number of received bytes, or -1 with errno. */
	ssize_t (*receive)(unsigned char *message, size_t size);
	void (*close_end)(void);
};

/* Stamps */

static inline uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Converts between a word and its byte order in a message, which is little-endian. */
static inline uint64_t little_endian(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(word);
#else
	return word;
#endif
}

static inline uint64_t stamp_head(uint64_t stamp, uint32_t number)
{
	return little_endian(number | (uint64_t)(number ^ (uint32_t)(stamp >> 32)) << 32);
}

static inline uint64_t stamp_tail(uint64_t stamp, uint32_t number)
{
	return little_endian((stamp << 17 | stamp >> 47) ^ number);
}

/* Writes the first and the last bytes of a message. */
static inline void stamp_write(uint64_t stamp, unsigned char *message, size_t size, uint32_t number)
{
	uint64_t head = stamp_head(stamp, number), tail = stamp_tail(stamp, number);

	memcpy(message, &head, size < 8 ? size : 8);
	if (size >= 16)
		memcpy(message + size - 8, &tail, 8);
}

/* Writes every byte of a message. */
static inline void stamp_write_all(uint64_t stamp, unsigned char *message, size_t size, uint32_t number)
{
	uint64_t key = stamp + ((uint64_t)number << 32);

	for (size_t at = 0; at < size; at += 8) {
		uint64_t word = little_endian(mix(key ^ at / 8 * 0x9e3779b97f4a7c15u));

		memcpy(message + at, &word, size - at < 8 ? size - at : 8);
	}
	stamp_write(stamp, message, size, number);
}

static inline bool stamp_head_holds(uint64_t stamp, const unsigned char *message, size_t size, uint32_t number)
{
	uint64_t head = stamp_head(stamp, number);

	return memcmp(message, &head, size < 8 ? size : 8) == 0;
}

/* Returns whether the first and the last bytes are those of the message with this number. */
static inline bool stamp_holds(uint64_t stamp, const unsigned char *message, size_t size, uint32_t number)
{
	uint64_t tail = stamp_tail(stamp, number);

	return stamp_head_holds(stamp, message, size, number) &&
	       (size < 16 || memcmp(message + size - 8, &tail, 8) == 0);
}

/* A fault of a message. */
struct failure {
	const char *fault;
	char detail[200];
};

/* Describes what happened to a received message that differs from `sent`, the message with this number. */
static inline void explain(uint64_t stamp, const unsigned char *message, const unsigned char *sent, size_t size,
			   uint32_t number, struct failure *failure)
{
	size_t at = 0;

	for (uint32_t off = 1; off <= NEAR && !stamp_head_holds(stamp, message, size, number); off++) {
		if (stamp_head_holds(stamp, message, size, number + off)) {
			failure->fault = "lost";
			snprintf(failure->detail, sizeof(failure->detail),
				 "message %" PRIu32 " arrived instead of %" PRIu32 ", which was lost", number + off, number);
			return;
		}
		if (stamp_head_holds(stamp, message, size, number - off)) {
			failure->fault = "repeated";
			snprintf(failure->detail, sizeof(failure->detail),
				 "message %" PRIu32 " arrived again instead of %" PRIu32, number - off, number);
			return;
		}
	}
	while (at < size && message[at] == sent[at])
		at++;
	failure->fault = "flipped";
	snprintf(failure->detail, sizeof(failure->detail),
		 "message %" PRIu32 " differs from the sent message, first at byte %zu", number, at);
}

/* Loops */

/* An end of the link, with its messages. */
struct work {
	const struct row *row;
	struct set_up set_up;
	unsigned char *outgoing, *incoming, *sent;
	uint64_t done, *readings;
	size_t taken;
	bool verify;
	struct failure failure;
};

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void write_message(struct work *work, uint64_t number)
{
	if (work->verify)
		stamp_write_all(work->set_up.own_stamp, work->outgoing, work->set_up.own_size, (uint32_t)number);
	else
		stamp_write(work->set_up.own_stamp, work->outgoing, work->set_up.own_size, (uint32_t)number);
}

/* Checks a message of which `received` bytes arrived. */
static inline int check_message(struct work *work, size_t received, uint64_t number)
{
	uint64_t stamp = work->set_up.other_stamp;
	size_t size = work->set_up.other_size;

	if (received == size && stamp_holds(stamp, work->incoming, size, (uint32_t)number)) {
		if (!work->verify)
			return 0;
		stamp_write_all(stamp, work->sent, size, (uint32_t)number);
		if (memcmp(work->incoming, work->sent, size) == 0)
			return 0;
	} else {
		memcpy(work->sent, work->incoming, size);
		stamp_write(stamp, work->sent, size, (uint32_t)number);
	}
	if (received != size) {
		work->failure.fault = "truncated";
		snprintf(work->failure.detail, sizeof(work->failure.detail),
			 "message %" PRIu64 " has %zu bytes instead of %zu", number, received, size);
	} else {
		explain(stamp, work->incoming, work->sent, size, (uint32_t)number, &work->failure);
	}
	return -1;
}

static inline int call_failed(struct work *work, const char *call)
{
	work->failure.fault = "error";
	snprintf(work->failure.detail, sizeof(work->failure.detail), "%s: %s", call,
		 errno ? strerror(errno) : "the peer has disconnected");
	return -1;
}

static inline int send_message(struct work *work)
{
	if (work->row->send(work->outgoing, work->set_up.own_size) < 0)
		return call_failed(work, "send");
	return 0;
}

static inline ssize_t receive_message(struct work *work)
{
	ssize_t received = work->row->receive(work->incoming, work->set_up.other_size);

	return received < 0 ? call_failed(work, "receive") : received;
}

static inline int initiate(struct work *work, uint64_t first, uint64_t last, uint64_t batch)
{
	uint64_t in_batch = batch;
	ssize_t received = 0;

	write_message(work, first);
	work->readings[work->taken++] = now_ns();
	for (uint64_t number = first; number <= last; number++) {
		if (send_message(work) < 0)
			return -1;
		if (number > first && check_message(work, (size_t)received, number - 1) < 0)
			return -1;
		write_message(work, number + 1);
		received = receive_message(work);
		if (received < 0)
			return -1;
		if (--in_batch == 0) {
			work->readings[work->taken++] = now_ns();
			in_batch = batch;
		}
	}
	return check_message(work, (size_t)received, last);
}

static inline int respond(struct work *work, uint64_t first, uint64_t last)
{
	write_message(work, first);
	for (uint64_t number = first; number <= last; number++) {
		ssize_t received = receive_message(work);

		if (received < 0 || send_message(work) < 0 || check_message(work, (size_t)received, number) < 0)
			return -1;
		write_message(work, number + 1);
	}
	return 0;
}

static inline int send_all(struct work *work, uint64_t first, uint64_t last)
{
	work->readings[work->taken++] = now_ns();
	for (uint64_t number = first; number <= last; number++) {
		write_message(work, number);
		if (send_message(work) < 0)
			return -1;
	}
	return 0;
}

/* Receives the messages of a one-way pattern. A role that is alone sends each message first. */
static inline int receive_all(struct work *work, uint64_t first, uint64_t last, uint64_t batch, bool alone)
{
	uint64_t in_batch = batch;

	if (alone)
		work->readings[work->taken++] = now_ns();
	for (uint64_t number = first; number <= last; number++) {
		ssize_t received;

		if (alone) {
			write_message(work, number);
			if (send_message(work) < 0)
				return -1;
		}
		received = receive_message(work);
		if (received < 0 || check_message(work, (size_t)received, number) < 0)
			return -1;
		if (--in_batch == 0) {
			work->readings[work->taken++] = now_ns();
			in_batch = batch;
		}
	}
	return 0;
}

/* Exchanges messages. */
static inline int exchange(struct work *work, uint64_t messages, uint64_t batch, bool verify)
{
	uint64_t first = work->done + 1, last = work->done + messages, every = batch ? batch : messages;
	enum role role = work->set_up.role;
	int result;

	free(work->readings);
	work->readings = malloc((messages / every + 1) * sizeof(*work->readings));
	if (!work->readings)
		return call_failed(work, "malloc");
	/* Touches all pages, so that the measured loop causes no page fault. */
	memset(work->readings, 0, (messages / every + 1) * sizeof(*work->readings));
	work->taken = 0;
	work->verify = verify;
	if (work->set_up.one_way)
		result = role == INITIATOR ? send_all(work, first, last)
					   : receive_all(work, first, last, every, role == BOTH);
	else
		result = role == RESPONDER ? respond(work, first, last) : initiate(work, first, last, every);
	work->done = last;
	if (!batch)
		work->taken = 0;
	return result;
}

/* The conversation */

/*
 * Returns the start of a key's value in a line of JSON. Quotes within a text are escaped, so no text looks like a
 * key.
 */
static inline const char *value_of(const char *line, const char *key)
{
	char quoted[32];
	const char *at = line;

	snprintf(quoted, sizeof(quoted), "\"%s\"", key);
	while ((at = strstr(at, quoted))) {
		at += strlen(quoted);
		at += strspn(at, " \t");
		if (*at == ':')
			return at + 1 + strspn(at + 1, " \t");
	}
	return NULL;
}

/*
 * Copies the text that begins at `at`, and returns the position after it. Non-ASCII characters are copied unchanged.
 */
static inline const char *copy_text(const char *at, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	if (!at || !(at = strchr(at, '"')))
		return NULL;
	for (at++; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		if (length + 1 < size)
			text[length++] = *at;
	}
	text[length] = '\0';
	return at + 1;
}

static inline uint64_t number_of(const char *line, const char *key)
{
	const char *value = value_of(line, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* Parses a set-up request. */
static inline void read_set_up(const char *line, struct set_up *set_up)
{
	char role[16], word[24];
	const char *at;
	uint64_t stamps[2];

	memset(set_up, 0, sizeof(*set_up));
	copy_text(value_of(line, "role"), role, sizeof(role));
	copy_text(value_of(line, "pattern"), set_up->pattern, sizeof(set_up->pattern));
	copy_text(value_of(line, "wait"), set_up->wait, sizeof(set_up->wait));
	copy_text(value_of(line, "folder"), set_up->folder, sizeof(set_up->folder));
	copy_text(value_of(line, "name"), set_up->name, sizeof(set_up->name));
	set_up->one_way = strcmp(set_up->pattern, "one-way") == 0;
	at = value_of(line, "sizes_bytes");
	for (int way = 0; at && way < 2; way++) {
		at += strcspn(at, "0123456789");
		set_up->sizes[way] = strtoull(at, (char **)&at, 10);
	}
	at = value_of(line, "stamps");
	for (int way = 0; way < 2; way++) {
		at = copy_text(at, word, sizeof(word));
		stamps[way] = strtoull(word, NULL, 16);
	}
	set_up->role = strcmp(role, "both") == 0 ? BOTH : strcmp(role, "responder") == 0 ? RESPONDER : INITIATOR;
	int own = set_up->role == RESPONDER, other = set_up->role == INITIATOR;

	set_up->own_size = set_up->sizes[own];
	set_up->other_size = set_up->sizes[other];
	set_up->own_stamp = stamps[own];
	set_up->other_stamp = stamps[other];
}

/* Returns why a row does not support the request, or NULL if it does. */
static inline const char *refusal(const struct row *row, const struct set_up *set_up)
{
	if (strcmp(set_up->wait, row->wait) != 0)
		return "it cannot wait in this way";
	if (!set_up->one_way && strcmp(set_up->pattern, "round-trip") != 0 && strcmp(set_up->pattern, "request") != 0)
		return "it has no such pattern";
	if (!set_up->own_size || !set_up->other_size)
		return "a message has at least one byte";
	return NULL;
}

static inline int set_up_work(struct work *work, const char *line)
{
	struct set_up *set_up = &work->set_up;
	const char *why;

	read_set_up(line, set_up);
	why = refusal(work->row, set_up);
	if (why) {
		work->failure.fault = "unsupported";
		snprintf(work->failure.detail, sizeof(work->failure.detail), "%s", why);
		return -1;
	}
	work->outgoing = calloc(1, set_up->own_size);
	work->incoming = calloc(1, set_up->other_size);
	work->sent = calloc(1, set_up->other_size);
	if (!work->outgoing || !work->incoming || !work->sent)
		return call_failed(work, "malloc");
	/* Touches all pages, so that the measured loop causes no page fault. */
	memset(work->outgoing, 1, set_up->own_size);
	memset(work->incoming, 1, set_up->other_size);
	if (work->row->open_end(set_up) < 0)
		return call_failed(work, "open");
	return 0;
}

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "GCC"
#endif

/* Answers furlong's requests until there are no more, and returns the exit status. */
static inline int run(const struct row *row)
{
	const char *read_path = getenv("FURLONG_READ"), *write_path = getenv("FURLONG_WRITE");
	FILE *requests = read_path ? fopen(read_path, "re") : NULL;
	FILE *replies = write_path ? fopen(write_path, "we") : NULL;
	struct work work = { .row = row };
	bool is_open = false, finished = false;
	char *line = NULL, op[16];
	size_t room = 0;

	if (!requests || !replies) {
		perror("FURLONG_READ and FURLONG_WRITE");
		return 2;
	}
	while (!finished && getline(&line, &room, requests) >= 0) {
		int result = 0;

		copy_text(value_of(line, "op"), op, sizeof(op));
		if (strcmp(op, "hello") == 0) {
			fprintf(replies,
				"{\"op\":\"hello\",\"protocol\":1,\"name\":\"%s\",\"versions\":{\"" COMPILER "\":\"%s\"},"
				"\"clock_ns\":%" PRIu64 ",\"shape\":\"%s\",\"claims\":{\"waits\":[\"%s\"],%s}}\n",
				row->name, __VERSION__, now_ns(), row->shape, row->wait, row->claims);
		} else if (strcmp(op, "set-up") == 0) {
			result = set_up_work(&work, line);
			is_open = result == 0;
			if (is_open)
				fprintf(replies,
					"{\"op\":\"ready\",\"effective\":{\"pattern\":\"%s\",\"wait\":\"%s\","
					"\"sizes_bytes\":[%zu,%zu]},\"processes\":[]}\n",
					work.set_up.pattern, work.set_up.wait, work.set_up.sizes[0], work.set_up.sizes[1]);
		} else if (strcmp(op, "exchange") == 0 && is_open) {
			uint64_t messages = number_of(line, "messages");
			const char *verify = value_of(line, "verify");
			bool verifies = verify && *verify == 't';
			bool receives = !work.set_up.one_way || work.set_up.role != INITIATOR;

			result = exchange(&work, messages, number_of(line, "batch"), verifies);
			if (result == 0)
				fprintf(replies, "{\"op\":\"exchanged\",\"messages\":%" PRIu64 ",\"verified\":%" PRIu64 "}\n",
					messages, verifies && receives ? messages : 0);
		} else if (strcmp(op, "readings") == 0) {
			fputs("{\"op\":\"readings\",\"clock_ns\":[", replies);
			for (size_t i = 0; i < work.taken; i++)
				fprintf(replies, "%s%" PRIu64, i ? "," : "", work.readings[i]);
			fputs("]}\n", replies);
		} else if (strcmp(op, "finish") == 0) {
			finished = true;
			if (is_open)
				row->close_end();
			is_open = false;
			fputs("{\"op\":\"finished\"}\n", replies);
		} else {
			work.failure.fault = "unsupported";
			snprintf(work.failure.detail, sizeof(work.failure.detail), "this request is not possible now");
			result = -1;
		}
		if (result < 0) {
			fprintf(replies, "{\"op\":\"error\",\"fault\":\"%s\",\"detail\":\"%s\"}\n", work.failure.fault,
				work.failure.detail);
			/*
			 * Flush the error before closing, because the other role may wait for a message that never
			 * arrives.
			 */
			fflush(replies);
			if (is_open)
				row->close_end();
			is_open = false;
		}
		fflush(replies);
	}
	if (is_open)
		row->close_end();
	return 0;
}

/* Functions for descriptors of byte streams. */

static inline int write_whole(int descriptor, const unsigned char *message, size_t size)
{
	while (size > 0) {
		ssize_t written = write(descriptor, message, size);

		if (written < 0)
			return -1;
		message += written;
		size -= (size_t)written;
	}
	return 0;
}

static inline ssize_t read_whole(int descriptor, unsigned char *message, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t more = read(descriptor, message + got, size - got);

		if (more <= 0) {
			if (more == 0)
				errno = 0;
			return -1;
		}
		got += (size_t)more;
	}
	return (ssize_t)got;
}

#endif
