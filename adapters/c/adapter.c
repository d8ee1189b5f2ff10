/* Benchmarks in C with plain system calls: the reference for adapters in other languages. */

#include "protocol.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* File descriptors of this end. */
static int to = -1, from = -1;

static int send_stream(const unsigned char *message, size_t size)
{
	return write_whole(to, message, size);
}

static ssize_t receive_stream(unsigned char *message, size_t size)
{
	return read_whole(from, message, size);
}

static void close_stream(void)
{
	close(to);
	if (from != to)
		close(from);
}

static int pause_ms(void)
{
	struct timespec millisecond = { .tv_nsec = 1000000 };

	return nanosleep(&millisecond, NULL);
}

static int open_socket(const struct set_up *set_up)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t length = (size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", set_up->folder);

	if (descriptor < 0)
		return -1;
	if (length >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (set_up->role == RESPONDER) {
		if (bind(descriptor, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(descriptor, 1) < 0)
			return -1;
		to = from = accept4(descriptor, NULL, NULL, SOCK_CLOEXEC);
		unlink(address.sun_path);
		close(descriptor);
		return to < 0 ? -1 : 0;
	}
	/* Retries until the other end listens. */
	while (connect(descriptor, (struct sockaddr *)&address, sizeof(address)) < 0)
		if ((errno != ENOENT && errno != ECONNREFUSED) || pause_ms() < 0)
			return -1;
	to = from = descriptor;
	return 0;
}

static int open_fifos(const struct set_up *set_up)
{
	char names[2][sizeof(set_up->folder) + 8];

	snprintf(names[0], sizeof(names[0]), "%s/there", set_up->folder);
	snprintf(names[1], sizeof(names[1]), "%s/back", set_up->folder);
	/*
	 * Either role may be first. Opening a FIFO blocks until the other end opens it, so both open the FIFOs in
	 * equal order.
	 */
	for (int way = 0; way < 2; way++)
		if (mkfifo(names[way], 0600) < 0 && errno != EEXIST)
			return -1;
	if (set_up->role == INITIATOR) {
		to = open(names[0], O_WRONLY | O_CLOEXEC);
		from = open(names[1], O_RDONLY | O_CLOEXEC);
	} else {
		from = open(names[0], O_RDONLY | O_CLOEXEC);
		to = open(names[1], O_WRONLY | O_CLOEXEC);
		unlink(names[0]);
		unlink(names[1]);
	}
	return to < 0 || from < 0 ? -1 : 0;
}

/* Destination of messages that have no receiver. */
static unsigned char *held;

static int open_null(const struct set_up *set_up)
{
	held = calloc(1, set_up->own_size);
	return held ? 0 : -1;
}

/* Hides from the compiler that no byte leaves the process; otherwise it would remove the copies. */
static void keep(const void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

static int send_null(const unsigned char *message, size_t size)
{
	memcpy(held, message, size);
	keep(held);
	return 0;
}

static ssize_t receive_null(unsigned char *message, size_t size)
{
	memcpy(message, held, size);
	keep(message);
	return (ssize_t)size;
}

static void close_null(void)
{
	free(held);
}

static const struct row rows[] = {
	{
		.name = "c-null",
		.wait = "spin",
		.shape = "self",
		.claims = "\"summary\":\"C's loop without a mechanism: the message is copied into private memory and out again\","
			  "\"when_full\":\"overwrites\",\"peer_death\":\"unnoticed\",\"reach\":\"fork\",\"alone\":true",
		.open_end = open_null,
		.send = send_null,
		.receive = receive_null,
		.close_end = close_null,
	},
	{
		.name = "c-fifo",
		.wait = "block",
		.shape = "pair",
		.claims = "\"summary\":\"a FIFO in each direction, with read and write\"",
		.open_end = open_fifos,
		.send = send_stream,
		.receive = receive_stream,
		.close_end = close_stream,
	},
	{
		.name = "c-unix-socket",
		.wait = "block",
		.shape = "pair",
		.claims = "\"summary\":\"a UNIX socket, with read and write\"",
		.open_end = open_socket,
		.send = send_stream,
		.receive = receive_stream,
		.close_end = close_stream,
	},
};

int main(int count, char **arguments)
{
	/* A closed peer must cause EPIPE instead of SIGPIPE. */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; count == 2 && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name + strlen("c-"), arguments[1]) == 0)
			return run(&rows[i]);
	fputs("give the name of a row: null, fifo or unix-socket\n", stderr);
	return 2;
}
