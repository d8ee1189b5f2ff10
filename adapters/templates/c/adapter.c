/* The row NAME: messages through a UNIX socket, as a starting point. protocol.h has the rest and needs no change. */

#include "protocol.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

static int descriptor = -1;

/* Connects both roles. Named objects are created in set_up->folder, or are named set_up->name. */
static int open_end(const struct set_up *set_up)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timespec millisecond = { .tv_nsec = 1000000 };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", set_up->folder);
	descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (set_up->role == RESPONDER) {
		int listener = descriptor;

		if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(listener, 1) < 0)
			return -1;
		descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		unlink(address.sun_path);
		close(listener);
		return descriptor < 0 ? -1 : 0;
	}
	/* Retries until the other end listens. */
	while (connect(descriptor, (struct sockaddr *)&address, sizeof(address)) < 0)
		if ((errno != ENOENT && errno != ECONNREFUSED) || nanosleep(&millisecond, NULL) < 0)
			return -1;
	return 0;
}

/* Only the next two functions are measured. */
static int send_whole(const unsigned char *message, size_t size)
{
	return write_whole(descriptor, message, size);
}

static ssize_t receive_whole(unsigned char *message, size_t size)
{
	return read_whole(descriptor, message, size);
}

/* Removes the created objects. */
static void close_end(void)
{
	close(descriptor);
}

static const struct row row = {
	.name = "NAME",
	.wait = "block",
	.shape = "pair",
	/* furlong's adapters/protocol.md lists the possible claims. */
	.claims = "\"summary\":\"a UNIX socket, with read and write\"",
	.open_end = open_end,
	.send = send_whole,
	.receive = receive_whole,
	.close_end = close_end,
};

int main(void)
{
	/* A closed peer must cause EPIPE instead of SIGPIPE. */
	signal(SIGPIPE, SIG_IGN);
	return run(&row);
}
