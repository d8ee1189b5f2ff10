// Round trips between two processes over plain system calls, independent of furlong:
//     pair pipe|unix|eventfd|futex|mq free|same|other MILLISECONDS
// A quarter of that time is added before it, to warm up. Prints the median round trip and the CPU time of both processes per round trip, in nanoseconds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 128 };
enum kind { PIPE, UNIX, EVENTFD, FUTEX, MQ, KINDS };
static const char *const names[KINDS] = { "pipe", "unix", "eventfd", "futex", "mq" };
static enum kind kind;
static char bytes[SIZE];
// The ends to write to and to read from, by direction.
static int out[2], in[2];
static mqd_t queue[2];
// In memory that both share: one word per direction, the phase that the next message begins, and the CPU time of the child.
enum phase { WARM_UP, TIMED, END };
struct shared { _Alignas(128) uint32_t word[2][32]; _Atomic enum phase phase; double child_cpu_ns; };
enum { MOST_TRIPS = 1 << 20 };
static struct shared *shared;

static void must(int ok, const char *what) { if (!ok) { perror(what); exit(1); } }

static void put(int way, uint32_t trip) {
    uint64_t one = 1;
    switch (kind) {
    case EVENTFD: must(write(out[way], &one, 8) == 8, "write"); break;
    case MQ: must(mq_send(queue[way], bytes, SIZE, 0) == 0, "mq_send"); break;
    case FUTEX:
        __atomic_store_n(shared->word[way], trip, __ATOMIC_RELEASE);
        must(syscall(SYS_futex, shared->word[way], FUTEX_WAKE, 1, NULL, NULL, 0) >= 0, "futex");
        break;
    default: must(write(out[way], bytes, SIZE) == SIZE, "write");
    }
}

static void get(int way, uint32_t trip) {
    uint64_t count;
    switch (kind) {
    case EVENTFD: must(read(in[way], &count, 8) == 8, "read"); break;
    case MQ: must(mq_receive(queue[way], bytes, SIZE, NULL) == SIZE, "mq_receive"); break;
    case FUTEX:
        while (__atomic_load_n(shared->word[way], __ATOMIC_ACQUIRE) != trip)
            syscall(SYS_futex, shared->word[way], FUTEX_WAIT, trip - 1, NULL, NULL, 0);
        break;
    default: must(read(in[way], bytes, SIZE) == SIZE, "read");
    }
}

static void link_up(void) {
    struct mq_attr attributes = { .mq_maxmsg = 10, .mq_msgsize = SIZE };
    int ends[2] = { 0, 0 };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED, "mmap");
    for (int way = 0; way < 2; way++) {
        char name[40];
        sprintf(name, "/agreement-%d-%d", (int)getpid(), way);
        if (kind == PIPE) must(pipe(ends) == 0, "pipe");
        if (kind == UNIX && way == 0) must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
        if (kind == EVENTFD) must((ends[0] = ends[1] = eventfd(0, 0)) >= 0, "eventfd");
        if (kind == MQ) {
            must((queue[way] = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes)) >= 0, "mq_open");
            mq_unlink(name);
        }
        in[way] = ends[kind == UNIX ? way : 0];
        out[way] = ends[kind == UNIX ? !way : 1];
    }
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    must(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

static double cpu_ns(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1e9 * (seconds(usage.ru_utime) + seconds(usage.ru_stime));
}

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

// Answers until the end. Returns the CPU time of the timed phase.
static double answer(void) {
    enum phase phase = WARM_UP;
    double before_ns = 0;
    for (uint32_t trip = 1;; trip++) {
        get(0, trip);
        enum phase now = shared->phase;
        if (now == TIMED && phase == WARM_UP) before_ns = cpu_ns();
        if (now == END) return cpu_ns() - before_ns;
        phase = now;
        put(1, trip);
    }
}

int main(int count, char **word) {
    if (count < 4) return 2;
    while (kind < KINDS && strcmp(word[1], names[kind])) kind++;
    if (kind == KINDS) return 2;
    long timed_ns = 1000000L * atol(word[3]), trips = 0, *ns = calloc(MOST_TRIPS, sizeof *ns);
    link_up();
    pid_t child = fork();
    if (strcmp(word[2], "free")) pin(!strcmp(word[2], "other") && !child);
    if (!child) {
        shared->child_cpu_ns = answer();
        _exit(0);
    }
    uint32_t trip = 1;
    for (long until = now_ns() + timed_ns / 4; now_ns() < until; trip++) put(0, trip), get(1, trip);
    double before_ns = cpu_ns();
    shared->phase = TIMED;
    for (long end_ns = now_ns(), until = end_ns + timed_ns; end_ns < until && trips < MOST_TRIPS; trip++) {
        long begin_ns = now_ns();
        put(0, trip), get(1, trip);
        end_ns = now_ns();
        ns[trips++] = end_ns - begin_ns;
    }
    double used_ns = cpu_ns() - before_ns;
    shared->phase = END;
    put(0, trip);
    waitpid(child, NULL, 0);
    qsort(ns, trips, sizeof *ns, by_value);
    printf("%ld %.0f\n", ns[trips / 2], (used_ns + shared->child_cpu_ns) / trips);
    return 0;
}
