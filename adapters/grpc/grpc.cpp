// gRPC over a UNIX socket: one call for each message, or one call with a stream each way.
//
// The methods are declared as protoc's plugin would, but with grpc::ByteBuffer as the message type. Nothing is
// serialised, so only gRPC is measured. The client uses the blocking stub. The server uses a completion queue, which
// the thread of the measured loop waits for, because a synchronous server would first hand each call to another
// thread.

#include "adapter.hpp"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/sync_stream.h>

namespace {

using grpc::internal::RpcMethod;

constexpr const char* UNARY = "/furlong.Messages/Unary";
constexpr const char* STREAM = "/furlong.Messages/Stream";

struct Service : grpc::Service {
    Service() {
        AddMethod(new grpc::internal::RpcServiceMethod(UNARY, RpcMethod::NORMAL_RPC, nullptr));
        AddMethod(new grpc::internal::RpcServiceMethod(STREAM, RpcMethod::BIDI_STREAMING, nullptr));
        MarkMethodAsync(0);
        MarkMethodAsync(1);
    }
    using grpc::Service::RequestAsyncBidiStreaming;
    using grpc::Service::RequestAsyncUnary;
};

// A copy of a message, as gRPC takes it.
grpc::ByteBuffer packed(const unsigned char* message, std::size_t length) {
    grpc::Slice slice(message, length);
    return {&slice, 1};
}

// Copies the received bytes, and returns their number.
std::size_t unpack(const grpc::ByteBuffer& buffer, unsigned char* message, std::size_t length) {
    std::vector<grpc::Slice> slices;
    if (buffer.Length() > length || !buffer.Dump(&slices).ok()) return buffer.Length();
    for (auto& slice : slices) message = std::copy(slice.begin(), slice.end(), message);
    return buffer.Length();
}

void check(const grpc::Status& status) {
    if (!status.ok()) adapter::fail("gRPC: " + status.error_message());
}

void check(bool done) {
    if (!done) adapter::fail("the peer has disconnected");
}

std::string address(const adapter::SetUp& set_up) { return set_up.folder + "/socket"; }

// The initiator's connection.
std::shared_ptr<grpc::Channel> connected(const adapter::SetUp& set_up) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    // The socket may be there and not listen yet; its own is to try again after a second.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    adapter::until("the responder", [&] { return access(address(set_up).c_str(), F_OK) == 0; });
    auto channel = grpc::CreateCustomChannel("unix:" + address(set_up), grpc::InsecureChannelCredentials(), arguments);
    if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20))) adapter::fail("gRPC cannot connect");
    return channel;
}

// The responder, and the queue of what it has done.
struct Server {
    Service service;
    std::unique_ptr<grpc::ServerCompletionQueue> queue;
    std::unique_ptr<grpc::Server> server;

    explicit Server(const adapter::SetUp& set_up) {
        grpc::ServerBuilder builder;
        adapter::remove_at_end(address(set_up));
        builder.AddListeningPort("unix:" + address(set_up), grpc::InsecureServerCredentials());
        builder.SetMaxReceiveMessageSize(-1);
        builder.RegisterService(&service);
        queue = builder.AddCompletionQueue();
        server = builder.BuildAndStart();
        if (!server) adapter::fail("gRPC's server does not start");
    }

    // Waits for the one thing that was begun. False if it will not come.
    bool wait() {
        void* tag;
        bool done;
        return queue->Next(&tag, &done) && done;
    }
};

struct UnaryCall {
    grpc::ServerContext context;
    grpc::ByteBuffer request;
    grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer{&context};
};

struct Unary {
    std::shared_ptr<grpc::Channel> channel;
    grpc::ByteBuffer request, response;
    std::unique_ptr<UnaryCall> call;
    std::unique_ptr<Server> server;

    Unary(const adapter::SetUp& set_up, adapter::Ready&) {
        if (set_up.initiator) channel = connected(set_up);
        else server = std::make_unique<Server>(set_up), accept();
    }

    void accept() {
        call = std::make_unique<UnaryCall>();
        auto queue = server->queue.get();
        server->service.RequestAsyncUnary(0, &call->context, &call->request, &call->writer, queue, queue, this);
    }

    void send(const unsigned char* message, std::size_t length) {
        // The call itself waits for the response: it is made where that is received.
        if (channel) return void(request = packed(message, length));
        call->writer.Finish(packed(message, length), grpc::Status::OK, this);
        check(server->wait());
        accept();
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        if (!channel) {
            check(server->wait());
            return unpack(call->request, message, length);
        }
        grpc::ClientContext context;
        RpcMethod method(UNARY, RpcMethod::NORMAL_RPC);
        check(grpc::internal::BlockingUnaryCall(channel.get(), method, &context, request, &response));
        return unpack(response, message, length);
    }
};

struct Stream {
    std::shared_ptr<grpc::Channel> channel;
    grpc::ClientContext client_context;
    std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> client;
    grpc::ServerContext context;
    grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream{&context};
    std::unique_ptr<Server> server;
    grpc::ByteBuffer buffer;

    Stream(const adapter::SetUp& set_up, adapter::Ready&) {
        using Factory = grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>;
        if (set_up.initiator) {
            channel = connected(set_up);
            client.reset(Factory::Create(channel.get(), RpcMethod(STREAM, RpcMethod::BIDI_STREAMING), &client_context));
        } else {
            server = std::make_unique<Server>(set_up);
            auto queue = server->queue.get();
            server->service.RequestAsyncBidiStreaming(1, &context, &stream, queue, queue, this);
            check(server->wait());
        }
    }

    void send(const unsigned char* message, std::size_t length) {
        if (client) return check(client->Write(packed(message, length)));
        stream.Write(packed(message, length), this);
        check(server->wait());
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        if (client) check(client->Read(&buffer));
        else stream.Read(&buffer, this), check(server->wait());
        return unpack(buffer, message, length);
    }
};

// A link that is closed by the end of the process alone: on a busy machine three of a thousand did not come back from
// closing it.
template <class Link> struct Unclosed {
    Link& link;

    Unclosed(const adapter::SetUp& set_up, adapter::Ready& ready) : link(*new Link(set_up, ready)) {}
    void send(const unsigned char* message, std::size_t length) { link.send(message, length); }
    std::size_t receive(unsigned char* message, std::size_t length) { return link.receive(message, length); }
};

}  // namespace

int main(int, char** arguments) {
    bool is_stream = arguments[1] && std::string(arguments[1]) == "stream";
    adapter::Row row{is_stream ? "grpc-stream" : "grpc-unary",
                     is_stream ? "one gRPC call over a UNIX socket, with a stream of messages each way"
                               : "a gRPC call for each round trip over a UNIX socket"};
    row.versions = {{"grpc", grpc::Version()}};
    // A message's length has 32 bits, and some lengths in the library are int.
    row.max_size_bytes = INT32_MAX, row.limited_by = "the length in a message's frame";
    if (is_stream) _exit(adapter::run<Unclosed<Stream>>(row));
    row.patterns = {"round-trip", "request"};
    // A server waits for other clients.
    row.peer_death = "unnoticed";
    _exit(adapter::run<Unclosed<Unary>>(row));
}
