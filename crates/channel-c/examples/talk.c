/* Two processes that talk: `talk listen` in one terminal, `talk` in another. The other one may be the example of the Rust library. */
#include "furlong_channel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int status, const char *what) {
    if (status != FURLONG_OK) {
        fprintf(stderr, "%s: %s\n", what, furlong_error_text(status));
        exit(1);
    }
}

int main(int count, char **words) {
    /* The other process is this library too, and so messages are written and read where they lie. */
    struct furlong_options options = {.trusts = 1};
    furlong_sender *sender;
    furlong_receiver *receiver;
    struct furlong_peer peer;
    const char *name = count > 2 ? words[2] : "/tmp/talk";
    if (count > 1 && strcmp(words[1], "listen") == 0) {
        furlong_listener *listener;
        check(furlong_listen(name, &options, &listener), "listen");
        check(furlong_accept(listener, &sender, &receiver, &peer), "accept");
        printf("process %d connected\n", peer.process);
        for (;;) {
            const void *message;
            void *answer;
            size_t len;
            int status = furlong_peek(receiver, &message, &len, -1);
            if (status == FURLONG_CLOSED)
                break;
            check(status, "peek");
            check(furlong_loan(sender, len, &answer, -1), "loan");
            memcpy(answer, message, len);
            check(furlong_commit(sender), "commit");
            check(furlong_release(receiver), "release");
        }
        furlong_listener_close(listener);
    } else {
        check(furlong_connect(name, &options, &sender, &receiver, NULL), "connect");
        for (int number = 1; number <= 3; number++) {
            char text[32], back[32];
            size_t len;
            snprintf(text, sizeof text, "message %d", number);
            check(furlong_send(sender, text, strlen(text), -1), "send");
            check(furlong_recv(receiver, back, sizeof back, &len, -1), "recv");
            printf("%.*s came back\n", (int)len, back);
        }
    }
    furlong_sender_close(sender);
    furlong_receiver_close(receiver);
    return 0;
}
