// A clock of the day that is ten years late and jumps by an hour, and, where GOES_BACK is set, a monotonic one that goes back by
// a millisecond at every 100th reading.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int (*real)(clockid_t, struct timespec *);
	static long long day, readings, back_ns;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	int result = real(clock, time);
	if (clock == CLOCK_REALTIME)
		time->tv_sec += (++day % 2 ? 3600 : 0) - 315360000;
	if (clock == CLOCK_MONOTONIC && getenv("GOES_BACK")) {
		if (++readings % 100 == 0)
			back_ns += 1000000;
		long long ns = time->tv_sec * 1000000000LL + time->tv_nsec - back_ns;
		time->tv_sec = ns / 1000000000;
		time->tv_nsec = ns % 1000000000;
	}
	return result;
}
