/* furlong-channel: messages between two processes on one Linux machine, through shared memory.
 *
 * Install the library with `cargo xtask channel install --prefix DIR`, and build a program with
 * `cc program.c $(pkg-config --cflags --libs furlong-channel)`.
 *
 * The Rust library (crates/channel) documents each function under the same name. A function that returns an int returns 0 or an
 * error, unless its comment states otherwise. A sender and a receiver may be used in two threads, but each of them, like a
 * listener, in only one thread at a time. A timeout is in nanoseconds: 0 does not wait, and a negative timeout waits without
 * limit. Signals do not interrupt a call. To react to a signal, wait with a short timeout, or for a descriptor. */
#ifndef FURLONG_CHANNEL_H
#define FURLONG_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. The functions below return the version of the library that the program runs with. While the major
   number is 0, both have the same minor number, because it is a part of the SONAME. */
#define FURLONG_VERSION "0.1.0"
#define FURLONG_VERSION_NUMBER 1000 /* 1,000,000 * major + 1,000 * minor + patch */
const char *furlong_version(void);
int furlong_version_number(void);

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
    /* An error of the operating system: see errno. */
    FURLONG_SYSTEM = -9,
    /* A null pointer, a name that is not UTF-8, or a value out of range. */
    FURLONG_INVALID = -10,
    /* A loaned or peeked message has not been released. */
    FURLONG_LENT = -11,
    /* furlong_loan and furlong_peek need the option `trusts`. */
    FURLONG_NOT_TRUSTED = -12,
    /* The listener has a larger capacity or longer messages than the options accept: at least 16 MiB and `capacity`, and
       `longest_message`. */
    FURLONG_TOO_LARGE = -13,
    /* The listener accepts another kind of channel, such as one-way channels, which C does not have. */
    FURLONG_OTHER_KIND = -14
};

enum furlong_waiting { FURLONG_ADAPTIVE = 0, FURLONG_SPIN = 1, FURLONG_PARK = 2 };

/* A field that is 0 means its default. A null pointer means all defaults. */
struct furlong_options {
    /* Bytes in each direction [default: 2 MiB]. The listener chooses the capacity. A client accepts up to 16 MiB, or its own
       capacity if that is larger. */
    size_t capacity;
    /* Bytes in the longest message [default: 16 MiB]. */
    size_t longest_message;
    /* One of enum furlong_waiting. */
    int32_t waiting;
    /* Not 0: the other process is trusted never to write to a message that it has sent. furlong_loan and furlong_peek need
       this. */
    int32_t trusts;
    /* Not 0: Options::membarrier(false) of the Rust library. */
    int32_t no_membarrier;
    /* Not 0: Options::coalescing(false) of the Rust library. */
    int32_t no_coalescing;
};

/* Sets `capacity` and `longest_message` so that each direction holds `count` messages of `len` bytes. A stream is fast if it
   holds at least 4. */
int furlong_options_for_messages(struct furlong_options *options, size_t len, size_t count);

/* The process at the other end, as reported by the kernel: PID, user ID and group ID. */
struct furlong_peer {
    int32_t process;
    uint32_t user;
    uint32_t group;
};

/* Returns a value other than 0 if the process is accepted as the other end. */
typedef int (*furlong_rule)(void *context, const struct furlong_peer *peer);

/* A message of a batch. */
struct furlong_bytes {
    const void *bytes;
    size_t len;
};

/* The descriptors of an end, for a child process: memory, socket for sending, socket for receiving. `side` is 0 for the first end
   and 1 for the second one. */
struct furlong_end {
    int32_t memory;
    int32_t sending;
    int32_t receiving;
    int32_t side;
};

typedef struct furlong_listener furlong_listener;
typedef struct furlong_sender furlong_sender;
typedef struct furlong_receiver furlong_receiver;

/* Returns a static string. */
const char *furlong_error_text(int error);

int furlong_listen(const char *name, const struct furlong_options *options, furlong_listener **listener);
int furlong_accept(furlong_listener *listener, furlong_sender **sender, furlong_receiver **receiver,
                   struct furlong_peer *peer);
int furlong_accept_timeout(furlong_listener *listener, furlong_sender **sender, furlong_receiver **receiver,
                           struct furlong_peer *peer, int64_t timeout_ns);
