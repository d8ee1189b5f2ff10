// One role: its messages, its link, and the measured loops.

#pragma once

#include "failure.hpp"
#include "leftovers.hpp"
#include "stamp.hpp"
#include "taken.hpp"

#include <sys/types.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace adapter {

// Set-up of one role, as furlong requests it.
struct SetUp {
    bool initiator;
    std::string pattern, wait, folder, name;
    std::size_t own_size, other_size;
    unsigned responders, number;  // of fan-out or work: number of responders, and number of this one from 1

    std::size_t largest() const { return std::max(own_size, other_size); }
    bool works() const { return pattern == "work"; }
    bool to_several() const { return pattern == "fan-out" || works(); }
    bool one_way() const { return pattern == "one-way" || to_several(); }
};

// A participating process that furlong did not start; the `role` of a server is `other`.
struct Process {
    pid_t pid;
    std::string role, name;
};

// Reported properties of a link: effective numbers by name, and processes.
struct Ready {
    std::vector<std::pair<std::string, std::uint64_t>> numbers;
    std::vector<Process> processes;
};

inline std::uint64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::uint64_t(now.tv_sec) * 1000000000 + std::uint64_t(now.tv_nsec);
}

// One message of a schedule: when it is due after the first reading of the clock, and its size.
struct Planned {
    std::uint64_t due_ns;
    std::size_t size;
};

// Reads the file that furlong writes before an exchange with varying times or sizes.
inline std::vector<Planned> planned_messages(const std::string& folder, std::uint64_t messages) {
    std::vector<Planned> planned;
    std::ifstream file(folder + "/schedule");
    for (Planned one; file >> one.due_ns >> one.size;) planned.push_back(one);
    if (planned.size() != messages) fail("the schedule has " + std::to_string(planned.size()) + " messages");
    return planned;
}

// Due times of messages, and the initiator's idle time until then.
struct Schedule {
    std::uint64_t interval_ns = 0;  // 0 if each message follows its predecessor
    bool sleeps = true;             // until shortly before the due time, then spins: a timer's delay is no property of the row
    std::uint64_t due_ns = 0, late = 0, idle_ns = 0, idle_switches = 0;
    std::vector<std::uint64_t> late_by_ns{};  // numbers of late messages, each followed by its delay
    std::uint64_t number = 0;
    std::vector<Planned> planned{};  // empty if all messages have one size and one interval
    std::uint64_t start_ns = 0;

    void begin(std::uint64_t now_ns) { due_ns = start_ns = now_ns; }

    void wait_for_next() {
        constexpr std::uint64_t timer_slack_ns = 100000, punctual_ns = 1000, most_late = 100000;
        due_ns = planned.empty() ? due_ns + interval_ns : start_ns + planned[number].due_ns;
        auto before = thread_ns(), wake_ns = due_ns - timer_slack_ns;
        if (sleeps && now_ns() < wake_ns) {
            timespec wake{time_t(wake_ns / 1000000000), long(wake_ns % 1000000000)};
            while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr) != 0) {}
            ++idle_switches;
        }
        while (now_ns() < due_ns) {}
        ++number;
        idle_ns += thread_ns() - before;
        auto late_ns = now_ns() - due_ns;
        if (late_ns <= punctual_ns) return;
        if (++late <= most_late) late_by_ns.insert(late_by_ns.end(), {number, late_ns});
    }

    static std::uint64_t thread_ns() {
        timespec used;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        return std::uint64_t(used.tv_sec) * 1000000000 + std::uint64_t(used.tv_nsec);
    }
};

// Memory of a message: whole pages, already mapped.
struct Buffer {
    std::size_t length;
    unsigned char* bytes;

    explicit Buffer(std::size_t size) : length(size) {
        auto room = (size + 4095) / 4096 * 4096;
        bytes = static_cast<unsigned char*>(std::aligned_alloc(4096, room));
        if (!bytes) fail("no memory");
        std::memset(bytes, 0, room);
    }
    ~Buffer() { std::free(bytes); }
    Buffer(const Buffer&) = delete;
};

// Whether a link can stop waiting; it then returns `no_message`.
constexpr std::size_t no_message = SIZE_MAX;
template <class Link, class = void> struct can_give_up : std::false_type {};
template <class Link>
struct can_give_up<Link, std::void_t<decltype(std::declval<Link&>().receive_soon(nullptr, std::size_t{}))>> : std::true_type {};

