// ZeroMQ's PAIR sockets over a UNIX socket or TCP's loopback, with zmq_send and zmq_recv.
//
// A thread of the library in each process does the reading and writing: a message goes to it by a queue and an eventfd.

#include "adapter.hpp"

#include <zmq.h>

namespace {

bool over_tcp;

void check(int result, const char* call) {
    if (result < 0) adapter::fail(std::string(call) + ": " + zmq_strerror(zmq_errno()));
}

struct Pair {
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_PAIR);
    int flags;

    Pair(const adapter::SetUp& set_up, adapter::Ready& ready) : flags(set_up.wait == "spin" ? ZMQ_DONTWAIT : 0) {
        // A stream of large messages must not fill the memory; 1000 is ZeroMQ's own number.
        int queued = int(std::clamp<std::size_t>((64 << 20) / set_up.largest(), 2, 1000)), at_once = 0;
        check(zmq_setsockopt(socket, ZMQ_SNDHWM, &queued, sizeof queued), "ZMQ_SNDHWM");
        check(zmq_setsockopt(socket, ZMQ_RCVHWM, &queued, sizeof queued), "ZMQ_RCVHWM");
        check(zmq_setsockopt(socket, ZMQ_LINGER, &at_once, sizeof at_once), "ZMQ_LINGER");
        std::size_t size = sizeof queued;
        check(zmq_getsockopt(socket, ZMQ_SNDHWM, &queued, &size), "ZMQ_SNDHWM");
        ready.numbers = {{"high-water-mark-messages", queued}};
        over_tcp ? open_tcp(set_up) : open_ipc(set_up);
    }
    ~Pair() {
        zmq_close(socket);
        zmq_ctx_term(context);
    }

    void open_ipc(const adapter::SetUp& set_up) {
        auto path = set_up.folder + "/socket", endpoint = "ipc://" + path;
        if (set_up.initiator) {
            // It would try by itself, but only each 100 ms.
            adapter::until("the responder", [&] { return access(path.c_str(), F_OK) == 0; });
            return check(zmq_connect(socket, endpoint.c_str()), "zmq_connect");
        }
        adapter::remove_at_end(path);
        check(zmq_bind(socket, endpoint.c_str()), "zmq_bind");
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

    // Calls until it would not wait any more, where the way of waiting is to spin.
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

}  // namespace

int main(int, char** arguments) {
    over_tcp = arguments[1] && std::string(arguments[1]) == "tcp";
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    adapter::Row row{over_tcp ? "zeromq-tcp" : "zeromq-ipc",
                     over_tcp ? "a PAIR socket of ZeroMQ in each process, over TCP on the loopback"
                              : "a PAIR socket of ZeroMQ in each process, over a UNIX socket"};
    row.versions = {{"libzmq", std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch)}};
    row.waits = {"block", "spin"};
    row.max_size_bytes = INT32_MAX, row.limited_by = "zmq_recv gives a length as int";
    // PAIR sockets wait for the other end to come back.
    row.peer_death = "unnoticed";
    if (over_tcp) row.reach = "network";
    return adapter::run<Pair>(row);
}
