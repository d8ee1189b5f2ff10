// The loops of adapter.hpp around FIFOs: what furlong's own row `fifo` does, so the two rows show what the header costs.

#include "adapter.hpp"

#include <sys/stat.h>

namespace {

struct Fifos {
    int out, in;

    Fifos(const adapter::SetUp& set_up, adapter::Ready& ready) {
        auto there = set_up.folder + "/there", back = set_up.folder + "/back";
        if (set_up.initiator) {
            adapter::until("the responder", [&] { return access(there.c_str(), F_OK) == 0; });
            out = opened(there, O_WRONLY), in = opened(back, O_RDONLY);
        } else {
            for (auto& path : {back, there}) {
                if (mkfifo(path.c_str(), 0600) != 0) adapter::fail_with_errno("mkfifo " + path);
                adapter::remove_at_end(path);
            }
            in = opened(there, O_RDONLY), out = opened(back, O_WRONLY);
        }
        ready.numbers = {{"pipe-size-bytes", fcntl(out, F_GETPIPE_SZ)}};
    }
    ~Fifos() { close(out), close(in); }

    static int opened(const std::string& path, int mode) {
        int descriptor = open(path.c_str(), mode | O_CLOEXEC);
        if (descriptor < 0) adapter::fail_with_errno("open " + path);
        return descriptor;
    }

    void send(const unsigned char* message, std::size_t length) {
        while (length) {
            auto written = write(out, message, length);
            if (written < 0) adapter::fail_with_errno("write");
            message += written, length -= std::size_t(written);
        }
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        for (std::size_t left = length; left;) {
            auto came = read(in, message, left);
            if (came < 0) adapter::fail_with_errno("read");
            if (came == 0) adapter::fail("the peer has disconnected");
            message += came, left -= std::size_t(came);
        }
        return length;
    }
};

}  // namespace

int main() {
    adapter::Row row{"cxx-fifo", "two FIFOs, written and read by write and read, in the loop of the adapters in C++"};
    row.versions = {{"gcc", __VERSION__}};
    return adapter::run<Fifos>(row);
}
