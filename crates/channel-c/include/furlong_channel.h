/* furlong-channel: messages between two processes on one Linux machine, through shared memory.
 *
 * Build the library with `cargo build --release -p furlong-channel-c`, and a program with
 * `cc program.c -I crates/channel-c/include -L target/release -lfurlong_channel_c`.
 *
 * What each function does is said at the function of the same name of the Rust library (crates/channel). Every function that
 * returns an int gives 0 or an error. A sender and a receiver may be used by two threads, each of them by one at a time. A
 * timeout is in nanoseconds: 0 does not wait, and less waits for as long as it takes. No signal ends a call: to react to one,
 * wait for a short time at once, or for a descriptor. */
#ifndef FURLONG_CHANNEL_H
#define FURLONG_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum furlong_error {
    FURLONG_OK = 0,
    FURLONG_WOULD_BLOCK = -1,
    FURLONG_TIMED_OUT = -2,
    FURLONG_CLOSED = -3,
    FURLONG_PEER_DIED = -4,
    FURLONG_TOO_LONG = -5,
    FURLONG_BUFFER_TOO_SMALL = -6,
    FURLONG_CORRUPT = -7,
    FURLONG_REFUSED = -8,
    /* errno says which. */
    FURLONG_SYSTEM = -9,
    /* A null pointer, a name that is not UTF-8, or a value that is none. */
    FURLONG_INVALID = -10,
    /* What was lent, or is looked at, was not given back. */
    FURLONG_LENT = -11,
    /* The options do not say that the other process is trusted. */
    FURLONG_NOT_TRUSTED = -12,
    /* The listener has a larger capacity or longer messages than the options accept: at least 16 MiB and `capacity`, and
       `longest_message`. */
    FURLONG_TOO_LARGE = -13
};

enum furlong_waiting { FURLONG_ADAPTIVE = 0, FURLONG_SPIN = 1, FURLONG_PARK = 2 };

/* All zeroes, or a null pointer in its place: what the Rust library has by itself. */
struct furlong_options {
    size_t capacity;
    size_t longest_message;
    int32_t waiting;
    /* Not 0: the other process never writes to a message that it has sent. For furlong_loan and furlong_peek. */
    int32_t trusts;
};

struct furlong_peer {
    int32_t process;
    uint32_t user;
    uint32_t group;
};

/* One message of many. */
struct furlong_bytes {
    const void *bytes;
    size_t len;
};

/* An end, to be inherited: the descriptors of the memory, of sending and of receiving, and 0 for the first end, 1 for the other. */
struct furlong_end {
    int32_t memory;
    int32_t sending;
    int32_t receiving;
    int32_t side;
};

typedef struct furlong_listener furlong_listener;
typedef struct furlong_sender furlong_sender;
typedef struct furlong_receiver furlong_receiver;

/* A text that lives for ever. */
const char *furlong_error_text(int error);

int furlong_listen(const char *name, const struct furlong_options *options, furlong_listener **listener);
int furlong_accept(furlong_listener *listener, furlong_sender **sender, furlong_receiver **receiver,
                   struct furlong_peer *peer);
int furlong_accept_timeout(furlong_listener *listener, furlong_sender **sender, furlong_receiver **receiver,
                           struct furlong_peer *peer, int64_t timeout_ns);
int furlong_listener_descriptor(const furlong_listener *listener);
void furlong_listener_close(furlong_listener *listener);

/* `peer` may be null, here and above. */
int furlong_connect(const char *name, const struct furlong_options *options, furlong_sender **sender,
                    furlong_receiver **receiver, struct furlong_peer *peer);

int furlong_pair(const struct furlong_options *options, struct furlong_end *first, struct furlong_end *second);
/* Takes the descriptors over, also where it fails. */
int furlong_from_end(const struct furlong_end *end, const struct furlong_options *options, furlong_sender **sender,
                     furlong_receiver **receiver);

int furlong_send(furlong_sender *sender, const void *bytes, size_t len, int64_t timeout_ns);
int furlong_send_all(furlong_sender *sender, const struct furlong_bytes *messages, size_t count);
int furlong_loan(furlong_sender *sender, size_t len, void **bytes, int64_t timeout_ns);
/* Sends what was written to what was lent. */
int furlong_commit(furlong_sender *sender);
/* Sends nothing of it. */
int furlong_give_up(furlong_sender *sender);
/* 1: wait until the descriptor is readable; 0: there is room for `len` bytes; less: an error. */
int furlong_sender_watch(furlong_sender *sender, size_t len);
int furlong_sender_descriptor(const furlong_sender *sender);
void furlong_sender_close(furlong_sender *sender);

/* `len` is set too where the buffer is too small. */
int furlong_recv(furlong_receiver *receiver, void *buffer, size_t room, size_t *len, int64_t timeout_ns);
/* Waits for a message, then calls `take` with each that is there, at most `most`; `count` may be null. */
int furlong_recv_each(furlong_receiver *receiver, size_t most,
                      void (*take)(void *context, const void *bytes, size_t len), void *context, size_t *count);
int furlong_peek(furlong_receiver *receiver, const void **bytes, size_t *len, int64_t timeout_ns);
/* Goes on behind what is looked at. */
int furlong_release(furlong_receiver *receiver);
/* 1: wait until the descriptor is readable; 0: there is a message; less: an error. */
int furlong_receiver_watch(furlong_receiver *receiver);
int furlong_receiver_descriptor(const furlong_receiver *receiver);
void furlong_receiver_close(furlong_receiver *receiver);

#ifdef __cplusplus
}
#endif
#endif
