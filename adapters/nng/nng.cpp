// NNG's pair sockets over a UNIX socket or TCP's loopback, and its push and pull sockets over a UNIX socket, with nng_send and
// nng_recv.
//
// Threads of the library in each process do the reading and writing.

#include "adapter.hpp"

#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>

#include <atomic>

namespace {

bool over_tcp;

void check(int error, const char* call) {
    if (error) adapter::fail(std::string(call) + ": " + nng_strerror(error));
}

struct Socket {
    nng_socket socket;
    int flags;

    Socket(int (*open)(nng_socket*), const char* call, const adapter::SetUp& set_up)
        : flags(set_up.wait == "spin" ? NNG_FLAG_NONBLOCK : 0) {
        check(open(&socket), call);
        // Its own limit is 1 MiB.
        check(nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, 0), NNG_OPT_RECVMAXSZ);
    }
    ~Socket() { nng_close(socket); }

    void listen(const std::string& path) {
        adapter::remove_at_end(path);
        check(nng_listen(socket, ("ipc://" + path).c_str(), nullptr, 0), "nng_listen");
    }

    void dial(const std::string& url) {
        adapter::until("the other role", [&] {
            int error = nng_dial(socket, url.c_str(), nullptr, 0);
            if (error != NNG_ENOENT && error != NNG_ECONNREFUSED) check(error, "nng_dial");
            return error == 0;
        });
    }

    // Calls until it would not wait any more, where the way of waiting is to spin.
    template <class Call> void until_done(const char* name, Call call) {
        for (int error; (error = call()) != 0; adapter::pause())
            if (error != NNG_EAGAIN) check(error, name);
    }

    void send(const unsigned char* message, std::size_t length) {
        // Without NNG_FLAG_ALLOC it copies, and leaves the message as it is.
        until_done("nng_send", [&] { return nng_send(socket, const_cast<unsigned char*>(message), length, flags); });
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        until_done("nng_recv", [&] { return nng_recv(socket, message, &length, flags); });
        return length;
    }
};

struct Pair : Socket {
    Pair(const adapter::SetUp& set_up, adapter::Ready&) : Socket(nng_pair0_open, "nng_pair0_open", set_up) {
        auto path = set_up.folder + "/socket";
        if (over_tcp) open_tcp(set_up);
        else set_up.initiator ? dial("ipc://" + path) : listen(path);
    }

    // The responder takes a free port.
    void open_tcp(const adapter::SetUp& set_up) {
        if (set_up.initiator) return dial("tcp://127.0.0.1:" + adapter::published(set_up));
        nng_listener listener;
        check(nng_listen(socket, "tcp://127.0.0.1:0", &listener, 0), "nng_listen");
        int bound;
        check(nng_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT, &bound), NNG_OPT_TCP_BOUND_PORT);
        adapter::publish(set_up, std::to_string(bound));
    }
};

// A push socket, and a pull socket of each worker: a message goes to one that has room. Its publish socket has none of this: it
// drops what a receiver has no room for, and nothing holds the sender back.
struct PushPull : Socket {
    std::atomic<unsigned> connected{0};

    PushPull(const adapter::SetUp& set_up, adapter::Ready&)
        : Socket(set_up.initiator ? nng_push0_open : nng_pull0_open, "nng_push0_open", set_up) {
        auto path = set_up.folder + "/socket";
        if (!set_up.initiator) {
            check(nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, 10), NNG_OPT_RECVTIMEO);
            dial("ipc://" + path);
            return;
        }
        auto count = [](nng_pipe, nng_pipe_ev, void* connected) { ++*static_cast<std::atomic<unsigned>*>(connected); };
        check(nng_pipe_notify(socket, NNG_PIPE_EV_ADD_POST, count, &connected), "nng_pipe_notify");
        listen(path);
        adapter::until("a worker", [&] { return connected == set_up.responders; });
    }

    std::size_t receive_soon(unsigned char* message, std::size_t length) {
        return adapter::soon(flags, [&] {
            std::size_t came = length;
            int error = nng_recv(socket, message, &came, flags);
            if (!error) return came;
            if (error != NNG_EAGAIN && error != NNG_ETIMEDOUT) check(error, "nng_recv");
            return adapter::no_message;
        });
    }
};

}  // namespace

int main(int, char** arguments) {
    std::string kind = arguments[1] ? arguments[1] : "";
    over_tcp = kind == "tcp";
    adapter::Row row{"nng-" + kind, over_tcp              ? "a pair socket of NNG in each process, over TCP on the loopback"
                                    : kind == "push-pull" ? "a push socket of NNG and a pull socket of each worker, over a UNIX socket each"
                                                          : "a pair socket of NNG in each process, over a UNIX socket"};
    row.versions = {{"nng", nng_version()}};
    row.waits = {"block", "spin"};
    // Sockets wait for the other end to come back.
    row.peer_death = "unnoticed";
    if (over_tcp) row.reach = "network";
    if (kind != "push-pull") return adapter::run<Pair>(row);
    row.patterns = {"work"};
    return adapter::run<PushPull>(row);
}
