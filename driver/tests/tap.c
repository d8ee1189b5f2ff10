// SPDX-License-Identifier: GPL-2.0
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Emulated processors are slow, and the machine below them may be busy. */
#define USUAL_SECONDS	90

#define EXIT_SKIPPED	77

struct shared {
	char reason[200];
};

static struct shared *shared;
static pid_t first;		/* process of the case that runs */
static volatile sig_atomic_t late;

/* One write for a line, so that lines of several processes do not mix. */
static void line(const char *start, const char *format, va_list list,
		 const char *end)
{
	char text[512];
	size_t length;

	snprintf(text, sizeof(text), "%s", start);
	length = strlen(text);
	vsnprintf(text + length, sizeof(text) - length, format, list);
	length = strlen(text);
	snprintf(text + length, sizeof(text) - length, "%s", end);
	length = strlen(text);
	if (length == sizeof(text) - 1)
		text[length - 1] = '\n';
	if (write(STDOUT_FILENO, text, length) < 0)
		_exit(2);
}

static void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	line("", format, list, "\n");
	va_end(list);
}

void tap_note(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	line("# ", format, list, "\n");
	va_end(list);
}

void tap_fail(const char *file, int number, const char *format, ...)
{
	char start[128], end[128];
	int error = errno;
	va_list list;

	snprintf(start, sizeof(start), "# %s:%d: ", file, number);
	snprintf(end, sizeof(end), error ? " (errno %d: %s)\n" : "\n", error,
		 strerror(error));
	va_start(list, format);
	line(start, format, list, end);
	va_end(list);
	_exit(1);
}

void tap_skip(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(shared->reason, sizeof(shared->reason), format, list);
	va_end(list);
	_exit(EXIT_SKIPPED);
}

void tap_equal(const char *file, int number, const char *what, long long got,
	       long long wanted)
{
	if (got == wanted)
		return;
	if (got != -1)
		errno = 0;
	tap_fail(file, number, "%s is %lld, not %lld", what, got, wanted);
}

void tap_fails(const char *file, int number, const char *what, long long got,
	       int error, int wanted)
{
	if (got == -1 && error == wanted)
		return;
	errno = got == -1 ? error : 0;
	tap_fail(file, number, "%s is %lld, not failed with errno %d (%s)",
		 what, got, wanted, strerror(wanted));
}

pid_t tap_spawn(void (*function)(void *), void *argument)
{
	pid_t pid = fork();

	if (pid < 0)
		FAIL("fork");
	if (pid)
		return pid;
	function(argument);
	_exit(0);
}

void tap_join_at(const char *file, int number, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid) {
		if (errno != EINTR)
			tap_fail(file, number, "waitpid(%d)", pid);
	}
	errno = 0;
	if (WIFSIGNALED(status))
		tap_fail(file, number, "helper killed by signal %d",
			 WTERMSIG(status));
	if (WEXITSTATUS(status))
		tap_fail(file, number, "helper failed: exit status %d",
			 WEXITSTATUS(status));
}

void tap_blocked_at(const char *file, int number, pid_t pid, long call)
{
	char path[64], text[256];
	ssize_t length;
	int fd;

	/* The file names the call only while the task sleeps in it. */
	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	for (;;) {
		fd = open(path, O_RDONLY);
		if (fd < 0)
			tap_fail(file, number, "%s", path);
		length = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (length > 0) {
			text[length] = 0;
			if (strncmp(text, "running", 7) && atol(text) == call)
				return;
		}
		tap_pause(1000);
	}
}

void tap_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void tap_pause(unsigned int microseconds)
{
	struct timespec time = {
		.tv_sec = microseconds / 1000000,
		.tv_nsec = microseconds % 1000000 * 1000,
	};

	nanosleep(&time, NULL);
}

static void on_alarm(int signal)
{
	(void)signal;
	late = 1;
	kill(-first, SIGKILL);
}

/* The case's helpers go with it; they came to us, the subreaper. */
static int reap(void)
{
	int tries;

	for (tries = 0; tries < 10000; tries++) {
		if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			return 0;
		kill(-first, SIGKILL);
		tap_pause(1000);
	}
	return -1;
}

static int run(const struct tap_case *one, size_t number, void (*setup)(void))
{
	unsigned int seconds = one->seconds ? one->seconds : USUAL_SECONDS;
	int status, failed = 0;

	shared->reason[0] = 0;
	late = 0;
	first = fork();
	if (first < 0) {
		perror("fork");
		exit(2);
	}
	if (!first) {
		setpgid(0, 0);
		signal(SIGALRM, SIG_DFL);
		if (setup)
			setup();
		one->run();
		_exit(0);
	}
	setpgid(first, first);
	alarm(seconds);
	while (waitpid(first, &status, 0) != first)
		;
	alarm(0);
	if (reap()) {
		tap_note("processes stay behind that SIGKILL does not end");
		failed = 1;
	}
	if (late) {
		tap_note("no end after %u seconds", seconds);
		failed = 1;
	} else if (WIFSIGNALED(status)) {
		tap_note("killed by signal %d", WTERMSIG(status));
		failed = 1;
	} else if (WEXITSTATUS(status) == EXIT_SKIPPED) {
		say("ok %zu - %s # SKIP %s", number, one->name, shared->reason);
		return failed;
	} else if (WEXITSTATUS(status)) {
		failed = 1;
	}
	say("%s %zu - %s", failed ? "not ok" : "ok", number, one->name);
	return failed;
}

static int wanted(int argc, char **argv, const char *name)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return 1;
	}
	return argc < 2;
}

/* The linker's names for the ends of the section; weak for programs without cases. */
extern const struct tap_case *const __start_tap_cases[] __attribute__((weak));
extern const struct tap_case *const __stop_tap_cases[] __attribute__((weak));

int tap_main(int argc, char **argv, void (*setup)(void))
{
	struct sigaction action = { .sa_handler = on_alarm };
	const struct tap_case *const *one;
	size_t number = 0, plan = 0;
	int failed = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1)) {
		perror("tap");
		return 2;
	}
	sigaction(SIGALRM, &action, NULL);
	for (one = __start_tap_cases; one < __stop_tap_cases; one++)
		plan += wanted(argc, argv, (*one)->name);
	say("1..%zu", plan);
	for (one = __start_tap_cases; one < __stop_tap_cases; one++) {
		if (wanted(argc, argv, (*one)->name))
			failed |= run(*one, ++number, setup);
	}
	return failed;
}
