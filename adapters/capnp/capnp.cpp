// Cap'n Proto's RPC over a UNIX socket: a call for each round trip. The event loop runs in the thread of the measured loop.

#include "adapter.hpp"
#include "messages.capnp.h"

#include <capnp/rpc-twoparty.h>
#include <kj/async-io.h>

#include <sys/socket.h>
#include <sys/un.h>

namespace {

// Wraps the library's stream to wait until a response is written completely, because a call does not report that.
struct Stream final : kj::AsyncIoStream {
    kj::Own<kj::AsyncIoStream> inner;
    unsigned writes = 0;
    kj::Maybe<kj::Own<kj::PromiseFulfiller<void>>> written;

    explicit Stream(kj::Own<kj::AsyncIoStream> stream) : inner(kj::mv(stream)) {}

    kj::Promise<void> counted(kj::Promise<void> write) {
        ++writes;
        return write.then([this] {
            if (--writes) return;
            KJ_IF_MAYBE(waiting, written) (*waiting)->fulfill();
            written = nullptr;
        });
    }
    kj::Promise<void> until_written() {
        auto waiting = kj::newPromiseAndFulfiller<void>();
        written = kj::mv(waiting.fulfiller);
        return kj::mv(waiting.promise);
    }

    kj::Promise<std::size_t> tryRead(void* buffer, std::size_t least, std::size_t most) override { return inner->tryRead(buffer, least, most); }
    kj::Promise<void> write(const void* buffer, std::size_t size) override { return counted(inner->write(buffer, size)); }
    kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override { return counted(inner->write(pieces)); }
    kj::Promise<void> whenWriteDisconnected() override { return inner->whenWriteDisconnected(); }
    void shutdownWrite() override { inner->shutdownWrite(); }
};

// The responder's object: it keeps a call until the measured loop takes it.
struct Server final : Messages::Server {
    kj::Maybe<ExchangeContext> call;
    kj::Own<kj::PromiseFulfiller<void>> answered;
    kj::Maybe<kj::Own<kj::PromiseFulfiller<void>>> came;

    kj::Promise<void> exchange(ExchangeContext context) override {
        auto answer = kj::newPromiseAndFulfiller<void>();
        answered = kj::mv(answer.fulfiller);
        call = kj::mv(context);
        KJ_IF_MAYBE(waiting, came) (*waiting)->fulfill();
        came = nullptr;
        return kj::mv(answer.promise);
    }
    kj::Promise<void> next() {
        auto waiting = kj::newPromiseAndFulfiller<void>();
        came = kj::mv(waiting.fulfiller);
        return kj::mv(waiting.promise);
    }
};

capnp::ReaderOptions unlimited() {
    capnp::ReaderOptions options;
    options.traversalLimitInWords = UINT64_MAX;
    return options;
}

struct Link {
    kj::AsyncIoContext io = kj::setupAsyncIo();
    kj::Own<Stream> stream;
    kj::Own<capnp::TwoPartyVatNetwork> network;
    Server* server = nullptr;
    kj::Maybe<capnp::RpcSystem<capnp::rpc::twoparty::VatId>> system;
    kj::Maybe<Messages::Client> client;
    kj::Maybe<capnp::Request<Messages::ExchangeParams, Messages::ExchangeResults>> request;

    Link(const adapter::SetUp& set_up, adapter::Ready&) {
        using capnp::rpc::twoparty::Side;
        stream = kj::heap<Stream>(io.lowLevelProvider->wrapSocketFd(
            connected(set_up), kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP | kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC));
        auto side = set_up.initiator ? Side::CLIENT : Side::SERVER;
        network = kj::heap<capnp::TwoPartyVatNetwork>(*stream, side, unlimited());
        if (set_up.initiator) {
            auto& started = system.emplace(capnp::makeRpcClient(*network));
            capnp::MallocMessageBuilder message;
            auto other = message.initRoot<capnp::rpc::twoparty::VatId>();
            other.setSide(Side::SERVER);
            client = started.bootstrap(other).castAs<Messages>();
        } else {
            auto own = kj::heap<Server>();
            server = own.get();
            system.emplace(capnp::makeRpcServer(*network, Messages::Client(kj::mv(own))));
        }
    }

    static int connected(const adapter::SetUp& set_up) {
        int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        auto path = set_up.folder + "/socket";
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (descriptor < 0 || path.size() >= sizeof address.sun_path) adapter::fail("no socket at " + path);
        path.copy(address.sun_path, path.size());
        auto named = reinterpret_cast<const sockaddr*>(&address);
        if (set_up.initiator) {
            adapter::until("the responder", [&] { return connect(descriptor, named, sizeof address) == 0; });
            return descriptor;
        }
        adapter::remove_at_end(path);
        if (bind(descriptor, named, sizeof address) < 0 || listen(descriptor, 1) < 0) adapter::fail_with_errno("listen at " + path);
        int accepted = accept4(descriptor, nullptr, nullptr, SOCK_CLOEXEC);
        close(descriptor);
        if (accepted < 0) adapter::fail_with_errno("accept");
        return accepted;
    }

    void send(const unsigned char* message, std::size_t length) {
        if (server) {
            auto& call = KJ_ASSERT_NONNULL(server->call);
            auto results = call.getResults(capnp::MessageSize{length / 8 + 8, 0});
            std::memcpy(results.initMessage(unsigned(length)).begin(), message, length);
            server->call = nullptr;
            server->answered->fulfill();
            // Begins to write, and waits only where the socket is full.
            io.waitScope.poll();
            if (stream->writes) stream->until_written().wait(io.waitScope);
            return;
        }
        // The call itself waits for the response: it is made where that is received.
        auto made = KJ_ASSERT_NONNULL(client).exchangeRequest(capnp::MessageSize{length / 8 + 8, 0});
        std::memcpy(made.initMessage(unsigned(length)).begin(), message, length);
        request = kj::mv(made);
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        if (!server) {
            auto response = KJ_ASSERT_NONNULL(request).send().wait(io.waitScope);
            return copy(response.getMessage(), message, length);
        }
        while (server->call == nullptr) server->next().exclusiveJoin(gone()).wait(io.waitScope);
        return copy(KJ_ASSERT_NONNULL(server->call).getParams().getMessage(), message, length);
    }

    kj::Promise<void> gone() {
        return network->onDisconnect().then([] { adapter::fail("the peer has disconnected"); });
    }

    static std::size_t copy(capnp::Data::Reader came, unsigned char* message, std::size_t length) {
        if (came.size() <= length) std::memcpy(message, came.begin(), came.size());
        return came.size();
    }
};

}  // namespace

int main() {
    adapter::Row row{"capnp-rpc", "a call of Cap'n Proto's RPC for each round trip, over a UNIX socket"};
    auto text = [](int number) { return std::to_string(number); };
    row.versions = {{"Cap'n Proto", text(CAPNP_VERSION_MAJOR) + "." + text(CAPNP_VERSION_MINOR) + "." + text(CAPNP_VERSION_MICRO)}};
    row.patterns = {"round-trip", "request"};
    row.max_size_bytes = 64 << 20, row.limited_by = "what one segment of a message holds with the library's usual limits";
    return adapter::run<Link>(row);
}
