/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small test harness. Each case runs in a separate process group under a
 * watchdog, so that a case that hangs, crashes or leaves processes behind is
 * one "not ok" line and does not end the run. Output is TAP.
 */
#ifndef FURLONG_TAP_H
#define FURLONG_TAP_H

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

struct tap_case {
	const char *name;
	void (*run)(void);
	unsigned int seconds;	/* of the watchdog; 0: the usual number */
};

/*
 * Defines a case: CASE(name) { ... }. The linker collects pointers to the cases of
 * a program in one section, in their order in the file.
 */
#define CASE_LONG(function, seconds)					\
	static void function(void);					\
	static const struct tap_case case_##function = {		\
		#function, function, seconds				\
	};								\
	static const struct tap_case *const entry_##function		\
		__attribute__((section("tap_cases"), used, no_reorder)) = \
		&case_##function;					\
	static void function(void)
#define CASE(function)	CASE_LONG(function, 0)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * Runs the cases, or those that are named as arguments, each after setup().
 * Returns the exit status for main().
 */
int tap_main(int argc, char **argv, void (*setup)(void));

/* A line of diagnostics. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the case as failed, from any process or thread of it. */
void tap_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
/* Ends the case as skipped; only from its first process. */
void tap_skip(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

void tap_equal(const char *file, int line, const char *what, long long got,
	       long long wanted);
void tap_fails(const char *file, int line, const char *what, long long got,
	       int error, int wanted);

#define FAIL(...)	tap_fail(__FILE__, __LINE__, __VA_ARGS__)
#define OK(condition)							\
	do {								\
		errno = 0;						\
		if (!(condition))					\
			FAIL("not so: %s", #condition);			\
	} while (0)
#define EQ(call, wanted)						\
	do {								\
		long long got_;						\
									\
		errno = 0;						\
		got_ = (long long)(call);				\
		tap_equal(__FILE__, __LINE__, #call, got_,		\
			  (long long)(wanted));				\
	} while (0)
/* The call returns -1 and sets errno to this. */
#define FAILS(call, wanted)						\
	do {								\
		long long got_;						\
									\
		errno = 0;						\
		got_ = (long long)(call);				\
		tap_fails(__FILE__, __LINE__, #call, got_, errno,	\
			  wanted);					\
	} while (0)

/* A helper process: runs the function and exits with 0. */
pid_t tap_spawn(void (*function)(void *), void *argument);
/* Waits for a helper; the case fails unless it exited with 0. */
void tap_join_at(const char *file, int line, pid_t pid);
#define JOIN(pid)	tap_join_at(__FILE__, __LINE__, pid)
/* Waits until a process or thread sleeps in this system call. */
void tap_blocked_at(const char *file, int line, pid_t pid, long call);
#define BLOCKED(pid, call)	tap_blocked_at(__FILE__, __LINE__, pid, call)
/* Kills a helper and waits until it has exited. */
void tap_kill(pid_t pid);

/* Sleeps; for loops that wait for something, never for a check. */
void tap_pause(unsigned int microseconds);
/* Waits as long as this holds; the watchdog ends a wait for ever. */
#define WAIT_WHILE(condition)						\
	do {								\
		while (condition)					\
			tap_pause(100);					\
	} while (0)

#endif
