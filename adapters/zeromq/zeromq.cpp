// ZeroMQ's PAIR sockets over a UNIX socket or TCP's loopback, and its PUB-SUB and PUSH-PULL over a UNIX socket, with zmq_send and
// zmq_recv.
//
// A thread of the library in each process does the reading and writing: a message goes to it by a queue and an eventfd.

#include "adapter.hpp"

#include <zmq.h>

namespace {

bool over_tcp;

void check(int result, const char* call) {
    if (result < 0) adapter::fail(std::string(call) + ": " + zmq_strerror(zmq_errno()));
}

// A socket, and how it sends and receives.
struct Socket {
    void *context = zmq_ctx_new(), *socket;
    int flags;

    Socket(int kind, std::size_t queued_bytes, const adapter::SetUp& set_up, adapter::Ready& ready)
        : socket(zmq_socket(context, kind)), flags(set_up.wait == "spin" ? ZMQ_DONTWAIT : 0) {
        // A stream of large messages must not fill the memory; 1000 is ZeroMQ's own number.
        int queued = int(std::clamp<std::size_t>(queued_bytes / set_up.largest(), 2, 1000)), at_once = 0;
        set(ZMQ_SNDHWM, queued, "ZMQ_SNDHWM");
        set(ZMQ_RCVHWM, queued, "ZMQ_RCVHWM");
        set(ZMQ_LINGER, at_once, "ZMQ_LINGER");
        std::size_t size = sizeof queued;
        check(zmq_getsockopt(socket, ZMQ_SNDHWM, &queued, &size), "ZMQ_SNDHWM");
        ready.numbers = {{"high-water-mark-messages", queued}};
    }
    ~Socket() {
        zmq_close(socket);
        zmq_ctx_term(context);
    }

    void set(int option, int value, const char* name) { check(zmq_setsockopt(socket, option, &value, sizeof value), name); }

    void bind(const std::string& path) {
        adapter::remove_at_end(path);
        check(zmq_bind(socket, ("ipc://" + path).c_str()), "zmq_bind");
    }

    void connect(const std::string& path) {
        // ZeroMQ would retry the connection automatically, but only every 100 ms.
        adapter::until("the other role", [&] { return access(path.c_str(), F_OK) == 0; });
        check(zmq_connect(socket, ("ipc://" + path).c_str()), "zmq_connect");
    }

    // Repeats the call while it fails with EINTR, or with EAGAIN, which busy-waiting returns.
    template <class Call> int until_done(const char* name, Call call) {
        for (;;) {
            int result = call();
            if (result >= 0) return result;
            if (zmq_errno() != EAGAIN && zmq_errno() != EINTR) check(result, name);
            adapter::pause();
        }
    }

    void send(const unsigned char* message, std::size_t length) {
        until_done("zmq_send", [&] { return zmq_send(socket, message, length, flags); });
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        return std::size_t(until_done("zmq_recv", [&] { return zmq_recv(socket, message, length, flags); }));
    }
};

struct Pair : Socket {
    Pair(const adapter::SetUp& set_up, adapter::Ready& ready) : Socket(ZMQ_PAIR, 64 << 20, set_up, ready) {
        auto path = set_up.folder + "/socket";
        if (over_tcp) open_tcp(set_up);
        else set_up.initiator ? connect(path) : bind(path);
    }

    // The responder takes a free port.
    void open_tcp(const adapter::SetUp& set_up) {
        if (set_up.initiator) return check(zmq_connect(socket, adapter::published(set_up).c_str()), "zmq_connect");
        check(zmq_bind(socket, "tcp://127.0.0.1:*"), "zmq_bind");
        char bound[64];
        std::size_t size = sizeof bound;
        check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, bound, &size), "ZMQ_LAST_ENDPOINT");
        adapter::publish(set_up, bound);
    }
};