// An end of the link, with its messages. The loops are compiled for the link and contain only what the protocol
// demands.
template <class Link> struct Role {
    SetUp set_up;
    Ready ready;
    Stamp own, other;
    Buffer outbox, inbox, expected;
    std::vector<std::uint64_t> readings;
    std::uint64_t done = 0;  // exchanged by all workers
    Taken taken;             // by this worker
    std::unique_ptr<TakenByAll> by_all;
    Schedule schedule;
    std::uint64_t before = 0;  // messages before this exchange
    bool own_varies = false, other_varies = false;
    Link link;

    Role(const SetUp& asked, Stamp own_stamp, Stamp other_stamp)
        : set_up(asked), own(own_stamp), other(other_stamp), outbox(asked.own_size), inbox(asked.other_size),
          expected(asked.other_size), by_all(taken_by_all()), link(set_up, ready) {
        if (!set_up.to_several()) greet();
        leftovers::remove_paths();
    }

    // Returns the counter file of a worker. The initiator removes the file, because its link is constructed once all
    // workers have the file and are connected.
    std::unique_ptr<TakenByAll> taken_by_all() {
        if (!set_up.works()) return nullptr;
        if (!set_up.initiator) return std::make_unique<TakenByAll>(set_up.folder, set_up.responders, set_up.number);
        remove_at_end(TakenByAll::path_in(set_up.folder));
        return nullptr;
    }

    void greet() {
        unsigned char greeting = 1, answer = 0;
        if (set_up.initiator) link.send(&greeting, 1);
        if (link.receive(&answer, 1) != 1 || answer != greeting) fail("the first message is not the other role's");
        if (!set_up.initiator) link.send(&greeting, 1);
    }

    // Returns the number of exchanged messages that this role received or sent.
    std::uint64_t own_share(std::uint64_t messages) const { return by_all ? taken.count - taken_before : messages; }
    std::uint64_t taken_before = 0;

    // Exchanges messages, each immediately or at its due time. Returns the number of received messages that were
    // verified.
    std::uint64_t exchange(std::uint64_t messages, std::uint64_t batch, bool verify, std::uint64_t interval_ns = 0, bool scheduled = false) {
        schedule = Schedule{interval_ns, set_up.wait == "block"};
        if (scheduled) schedule.planned = planned_messages(set_up.folder, messages);
        before = done;
        bool one_size = set_up.pattern == "request";  // of requests; their responses vary
        own_varies = scheduled && !(one_size && set_up.initiator), other_varies = scheduled && !(one_size && !set_up.initiator);
        bool sends_alone = set_up.one_way() && set_up.initiator;
        auto in_batch = batch ? batch : messages, batches = in_batch ? messages / in_batch : 0;
        if constexpr (can_give_up<Link>::value) {
            if (by_all) return work(messages, in_batch, batch != 0, verify);
        }
        readings.assign(batches + 1, 0);
        if (verify) loop<true, false>(batches, in_batch);
        else interval_ns ? loop<false, true>(batches, in_batch) : loop<false, false>(batches, in_batch);
        if (!batch || (!set_up.initiator && !set_up.one_way())) readings.clear();
        else if (sends_alone && !set_up.works()) readings.resize(1);
        else if (set_up.one_way() && !set_up.initiator) readings.erase(readings.begin());
        return verify && !sends_alone ? messages : 0;
    }

    // Bytes of the message with this number. The next exchange may have other sizes, so the message after the last has the largest.
    std::size_t planned_size(std::uint64_t number, std::size_t largest) const {
        auto index = number - before - 1;
        return index < schedule.planned.size() ? schedule.planned[index].size : largest;
    }
    std::size_t own_length(std::uint64_t number) const { return own_varies ? planned_size(number, outbox.length) : outbox.length; }
    std::size_t other_length(std::uint64_t number) const { return other_varies ? planned_size(number, inbox.length) : inbox.length; }

    template <bool verify, bool due> void loop(std::uint64_t batches, std::uint64_t in_batch) {
        if (set_up.one_way()) set_up.initiator ? send_all<verify, due>(batches, in_batch) : receive_all<verify>(batches, in_batch);
        else set_up.initiator ? initiate<verify, due>(batches, in_batch) : respond<verify>(batches * in_batch);
    }

    template <bool verify, bool due> void initiate(std::uint64_t batches, std::uint64_t in_batch) {
        bool came = false;
        std::size_t length = 0;
        stamp<verify>();
        readings[0] = now_ns();
        schedule.begin(readings[0]);
        for (std::uint64_t index = 1; index <= batches; ++index) {
            for (auto left = in_batch; left; --left) {
                if (due) schedule.wait_for_next();
                link.send(outbox.bytes, own_length(done + 1));
                if (came) check<verify>(length);
                ++done;
                stamp<verify>();
                length = link.receive(inbox.bytes, other_length(done));
                came = true;
            }
            readings[index] = now_ns();
        }
        if (came) check<verify>(length);
    }

    template <bool verify> void respond(std::uint64_t messages) {
        for (stamp<verify>(); messages; --messages) {
            auto length = link.receive(inbox.bytes, other_length(done + 1));
            link.send(outbox.bytes, own_length(done + 1));
            ++done;
            check<verify>(length);
            stamp<verify>();
        }
    }

    template <bool verify, bool due> void send_all(std::uint64_t batches, std::uint64_t in_batch) {
        readings[0] = now_ns();
        schedule.begin(readings[0]);
        for (std::uint64_t index = 1; index <= batches; ++index) {
            for (auto left = in_batch; left; --left) {
                stamp<verify>();
                if (due) schedule.wait_for_next();
                link.send(outbox.bytes, own_length(done + 1));
                ++done;
            }
            // With a single receiver, the receiver reads the clock.
            if (set_up.works()) readings[index] = now_ns();
        }
    }

    template <bool verify> void receive_all(std::uint64_t batches, std::uint64_t in_batch) {
        for (std::uint64_t index = 1; index <= batches; ++index) {
            for (auto left = in_batch; left; --left) {
                auto length = link.receive(inbox.bytes, other_length(done + 1));
                ++done;
                check<verify>(length);
            }
            readings[index] = now_ns();
        }
    }

    // Receives messages until the workers together have received all that were sent. Returns the number of verified
    // ones.
    std::uint64_t work(std::uint64_t messages, std::uint64_t in_batch, bool reads_clock, bool verify) {
        taken_before = taken.count;
        done += messages;
        readings.clear();
        readings.reserve(messages / in_batch);
        verify ? take_until_all_are_taken<true>(in_batch) : take_until_all_are_taken<false>(in_batch);
        if (!reads_clock) readings.clear();
        return verify ? taken.count - taken_before : 0;
    }

    template <bool verify> void take_until_all_are_taken(std::uint64_t in_batch) {
        constexpr std::uint64_t patience_ns = 1000000000;
        auto left = in_batch;
        std::uint64_t none_since = 0;
        for (;;) {
            auto length = link.receive_soon(inbox.bytes, inbox.length);
            if (length != no_message) {
                take<verify>(length);
                by_all->say(taken.count);
                none_since = 0;
                if (--left == 0) readings.push_back(now_ns()), left = in_batch;
                continue;
            }
            auto all = by_all->all(), now = now_ns();
            if (all >= done) return;
            if (!none_since) none_since = now;
            else if (now - none_since > patience_ns)
                throw Failure{"lost", "the workers took " + std::to_string(all) + " of " + std::to_string(done) +
                                          " messages, and no more has come to this one for 1 s"};
        }
    }

    // Checks the latest message. Its number only has to be higher than that of the previous one.
    template <bool verify> void take(std::size_t length) {
        std::uint32_t number, last = std::uint32_t(taken.last);
        if (length != inbox.length) refuse(length, last + 1, inbox.length);
        std::memcpy(&number, inbox.bytes, sizeof number);
        if (!other.holds(inbox.bytes, length, number)) refuse(length, number, length);
        if (std::uint32_t ahead = number - last; ahead != 0 && ahead < 1u << 31) taken.add(ahead);
        else throw Failure{"repeated", "message " + std::to_string(number) + " arrived after " + std::to_string(last)};
        if (verify) check_all(length, number);
    }

    // Stamps the next message.
    template <bool verify> void stamp() {
        auto number = std::uint32_t(done + 1);
        auto length = own_length(done + 1);
        verify ? own.write_all(outbox.bytes, length, number) : own.write(outbox.bytes, length, number);
    }

    // Checks the latest message.
    template <bool verify> void check(std::size_t length) {
        auto number = std::uint32_t(done);
        if (length != other_length(done) || !other.holds(inbox.bytes, length, number)) refuse(length, number, other_length(done));
        if (verify) check_all(length, number);
    }

    void check_all(std::size_t length, std::uint32_t number) {
        other.write_all(expected.bytes, length, number);
        if (std::memcmp(inbox.bytes, expected.bytes, length) != 0) refuse(length, number, length);
    }

    [[noreturn, gnu::cold, gnu::noinline]] void refuse(std::size_t length, std::uint32_t number, std::size_t wanted) {
        if (length != wanted)
            throw Failure{"truncated", "message " + std::to_string(number) + " has " + std::to_string(length) +
                                           " bytes instead of " + std::to_string(wanted)};
        if (other.holds(inbox.bytes, length, number)) other.write_all(expected.bytes, length, number);
        else {
            std::memcpy(expected.bytes, inbox.bytes, length);
            other.write(expected.bytes, length, number);
        }
        throw other.explain(inbox.bytes, expected.bytes, length, number);
    }
};

}  // namespace adapter
