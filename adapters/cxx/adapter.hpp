// furlong's adapter protocol, version 1 (../protocol.md), in C++17 and POSIX: the conversation, the stamps and the loops.
//
// A program passes a class to `adapter::run`. furlong's set-up request constructs it, and it moves whole messages:
//
//     struct Link {
//         Link(const adapter::SetUp& set_up, adapter::Ready& ready);
//         void send(const unsigned char* message, std::size_t length);
//         std::size_t receive(unsigned char* message, std::size_t length);  // returns the received length
//         // Only for one of several workers: returns `no_message` if none arrives within some milliseconds, or many polls.
//         std::size_t receive_soon(unsigned char* message, std::size_t length);
//     };
//
// The responder creates the named objects and passes their names to `remove_at_end`. The initiator waits with `until`
// for them. A first message each way proves that both are connected, and then the names are removed. With several
// receivers (`to_several`), the initiator creates the objects, and its link is constructed once all are connected.
// Errors are thrown as `Failure`.

#pragma once

#include "json.hpp"
#include "role.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace adapter {

// Identity and claims of a benchmark.
struct Row {
    std::string name, summary;
    std::vector<std::pair<std::string, std::string>> versions{};
    std::vector<std::string> waits{"block"};
    std::vector<std::string> patterns{"round-trip", "one-way", "request"};
    std::size_t max_size_bytes = SIZE_MAX;
    std::string limited_by{};
    std::string shape = "pair", when_full = "waits", peer_death = "noticed", reach = "file-system";
};

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

// Implements `receive_soon` of a link: tries `attempt` once if it blocks, and many times if the link spins.
template <class Attempt> std::size_t soon(bool spins, Attempt attempt) {
    constexpr int looks = 1000;
    for (int look = 0; look < (spins ? looks : 1); ++look, pause())
        if (auto length = attempt(); length != no_message) return length;
    return no_message;
}

// Retries every millisecond until the condition holds.
template <class Attempt> void until(const std::string& what, Attempt is_so) {
    for (auto begin = now_ns(); !is_so(); usleep(1000))
        if (now_ns() - begin > 20000000000) fail(what + " has not come in 20 s");
}

// Publishes the address of the named object, so that the other role can read it.
inline void publish(const SetUp& set_up, const std::string& address) {
    auto path = set_up.folder + "/address", unfinished = path + ".new";
    remove_at_end(unfinished), remove_at_end(path);
    std::ofstream(unfinished) << address << '\n';
    if (rename(unfinished.c_str(), path.c_str()) != 0) fail_with_errno("rename " + unfinished);
}

inline std::string published(const SetUp& set_up) {
    std::string address;
    until("the other role", [&] { return bool(std::getline(std::ifstream(set_up.folder + "/address"), address)); });
    return address;
}

inline std::string hello(const Row& row) {
    auto member = [](auto& item) { return json_text(item.first) + ":" + json_text(item.second); };
    auto limit = row.max_size_bytes == SIZE_MAX ? "" : ",\"max_size_bytes\":" + std::to_string(row.max_size_bytes) +
                                                           ",\"limited_by\":" + json_text(row.limited_by);
    return "{\"op\":\"hello\",\"protocol\":1,\"name\":" + json_text(row.name) + ",\"versions\":{" + list(row.versions, member) +
           "},\"clock_ns\":" + std::to_string(now_ns()) + ",\"shape\":" + json_text(row.shape) + ",\"claims\":{\"summary\":" + json_text(row.summary) +
           ",\"waits\":[" + list(row.waits, json_text) + "],\"patterns\":[" + list(row.patterns, json_text) + "]" + limit +
           ",\"when_full\":" + json_text(row.when_full) + ",\"peer_death\":" + json_text(row.peer_death) +
           ",\"reach\":" + json_text(row.reach) + ",\"rates\":true,\"schedules\":true}}";
}

// Returns the requested set-up. Throws if the row does not support it.
inline SetUp set_up_of(const Row& row, Request& request) {
    auto has = [](auto& items, auto& item) { return std::find(items.begin(), items.end(), item) != items.end(); };
    auto& pattern = request["pattern"].at(0);
    auto& wait = request["wait"].at(0);
    if (!has(row.waits, wait)) throw Failure{"unsupported", "it cannot wait by " + wait};
    if (!has(row.patterns, pattern)) throw Failure{"unsupported", "it has no pattern " + pattern};
    bool initiator = request["role"].at(0) == "initiator";
    std::size_t own = std::stoull(request["sizes_bytes"].at(!initiator)), other = std::stoull(request["sizes_bytes"].at(initiator));
    if (std::min(own, other) < 1) throw Failure{"unsupported", "a message has at least one byte"};
    if (std::max(own, other) > row.max_size_bytes)
        throw Failure{"unsupported", "its messages have at most " + std::to_string(row.max_size_bytes) + " bytes"};
    auto among = [&](const char* key) { return request.count(key) ? unsigned(std::stoul(request[key].at(0))) : 1; };
    return {initiator, pattern, wait, request["folder"].at(0), request["name"].at(0), own, other, among("responders"), among("number")};
}

