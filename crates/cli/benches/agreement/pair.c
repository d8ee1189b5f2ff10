// The median round trip of 128 bytes as somebody writes it who wants nothing else: pair unix|mq free|same|other COUNT
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
enum { SIZE = 128 };
static char bytes[SIZE];
static int fd[2], mq;
static mqd_t queue[2];
static void put(int way) { if ((mq ? mq_send(queue[way], bytes, SIZE, 0) : write(fd[way], bytes, SIZE)) < 0) exit(1); }
static void get(int way) { if ((mq ? mq_receive(queue[way], bytes, SIZE, NULL) : read(fd[1 - way], bytes, SIZE)) <= 0) exit(1); }
static void pin(int cpu) { cpu_set_t set; CPU_ZERO(&set); CPU_SET(cpu, &set); if (sched_setaffinity(0, sizeof set, &set)) exit(1); }
static int by_value(const void *a, const void *b) { long x = *(const long *)a, y = *(const long *)b; return (x > y) - (x < y); }
int main(int count, char **word) {
    if (count < 4) return 2;
    long trips = atol(word[3]), *ns = calloc(trips, sizeof *ns);
    struct mq_attr attributes = { .mq_maxmsg = 10, .mq_msgsize = SIZE };
    mq = !strcmp(word[1], "mq");
    if (!mq && socketpair(AF_UNIX, SOCK_STREAM, 0, fd)) return 1;
    for (int way = 0; mq && way < 2; way++) {
        char name[40];
        sprintf(name, "/agreement-%d-%d", (int)getpid(), way);
        if ((queue[way] = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes)) < 0 || mq_unlink(name)) return 1;
    }
    int child = fork();
    if (strcmp(word[2], "free")) pin(!strcmp(word[2], "other") && !child);
    if (!child) for (;;) { get(0); put(1); }
    for (long trip = -trips / 4; trip < trips; trip++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        put(0), get(1);
        clock_gettime(CLOCK_MONOTONIC, &end);
        if (trip >= 0) ns[trip] = (end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec;
    }
    qsort(ns, trips, sizeof *ns, by_value);
    printf("%ld\n", ns[trips / 2]);
    return kill(child, 9);
}
