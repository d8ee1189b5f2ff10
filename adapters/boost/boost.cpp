// Three ways of Boost: Interprocess's message queue, a ring of slots in its managed shared memory under its mutex and
// conditions, and Lockfree's queue for one producer and one consumer, placed in that memory.

#include "adapter.hpp"

#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/ipc/message_queue.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>
#include <boost/interprocess/sync/interprocess_condition.hpp>
#include <boost/interprocess/sync/interprocess_mutex.hpp>
#include <boost/interprocess/sync/scoped_lock.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/version.hpp>

namespace {

namespace ipc = boost::interprocess;

// Bytes that a queue holds, as the rings of furlong do, and the least number of messages.
constexpr std::size_t QUEUE_BYTES = 2 << 20, LEAST_SLOTS = 4, MOST_SLOTS = 1 << 14;

std::size_t slots_for(std::size_t size) { return std::clamp(QUEUE_BYTES / size, LEAST_SLOTS, MOST_SLOTS); }

// Tries to open what the responder makes, until it has made it.
template <class Open> auto opened(Open open) {
    decltype(open()) found;
    adapter::until("the responder", [&] {
        try {
            return (found = open()) != nullptr;
        } catch (const ipc::interprocess_exception&) {
            return false;
        }
    });
    return found;
}

struct MessageQueues {
    using Queue = std::unique_ptr<ipc::message_queue>;
    Queue out, in;
    bool spins;

    MessageQueues(const adapter::SetUp& set_up, adapter::Ready& ready) : spins(set_up.wait == "spin") {
        auto there = set_up.name + "-there", back = set_up.name + "-back";
        auto slots = slots_for(set_up.largest());
        if (set_up.initiator) {
            auto open = [](const std::string& name) {
                return opened([&] { return std::make_unique<ipc::message_queue>(ipc::open_only, name.c_str()); });
            };
            out = open(there), in = open(back);
        } else {
            auto make = [&](const std::string& name, std::size_t size) {
                adapter::remove_at_end("/dev/shm/" + name);
                return std::make_unique<ipc::message_queue>(ipc::create_only, name.c_str(), slots, size);
            };
            out = make(back, set_up.own_size), in = make(there, set_up.other_size);
        }
        ready.numbers = {{"queue-messages", out->get_max_msg()}};
    }

    void send(const unsigned char* message, std::size_t length) {
        if (!spins) return out->send(message, length, 0);
        while (!out->try_send(message, length, 0)) adapter::pause();
    }

    std::size_t receive(unsigned char* message, std::size_t) {
        ipc::message_queue::size_type came;
        unsigned priority;
        // It refuses room for less than the queue's longest message.
        auto room = in->get_max_msg_size();
        if (!spins) in->receive(message, room, came, priority);
        else
            while (!in->try_receive(message, room, came, priority)) adapter::pause();
        return came;
    }
};

// Shared memory in which there is one object for each direction, by its name.
template <class Direction> struct SharedMemory {
    ipc::managed_shared_memory memory;
    Direction *out, *in;

    SharedMemory(const adapter::SetUp& set_up, std::size_t slots) {
        auto name = set_up.name.c_str();
        if (set_up.initiator) {
            memory = std::move(*opened([&] {
                auto found = std::make_unique<ipc::managed_shared_memory>(ipc::open_only, name);
                // Made last.
                if (!found->find<bool>("complete").first) throw ipc::interprocess_exception("incomplete");
                return found;
            }));
            out = memory.find<Direction>("there").first, in = memory.find<Direction>("back").first;
        } else {
            adapter::remove_at_end("/dev/shm/" + set_up.name);
            auto bytes = 2 * sizeof(Direction) + slots * (set_up.own_size + set_up.other_size) + (64 << 10);
            memory = ipc::managed_shared_memory(ipc::create_only, name, bytes);
            in = memory.construct<Direction>("there")(memory, slots, set_up.other_size);
            out = memory.construct<Direction>("back")(memory, slots, set_up.own_size);
            memory.construct<bool>("complete")(true);
        }
    }
};

// A ring of slots, as one writes it with a mutex and conditions.
struct Ring {
    ipc::interprocess_mutex mutex;
    ipc::interprocess_condition is_filled, is_free;
    std::size_t slots, slot_bytes, filled = 0, next_in = 0, next_out = 0;
    ipc::offset_ptr<unsigned char> bytes;