inline std::string list_of(const std::vector<Process>& processes) {
    return list(processes, [](auto& one) {
        return "{\"pid\":" + std::to_string(one.pid) + ",\"role\":" + json_text(one.role) + ",\"name\":" + json_text(one.name) + "}";
    });
}

inline std::string readings_of(const std::vector<std::uint64_t>& readings) {
    return "{\"op\":\"readings\",\"clock_ns\":[" + list(readings, [](auto& one) { return std::to_string(one); }) + "]}";
}

inline std::string exchanged(std::uint64_t messages, std::uint64_t verified, const Schedule& schedule, const Taken* taken = nullptr) {
    auto member = [](const char* name, std::uint64_t value) { return "\"" + std::string(name) + "\":" + std::to_string(value); };
    auto reply = "{\"op\":\"exchanged\"," + member("messages", messages) + "," + member("verified", verified);
    if (schedule.interval_ns)
        reply += "," + member("late", schedule.late) + ",\"late_by_ns\":[" + list(schedule.late_by_ns, [](auto& one) { return std::to_string(one); }) +
                 "]," + member("idle_ns", schedule.idle_ns) + "," + member("idle_switches", schedule.idle_switches);
    if (taken)
        reply += ",\"taken\":{" + member("count", taken->count) + "," + member("sum", taken->sum) + "," + member("squares", taken->squares) + "}";
    return reply + "}";
}

template <class Link> std::string answer(const Row& row, std::unique_ptr<Role<Link>>& role, Request& request) {
    auto op = request["op"].at(0);
    if (op == "hello") return hello(row);
    if (op == "set-up") {
        auto set_up = set_up_of(row, request);
        auto stamp = [&](bool index) { return Stamp{std::stoull(request["stamps"].at(index), nullptr, 16)}; };
        role = std::make_unique<Role<Link>>(set_up, stamp(!set_up.initiator), stamp(set_up.initiator));
        std::string in_force;
        for (auto& item : role->ready.numbers) in_force += "," + json_text(item.first) + ":" + std::to_string(item.second);
        return "{\"op\":\"ready\",\"effective\":{\"pattern\":" + json_text(set_up.pattern) + ",\"wait\":" + json_text(set_up.wait) +
               ",\"sizes_bytes\":[" + list(request["sizes_bytes"], [](auto& size) { return size; }) + "]" + in_force +
               "},\"processes\":[" + list_of(role->ready.processes) + "]}";
    }
    if (op == "finish") {
        role.reset();
        leftovers::remove();
        return "{\"op\":\"finished\"}";
    }
    if (op != "exchange" && op != "readings") throw Failure{"unsupported", "the request " + op + " is unknown"};
    if (!role) fail("nothing is set up");
    if (op == "readings") return readings_of(role->readings);
    auto messages = std::stoull(request["messages"].at(0));
    auto interval_ns = request.count("interval_ns") ? std::stoull(request["interval_ns"].at(0)) : 0;
    auto verified = role->exchange(messages, std::stoull(request["batch"].at(0)), request["verify"].at(0) == "true", interval_ns, request.count("scheduled") != 0);
    return exchanged(role->own_share(messages), verified, role->schedule, role->by_all ? &role->taken : nullptr);
}

// Opens the file that a variable names. Programs started here do not inherit the descriptor.
inline FILE* open_variable(const char* name, const char* mode) {
    const char* path = std::getenv(name);
    FILE* file = path ? std::fopen(path, mode) : nullptr;
    if (!file) return nullptr;
    int inherited;
    if (std::sscanf(path, "/dev/fd/%d", &inherited) == 1) fcntl(inherited, F_SETFD, FD_CLOEXEC);
    return file;
}

// Answers furlong's requests with the replies of `answer`, which gets the request and its line, until there are no
// more.
template <class Answer> int converse(Answer answer) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, leftovers::terminate);
    FILE *requests = open_variable("FURLONG_READ", "re"), *replies = open_variable("FURLONG_WRITE", "we");
    if (!requests || !replies) return std::fprintf(stderr, "furlong starts this: furlong run --adapter FOLDER\n"), 2;
    char* line = nullptr;
    bool ends = false;
    for (std::size_t room = 0; !ends && getline(&line, &room, requests) > 0;) {
        std::string reply;
        auto request = parse(line);
        auto error = [](const std::string& fault, const std::string& detail) {
            return "{\"op\":\"error\",\"fault\":" + json_text(fault) + ",\"detail\":" + json_text(detail) + "}";
        };
        try {
            ends = request["op"].at(0) == "finish";
            reply = answer(request, line);
        } catch (const Failure& failure) {
            reply = error(failure.fault, failure.detail);
        } catch (const std::exception& failure) {
            reply = error("error", failure.what());
        }
        std::fprintf(replies, "%s\n", reply.c_str());
        std::fflush(replies);
    }
    return 0;
}

// Main loop of a program with this link; returns the exit status.
template <class Link> int run(const Row& row) {
    std::unique_ptr<Role<Link>> role;
    int code = converse([&](Request& request, const char*) { return answer<Link>(row, role, request); });
    role.reset();
    leftovers::remove();
    return code;
}

}  // namespace adapter