/* Like furlong_accept, but the rule decides which processes are accepted, for processes of all users. Returns FURLONG_REFUSED if
   the rule returns 0. */
int furlong_accept_if(furlong_listener *listener, furlong_rule is_allowed, void *context, furlong_sender **sender,
                      furlong_receiver **receiver, struct furlong_peer *peer);
/* Like furlong_accept_if, but returns FURLONG_WOULD_BLOCK if no process has connected. */
int furlong_try_accept_if(furlong_listener *listener, furlong_rule is_allowed, void *context, furlong_sender **sender,
                          furlong_receiver **receiver, struct furlong_peer *peer);
int furlong_listener_descriptor(const furlong_listener *listener);
void furlong_listener_close(furlong_listener *listener);

/* Waits at most five seconds for the listener to accept. If no process listens yet, it returns FURLONG_SYSTEM at once, with
   ENOENT or ECONNREFUSED in errno. `peer` may be null, here and above. */
int furlong_connect(const char *name, const struct furlong_options *options, furlong_sender **sender,
                    furlong_receiver **receiver, struct furlong_peer *peer);
int furlong_connect_timeout(const char *name, const struct furlong_options *options, furlong_sender **sender,
                            furlong_receiver **receiver, struct furlong_peer *peer, int64_t timeout_ns);
/* Like furlong_connect_timeout, but the rule decides which listeners are accepted, for listeners of all users. It is called
   before anything is received or mapped. */
int furlong_connect_if(const char *name, const struct furlong_options *options, furlong_rule is_allowed, void *context,
                       furlong_sender **sender, furlong_receiver **receiver, struct furlong_peer *peer,
                       int64_t timeout_ns);

int furlong_pair(const struct furlong_options *options, struct furlong_end *first, struct furlong_end *second);
/* Takes ownership of the descriptors, even if it fails. */
int furlong_from_end(const struct furlong_end *end, const struct furlong_options *options, furlong_sender **sender,
                     furlong_receiver **receiver);

int furlong_send(furlong_sender *sender, const void *bytes, size_t len, int64_t timeout_ns);
int furlong_send_all(furlong_sender *sender, const struct furlong_bytes *messages, size_t count);
int furlong_loan(furlong_sender *sender, size_t len, void **bytes, int64_t timeout_ns);
/* Sends the loaned message. */
int furlong_commit(furlong_sender *sender);
/* Releases the loaned message without sending it. */
int furlong_give_up(furlong_sender *sender);
/* Returns 1 if the other end was closed or its process has died, and otherwise 0. */
int furlong_sender_is_closed(furlong_sender *sender);
/* Returns 1 if the caller must wait until the descriptor is readable, 0 if `len` bytes may have room, or a negative error. */
int furlong_sender_watch(furlong_sender *sender, size_t len);
int furlong_sender_descriptor(const furlong_sender *sender);
void furlong_sender_close(furlong_sender *sender);

/* Sets `len` even if the buffer is too small. To query the length of the next message, call it with `room` 0; an empty message is
   then received. */
int furlong_recv(furlong_receiver *receiver, void *buffer, size_t room, size_t *len, int64_t timeout_ns);
/* Waits for a message, then calls `take` with each available message, at most `most` times; `count` may be null. `take` must not
   use the receiver. */
int furlong_recv_each(furlong_receiver *receiver, size_t most,
                      void (*take)(void *context, const void *bytes, size_t len), void *context, size_t *count);
int furlong_peek(furlong_receiver *receiver, const void **bytes, size_t *len, int64_t timeout_ns);
/* Releases the peeked message. */
int furlong_release(furlong_receiver *receiver);
/* Returns 1 if the other end was closed or its process has died, and otherwise 0. Messages may still be available. */
int furlong_receiver_is_closed(furlong_receiver *receiver);
/* Returns 1 if the caller must wait until the descriptor is readable, 0 if a message may be available, or a negative error. */
int furlong_receiver_watch(furlong_receiver *receiver);
int furlong_receiver_descriptor(const furlong_receiver *receiver);
void furlong_receiver_close(furlong_receiver *receiver);

#ifdef __cplusplus
}
#endif
#endif
