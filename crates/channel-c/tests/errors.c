/* What is left after a failure: errno, descriptors that were taken over, and ends that go on. */
#define _POSIX_C_SOURCE 200809L
#include "furlong_channel.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(what, due)                                                                                   \
    do {                                                                                                    \
        long found = (long)(what);                                                                          \
        if (found != (long)(due)) {                                                                         \
            fprintf(stderr, "line %d: %s is %ld, not %ld\n", __LINE__, #what, found, (long)(due));          \
            failures++;                                                                                     \
        }                                                                                                   \
    } while (0)

static int is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

int main(void) {
    struct furlong_options options = {.capacity = 4096, .waiting = FURLONG_SPIN};
    struct furlong_options wrong = {.waiting = 7};
    struct furlong_end first, second;
    furlong_sender *sender;
    furlong_receiver *receiver;
    furlong_listener *listener;

    char name[300] = "/tmp/";
    memset(name + 5, 'x', 294);
    errno = 0;
    EXPECT(furlong_listen(name, NULL, &listener), FURLONG_SYSTEM);
    EXPECT(errno, EINVAL);
    errno = 0;
    EXPECT(furlong_connect(name, NULL, &sender, &receiver, NULL), FURLONG_SYSTEM);
    EXPECT(errno, EINVAL);

    EXPECT(furlong_pair(&options, &first, &second), FURLONG_OK);
    EXPECT(furlong_from_end(&first, &options, &sender, &receiver), FURLONG_OK);
    errno = 0;
    EXPECT(furlong_receiver_watch(receiver), FURLONG_SYSTEM);
    EXPECT(errno, EOPNOTSUPP);
    furlong_sender_close(sender);
    furlong_receiver_close(receiver);

    int memory = second.memory, receiving = second.receiving;
    second.sending = -1;
    EXPECT(furlong_from_end(&second, &options, &sender, &receiver), FURLONG_INVALID);
    EXPECT(is_open(memory) + is_open(receiving), 0);
    EXPECT(furlong_pair(&options, &first, &second), FURLONG_OK);
    EXPECT(furlong_from_end(&first, &wrong, &sender, &receiver), FURLONG_INVALID);
    EXPECT(is_open(first.memory) + is_open(first.sending) + is_open(first.receiving), 0);
    EXPECT(furlong_from_end(&second, &options, NULL, &receiver), FURLONG_INVALID);
    EXPECT(is_open(second.memory) + is_open(second.sending) + is_open(second.receiving), 0);
    return failures;
}
