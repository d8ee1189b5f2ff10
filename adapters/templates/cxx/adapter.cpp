// The row NAME: messages through a UNIX socket, as a starting point. The headers have the rest and need no change.

#include "adapter.hpp"

#include <sys/socket.h>
#include <sys/un.h>

namespace {

struct Link {
    int descriptor;

    // Connects both roles. Named objects are created in set_up.folder, or are named set_up.name.
    Link(const adapter::SetUp& set_up, adapter::Ready&) : descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto path = set_up.folder + "/socket";
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (descriptor < 0 || path.size() >= sizeof address.sun_path) adapter::fail("no socket at " + path);
        path.copy(address.sun_path, path.size());
        auto named = reinterpret_cast<const sockaddr*>(&address);
        if (set_up.initiator) {
            adapter::until("the responder", [&] { return connect(descriptor, named, sizeof address) == 0; });
            return;
        }
        int listener = descriptor;
        adapter::remove_at_end(path);
        if (bind(listener, named, sizeof address) < 0 || listen(listener, 1) < 0) adapter::fail_with_errno("listen at " + path);
        descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        close(listener);
        if (descriptor < 0) adapter::fail_with_errno("accept");
    }
    ~Link() { close(descriptor); }

    // Only the next two functions are measured.
    void send(const unsigned char* message, std::size_t length) {
        for (std::size_t sent = 0; sent < length;) {
            auto came = write(descriptor, message + sent, length - sent);
            if (came < 0) adapter::fail_with_errno("write");
            sent += std::size_t(came);
        }
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        std::size_t received = 0;
        while (received < length) {
            auto came = read(descriptor, message + received, length - received);
            if (came < 0) adapter::fail_with_errno("read");
            if (came == 0) adapter::fail("the peer has disconnected");
            received += std::size_t(came);
        }
        return received;
    }
};

}  // namespace

int main() {
    // furlong's adapters/protocol.md lists the possible claims.
    adapter::Row row{"NAME", "a UNIX socket, with write and read"};
    return adapter::run<Link>(row);
}
