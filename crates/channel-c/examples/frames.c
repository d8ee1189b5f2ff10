/* Frames of 6 MB, 60 per second, to three receivers: `frames send NAME COUNT` in one terminal, `frames receive NAME` in three others.
   A receiver compares every byte and prints how late frames arrived, from the time at which each was due. frames.py does the same. */
#include <furlong_channel.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECEIVERS = 3, BYTES = 6000000, HEADER = 16, SHIFTS = 251, PER_SECOND = 60, MOST_FRAMES = 100000 };

static unsigned char frame[BYTES], pattern[BYTES + SHIFTS];
static uint64_t late_ns[MOST_FRAMES];

static void check(int status, const char *what) {
    if (status != FURLONG_OK) {
        fprintf(stderr, "%s: %s\n", what, furlong_error_text(status));
        exit(1);
    }
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void send_frames(const char *name, const struct furlong_options *options, uint64_t count) {
    furlong_listener *listener;
    furlong_sender *senders[RECEIVERS];
    furlong_receiver *receivers[RECEIVERS];
    check(furlong_listen(name, options, &listener), "listen");
    for (int at = 0; at < RECEIVERS; at++)
        check(furlong_accept(listener, &senders[at], &receivers[at], NULL), "accept");
    furlong_listener_close(listener);
    uint64_t begin_ns = now_ns();
    for (uint64_t number = 0; number < count; number++) {
        uint64_t due_ns = begin_ns + number * 1000000000 / PER_SECOND;
        memcpy(frame, &number, 8);
        memcpy(frame + 8, &due_ns, 8);
        memcpy(frame + HEADER, pattern + number % SHIFTS, BYTES - HEADER);
        struct timespec due = {(time_t)(due_ns / 1000000000), (long)(due_ns % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        for (int at = 0; at < RECEIVERS; at++)
            check(furlong_send(senders[at], frame, BYTES, -1), "send");
    }
    for (int at = 0; at < RECEIVERS; at++) {
        furlong_sender_close(senders[at]);
        furlong_receiver_close(receivers[at]);
    }
}

static int compare(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

static void receive_frames(const char *name, const struct furlong_options *options) {
    furlong_sender *sender;
    furlong_receiver *receiver;
    uint64_t count = 0, number, due_ns;
    size_t len;
    int status;
    /* The sender may not be listening yet. */
    for (int tries = 0; (status = furlong_connect(name, options, &sender, &receiver, NULL)) == FURLONG_SYSTEM && tries < 1000; tries++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    check(status, "connect");
    while ((status = furlong_recv(receiver, frame, sizeof frame, &len, -1)) == FURLONG_OK && count < MOST_FRAMES) {
        uint64_t received_ns = now_ns();
        memcpy(&number, frame, 8);
        memcpy(&due_ns, frame + 8, 8);
        if (len != BYTES || number != count || memcmp(frame + HEADER, pattern + count % SHIFTS, BYTES - HEADER) != 0) {
            fprintf(stderr, "frame %llu is wrong\n", (unsigned long long)count);
            exit(1);
        }
        late_ns[count++] = received_ns - due_ns;
    }
    if (status != FURLONG_CLOSED)
        check(status, "recv");
    qsort(late_ns, count, sizeof late_ns[0], compare);
    if (count > 0)
        printf("%llu frames in C, every byte verified: p50 %.1f ms, p99 %.1f ms\n", (unsigned long long)count,
               (double)late_ns[count / 2] / 1e6, (double)late_ns[(count * 99 - 1) / 100] / 1e6);
    furlong_sender_close(sender);
    furlong_receiver_close(receiver);
}

int main(int count, char **words) {
    struct furlong_options options = {0};
    check(furlong_options_for_messages(&options, BYTES, 4), "options");
    for (size_t at = 0; at < sizeof pattern; at++)
        pattern[at] = (unsigned char)(at % SHIFTS);
    if (count == 4 && strcmp(words[1], "send") == 0) {
        send_frames(words[2], &options, strtoull(words[3], NULL, 10));
    } else if (count == 3 && strcmp(words[1], "receive") == 0) {
        receive_frames(words[2], &options);
    } else {
        fprintf(stderr, "type %s send NAME COUNT, or %s receive NAME\n", words[0], words[0]);
        return 2;
    }
    return 0;
}
