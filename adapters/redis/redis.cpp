// A Redis list for each direction, with RPUSH and BLPOP over a UNIX socket.
//
// The responder starts a private server without a port and without files on disk. Its lists are unbounded, so streams
// to one or several receivers are not supported: a faster sender would fill the memory. A subscriber that falls
// behind is disconnected.

#include "adapter.hpp"

#include <hiredis/hiredis.h>

namespace {

using Reply = std::unique_ptr<void, decltype(&freeReplyObject)>;

struct Lists {
    redisContext* context = nullptr;
    const char *out, *in;

    Lists(const adapter::SetUp& set_up, adapter::Ready& ready)
        : out(set_up.initiator ? "there" : "back"), in(set_up.initiator ? "back" : "there") {
        auto path = set_up.folder + "/socket";
        if (!set_up.initiator) {
            adapter::remove_at_end(path);
            auto server = adapter::start_server({"redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly",
                                                 "no", "--logfile", "/dev/null", "--set-proc-title", "no"},
                                                set_up.folder);
            ready.processes = {{server, "other", "redis-server"}};
        }
        adapter::until("redis-server", [&] {
            if (context) redisFree(context);
            context = redisConnectUnix(path.c_str());
            return context && !context->err;
        });
    }
    ~Lists() { redisFree(context); }

    template <class... Arguments> Reply command(int type, const char* format, Arguments... arguments) {
        Reply reply(redisCommand(context, format, arguments...), freeReplyObject);
        if (!reply) adapter::fail("Redis: " + std::string(context->errstr));
        auto came = static_cast<redisReply*>(reply.get());
        if (came->type != type) adapter::fail("Redis: " + std::string(came->str ? came->str : "an unexpected reply"));
        return reply;
    }

    void send(const unsigned char* message, std::size_t length) {
        command(REDIS_REPLY_INTEGER, "RPUSH %s %b", out, message, length);
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        auto reply = command(REDIS_REPLY_ARRAY, "BLPOP %s 0", in);
        auto came = static_cast<redisReply*>(reply.get())->element[1];
        if (came->len <= length) std::memcpy(message, came->str, came->len);
        return came->len;
    }
};

}  // namespace

int main() {
    adapter::Row row{"redis-unix", "a list of a private Redis server for each direction, over a UNIX socket"};
    auto text = [](int number) { return std::to_string(number); };
    row.versions = {{"hiredis", text(HIREDIS_MAJOR) + "." + text(HIREDIS_MINOR) + "." + text(HIREDIS_PATCH)},
                    {"redis-server", adapter::output_of("redis-server --version | sed 's/.* v=\\([^ ]*\\).*/\\1/'")}};
    row.patterns = {"round-trip", "request"};
    row.max_size_bytes = 512 << 20, row.limited_by = "proto-max-bulk-len";
    // The list outlives its sender.
    row.peer_death = "unnoticed";
    return adapter::run<Lists>(row);
}
