/* Both ends in one process: what each function does and refuses. */
#define _POSIX_C_SOURCE 200809L
#include "furlong_channel.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(what, due)                                                                                   \
    do {                                                                                                    \
        long found = (long)(what);                                                                          \
        if (found != (long)(due)) {                                                                         \
            fprintf(stderr, "line %d: %s is %ld, not %ld\n", __LINE__, #what, found, (long)(due));          \
            exit(1);                                                                                        \
        }                                                                                                   \
    } while (0)

static void add(void *context, const void *bytes, size_t len) {
    (void)bytes;
    *(size_t *)context += len;
}

/* Accepts the process in the context; without a context, no process. */
static int is_process(void *context, const struct furlong_peer *peer) {
    return context != NULL && *(pid_t *)context == peer->process && peer->user == getuid() && peer->group == getgid();
}

/* A server and a client that check each other's credentials. */
static void check_credentials(void) {
    const char *name = "@furlong-channel-c-rules";
    furlong_listener *listener;
    furlong_sender *sender;
    furlong_receiver *receiver;
    struct furlong_peer peer;
    char buffer[8];
    size_t len;
    pid_t server = getpid();
    EXPECT(furlong_listen(name, NULL, &listener), FURLONG_OK);
    EXPECT(furlong_try_accept_if(listener, is_process, NULL, &sender, &receiver, &peer), FURLONG_WOULD_BLOCK);
    EXPECT(furlong_accept_if(listener, NULL, NULL, &sender, &receiver, &peer), FURLONG_INVALID);
    EXPECT(furlong_connect_if(name, NULL, NULL, NULL, &sender, &receiver, NULL, -1), FURLONG_INVALID);
    EXPECT(furlong_connect_if(name, NULL, is_process, NULL, &sender, &receiver, NULL, -1), FURLONG_REFUSED);
    EXPECT(furlong_accept_if(listener, is_process, NULL, &sender, &receiver, &peer), FURLONG_REFUSED);
    /* No process accepts this client, which exits. */
    EXPECT(furlong_connect_timeout(name, NULL, &sender, &receiver, NULL, 1000000), FURLONG_TIMED_OUT);
    pid_t client = fork();
    if (client == 0) {
        EXPECT(furlong_connect_if(name, NULL, is_process, &server, &sender, &receiver, &peer, -1), FURLONG_OK);
        EXPECT(furlong_send(sender, "allowed", 7, -1), FURLONG_OK);
        furlong_sender_close(sender);
        furlong_receiver_close(receiver);
        _exit(0);
    }
    while (furlong_accept_if(listener, is_process, &client, &sender, &receiver, &peer) == FURLONG_REFUSED)
        continue;
    EXPECT(peer.process, client);
    EXPECT(furlong_recv(receiver, buffer, sizeof buffer, &len, -1), FURLONG_OK);
    EXPECT(len, 7);
    EXPECT(furlong_recv(receiver, buffer, sizeof buffer, &len, -1), FURLONG_CLOSED);
    int status;
    EXPECT(waitpid(client, &status, 0), client);
    EXPECT(status, 0);
    EXPECT(furlong_receiver_is_closed(receiver), 1);
    EXPECT(furlong_sender_is_closed(sender), 1);
    furlong_sender_close(sender);
    furlong_receiver_close(receiver);
    furlong_listener_close(listener);
}

int main(void) {
    struct furlong_options options = {.capacity = 4096, .longest_message = 3000, .waiting = FURLONG_PARK, .trusts = 1};
    struct furlong_options careful = {.capacity = 4096, .longest_message = 3000};
    struct furlong_options wrong = {.waiting = 7};
    struct furlong_end first, second;
    furlong_sender *sender, *other_sender;
    furlong_receiver *receiver, *other_receiver;
    char buffer[3000];
    size_t len = 0, sum = 0, count = 0;
    void *lent;
    const void *seen;

    EXPECT(furlong_pair(&wrong, &first, &second), FURLONG_INVALID);
    EXPECT(furlong_pair(NULL, &first, NULL), FURLONG_INVALID);
    EXPECT(furlong_connect(NULL, NULL, &sender, &receiver, NULL), FURLONG_INVALID);
    EXPECT(furlong_connect("@nobody-listens-here", NULL, &sender, &receiver, NULL), FURLONG_SYSTEM);
    EXPECT(furlong_pair(&options, &first, &second), FURLONG_OK);
    EXPECT(furlong_from_end(&first, &options, &sender, &receiver), FURLONG_OK);
    EXPECT(furlong_from_end(&second, &careful, &other_sender, &other_receiver), FURLONG_OK);

    EXPECT(furlong_recv(other_receiver, buffer, sizeof buffer, &len, 0), FURLONG_WOULD_BLOCK);
    EXPECT(furlong_recv(other_receiver, buffer, sizeof buffer, &len, 1000), FURLONG_TIMED_OUT);
    EXPECT(furlong_receiver_watch(other_receiver), 1);
    EXPECT(furlong_sender_watch(sender, 100), 0);
    EXPECT(furlong_send(sender, buffer, 3001, -1), FURLONG_TOO_LONG);
    EXPECT(furlong_send(NULL, buffer, 1, -1), FURLONG_INVALID);
    EXPECT(furlong_send(sender, NULL, 1, -1), FURLONG_INVALID);
    EXPECT(furlong_send(sender, buffer, SIZE_MAX, -1), FURLONG_INVALID);
    EXPECT(furlong_recv(other_receiver, buffer, SIZE_MAX, &len, 0), FURLONG_INVALID);
    EXPECT(furlong_send(sender, "seven b", 7, -1), FURLONG_OK);
    struct pollfd watched = {.fd = furlong_receiver_descriptor(other_receiver), .events = POLLIN};
    EXPECT(poll(&watched, 1, 10000), 1);
    EXPECT(furlong_receiver_is_closed(other_receiver), 0);
    EXPECT(furlong_recv(other_receiver, NULL, 0, &len, -1), FURLONG_BUFFER_TOO_SMALL);
    EXPECT(furlong_recv(other_receiver, buffer, 6, &len, -1), FURLONG_BUFFER_TOO_SMALL);
    EXPECT(len, 7);
    EXPECT(furlong_recv(other_receiver, buffer, sizeof buffer, &len, -1), FURLONG_OK);
    EXPECT(memcmp(buffer, "seven b", 7), 0);

    struct furlong_bytes messages[] = {{"one", 3}, {NULL, 0}, {"three", 5}};
    EXPECT(furlong_send_all(sender, messages, 3), FURLONG_OK);
    EXPECT(furlong_recv_each(other_receiver, 10, add, &sum, &count), FURLONG_OK);
    EXPECT(sum, 8);
    EXPECT(count, 3);
    EXPECT(furlong_recv_each(other_receiver, 10, NULL, NULL, NULL), FURLONG_INVALID);

    EXPECT(furlong_loan(other_sender, 8, &lent, 0), FURLONG_NOT_TRUSTED);
    EXPECT(furlong_peek(other_receiver, &seen, &len, 0), FURLONG_NOT_TRUSTED);
    EXPECT(furlong_commit(sender), FURLONG_INVALID);
    EXPECT(furlong_loan(sender, 8, &lent, -1), FURLONG_OK);
    EXPECT(furlong_send(sender, "x", 1, -1), FURLONG_LENT);
    EXPECT(furlong_give_up(sender), FURLONG_OK);
    EXPECT(furlong_loan(sender, 8, &lent, -1), FURLONG_OK);
    memcpy(lent, "in place", 8);
    EXPECT(furlong_commit(sender), FURLONG_OK);
    EXPECT(furlong_recv(other_receiver, buffer, sizeof buffer, &len, -1), FURLONG_OK);
    EXPECT(memcmp(buffer, "in place", 8), 0);
    EXPECT(furlong_send(other_sender, "back", 4, 0), FURLONG_OK);
    EXPECT(furlong_release(receiver), FURLONG_INVALID);
    EXPECT(furlong_peek(receiver, &seen, &len, -1), FURLONG_OK);
    EXPECT(len, 4);
    EXPECT(memcmp(seen, "back", 4), 0);
    EXPECT(furlong_recv(receiver, buffer, sizeof buffer, &len, 0), FURLONG_LENT);
    EXPECT(furlong_release(receiver), FURLONG_OK);
    EXPECT(furlong_recv(receiver, buffer, sizeof buffer, &len, 0), FURLONG_WOULD_BLOCK);

    EXPECT(furlong_sender_descriptor(sender) >= 0, 1);
    furlong_sender_close(sender);
    furlong_receiver_close(receiver);
    EXPECT(furlong_recv(other_receiver, buffer, sizeof buffer, &len, -1), FURLONG_CLOSED);
    furlong_sender_close(other_sender);
    furlong_receiver_close(other_receiver);

    EXPECT(furlong_options_for_messages(NULL, 1, 1), FURLONG_INVALID);
    EXPECT(furlong_options_for_messages(&options, 6000000, 4), FURLONG_OK);
    EXPECT(options.capacity, 64 << 20);
    EXPECT(options.longest_message, 0);
    EXPECT(furlong_options_for_messages(&options, 20 << 20, 1), FURLONG_OK);
    EXPECT(options.longest_message, 20 << 20);
    check_credentials();

    furlong_listener *listener;
    EXPECT(furlong_listen("@furlong-channel-c-calls", NULL, &listener), FURLONG_OK);
    EXPECT(furlong_listener_descriptor(listener) >= 0, 1);
    furlong_listener_close(listener);
    EXPECT(strcmp(furlong_version(), FURLONG_VERSION), 0);
    EXPECT(furlong_version_number(), FURLONG_VERSION_NUMBER);
    EXPECT(strcmp(furlong_error_text(FURLONG_CLOSED), "the other end is closed"), 0);
    EXPECT(strcmp(furlong_error_text(1), "an unknown error"), 0);
    return 0;
}
