// NNG's pair sockets over a UNIX socket or TCP's loopback, with nng_send and nng_recv.
//
// Threads of the library in each process do the reading and writing.

#include "adapter.hpp"

#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>

namespace {

bool over_tcp;

void check(int error, const char* call) {
    if (error) adapter::fail(std::string(call) + ": " + nng_strerror(error));
}

struct Pair {
    nng_socket socket;
    int flags;

    Pair(const adapter::SetUp& set_up, adapter::Ready&) : flags(set_up.wait == "spin" ? NNG_FLAG_NONBLOCK : 0) {
        check(nng_pair0_open(&socket), "nng_pair0_open");
        // Its own limit is 1 MiB.
        check(nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, 0), NNG_OPT_RECVMAXSZ);
        over_tcp ? open_tcp(set_up) : open_ipc(set_up);
    }
    ~Pair() { nng_close(socket); }

    void open_ipc(const adapter::SetUp& set_up) {
        auto path = set_up.folder + "/socket", url = "ipc://" + path;
        if (set_up.initiator) return dial(url);
        adapter::remove_at_end(path);
        check(nng_listen(socket, url.c_str(), nullptr, 0), "nng_listen");
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

    void dial(const std::string& url) {
        adapter::until("the responder", [&] {
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

}  // namespace

int main(int, char** arguments) {
    over_tcp = arguments[1] && std::string(arguments[1]) == "tcp";
    adapter::Row row{over_tcp ? "nng-tcp" : "nng-ipc", over_tcp ? "a pair socket of NNG in each process, over TCP on the loopback"
                                                                : "a pair socket of NNG in each process, over a UNIX socket"};
    row.versions = {{"nng", nng_version()}};
    row.waits = {"block", "spin"};
    // Pair sockets wait for the other end to come back.
    row.peer_death = "unnoticed";
    if (over_tcp) row.reach = "network";
    return adapter::run<Pair>(row);
}