// An XPUB socket, which is a PUB socket that reports its subscribers, and a SUB socket in each receiver.
struct PubSub : Socket {
    // Receivers may differ by the queued messages, which must be a small part of the measured ones.
    PubSub(const adapter::SetUp& set_up, adapter::Ready& ready)
        : Socket(set_up.initiator ? ZMQ_XPUB : ZMQ_SUB, 2 << 20, set_up, ready) {
        auto path = set_up.folder + "/socket";
        if (!set_up.initiator) {
            check(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0), "ZMQ_SUBSCRIBE");
            connect(path);
            return;
        }
        // It would drop what a receiver has no room for.
        set(ZMQ_XPUB_NODROP, 1, "ZMQ_XPUB_NODROP");
        set(ZMQ_XPUB_VERBOSE, 1, "ZMQ_XPUB_VERBOSE");
        bind(path);
        for (unsigned subscribed = 0; subscribed < set_up.responders; ++subscribed) {
            unsigned char subscription;
            receive(&subscription, 1);
        }
    }
};

// A PUSH socket, and a PULL socket of each worker: messages go to one after the other that has room.
struct PushPull : Socket {
    // Workers may differ by the queued messages, like subscribers.
    PushPull(const adapter::SetUp& set_up, adapter::Ready& ready)
        : Socket(set_up.initiator ? ZMQ_PUSH : ZMQ_PULL, 2 << 20, set_up, ready) {
        auto path = set_up.folder + "/socket";
        if (set_up.initiator) {
            void* monitor = watched();
            bind(path);
            for (unsigned accepted = 0; accepted < set_up.responders; ++accepted) wait_for_connection(monitor);
            zmq_socket_monitor(socket, nullptr, 0);
            zmq_close(monitor);
            return;
        }
        set(ZMQ_RCVTIMEO, 10, "ZMQ_RCVTIMEO");
        connect(path);
    }

    // Returns a monitor of the socket's connections. Without it, all messages would go to the first worker that
    // connects.
    void* watched() {
        check(zmq_socket_monitor(socket, "inproc://monitor", ZMQ_EVENT_HANDSHAKE_SUCCEEDED), "zmq_socket_monitor");
        void* monitor = zmq_socket(context, ZMQ_PAIR);
        check(zmq_connect(monitor, "inproc://monitor"), "zmq_connect");
        return monitor;
    }

    // An event has two parts: its kind, and where it happened.
    static void wait_for_connection(void* monitor) {
        unsigned char part[512];
        for (int index = 0; index < 2; ++index) check(zmq_recv(monitor, part, sizeof part, 0), "zmq_recv");
    }

    std::size_t receive_soon(unsigned char* message, std::size_t length) {
        return adapter::soon(flags, [&] {
            int came = zmq_recv(socket, message, length, flags);
            if (came >= 0) return std::size_t(came);
            if (zmq_errno() != EAGAIN && zmq_errno() != EINTR) check(came, "zmq_recv");
            return adapter::no_message;
        });
    }
};

}  // namespace

int main(int, char** arguments) {
    std::string kind = arguments[1] ? arguments[1] : "";
    over_tcp = kind == "tcp";
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    adapter::Row row{"zeromq-" + kind,
                     over_tcp            ? "a PAIR socket of ZeroMQ in each process, over TCP on the loopback"
                     : kind == "pub-sub" ? "a PUB socket of ZeroMQ and a SUB socket of each receiver, over a UNIX socket each"
                     : kind == "push-pull" ? "a PUSH socket of ZeroMQ and a PULL socket of each worker, over a UNIX socket each"
                                           : "a PAIR socket of ZeroMQ in each process, over a UNIX socket"};
    row.versions = {{"libzmq", std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch)}};
    row.waits = {"block", "spin"};
    row.max_size_bytes = INT32_MAX, row.limited_by = "zmq_recv gives a length as int";
    // Sockets wait for the other end to come back.
    row.peer_death = "unnoticed";
    if (over_tcp) row.reach = "network";
    if (kind == "pub-sub") {
        row.patterns = {"fan-out"};
        return adapter::run<PubSub>(row);
    }
    if (kind == "push-pull") {
        row.patterns = {"work"};
        return adapter::run<PushPull>(row);
    }
    return adapter::run<Pair>(row);
}