    Ring(ipc::managed_shared_memory& memory, std::size_t count, std::size_t size)
        : slots(count), slot_bytes(size), bytes(static_cast<unsigned char*>(memory.allocate(count * size))) {}

    void put(const unsigned char* message, std::size_t length) {
        ipc::scoped_lock<ipc::interprocess_mutex> lock(mutex);
        while (filled == slots) is_free.wait(lock);
        std::memcpy(bytes.get() + next_in * slot_bytes, message, length);
        next_in = next_in + 1 == slots ? 0 : next_in + 1;
        ++filled;
        is_filled.notify_one();
    }

    void take(unsigned char* message, std::size_t length) {
        ipc::scoped_lock<ipc::interprocess_mutex> lock(mutex);
        while (filled == 0) is_filled.wait(lock);
        std::memcpy(message, bytes.get() + next_out * slot_bytes, length);
        next_out = next_out + 1 == slots ? 0 : next_out + 1;
        --filled;
        is_free.notify_one();
    }
};

struct Rings : SharedMemory<Ring> {
    Rings(const adapter::SetUp& set_up, adapter::Ready& ready) : SharedMemory(set_up, slots_for(set_up.largest())) {
        ready.numbers = {{"slots", out->slots}};
    }

    void send(const unsigned char* message, std::size_t length) { out->put(message, length); }

    std::size_t receive(unsigned char* message, std::size_t length) {
        in->take(message, length);
        return length;
    }
};

// A queue of bytes, so that it carries messages of any size. One push or pop moves as many bytes as fit.
using Allocator = ipc::allocator<unsigned char, ipc::managed_shared_memory::segment_manager>;

struct Bytes : boost::lockfree::spsc_queue<unsigned char, boost::lockfree::allocator<Allocator>> {
    Bytes(ipc::managed_shared_memory& memory, std::size_t slots, std::size_t size)
        : spsc_queue(slots * size, Allocator(memory.get_segment_manager())) {}
};

// At least as many messages as make the size of a queue.
std::size_t messages_for(std::size_t size) { return std::max(QUEUE_BYTES / size + 1, LEAST_SLOTS); }

struct Queues : SharedMemory<Bytes> {
    Queues(const adapter::SetUp& set_up, adapter::Ready& ready) : SharedMemory(set_up, messages_for(set_up.largest())) {
        ready.numbers = {{"queue-bytes", messages_for(set_up.largest()) * set_up.largest()}};
    }

    void send(const unsigned char* message, std::size_t length) {
        for (auto left = length - out->push(message, length); left;) {
            adapter::pause();
            left -= out->push(message + length - left, left);
        }
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        for (auto left = length - in->pop(message, length); left;) {
            adapter::pause();
            left -= in->pop(message + length - left, left);
        }
        return length;
    }
};

}  // namespace

int main(int, char** arguments) {
    std::string which = arguments[1] ? arguments[1] : "";
    adapter::Row row{"boost-" + which, ""};
    auto version = BOOST_VERSION;
    row.versions = {{"boost", std::to_string(version / 100000) + "." + std::to_string(version / 100 % 1000)}};
    row.peer_death = "unnoticed";
    if (which == "mq") {
        row.summary = "a message_queue of Boost.Interprocess for each direction";
        row.waits = {"block", "spin"};
        return adapter::run<MessageQueues>(row);
    }
    if (which == "shared-memory") {
        row.summary = "a ring of slots for each direction in Boost.Interprocess's shared memory, with its mutex and conditions";
        return adapter::run<Rings>(row);
    }
    row.summary = "Boost.Lockfree's queue for one producer and one consumer for each direction, in shared memory";
    row.waits = {"spin"};
    return adapter::run<Queues>(row);
}
