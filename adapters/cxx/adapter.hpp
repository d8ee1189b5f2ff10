// furlong's adapter protocol, version 1 (../protocol.md), in C++17 and POSIX: the conversation, the stamps and the loops.
//
// A program gives `adapter::run` a class that is made when furlong sets a role up, and that moves whole messages:
//
//     struct Link {
//         Link(const adapter::SetUp& set_up, adapter::Ready& ready);
//         void send(const unsigned char* message, std::size_t length);
//         std::size_t receive(unsigned char* message, std::size_t length);  // gives the length of what came
//     };
//
// The responder makes what has a name and says so to `remove_at_end`; the initiator waits with `until` for it to be there.
// A first message each way shows that both are connected, and the names are removed. What fails throws a `Failure`.

#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace adapter {

// What the protocol calls an error: a fault by its name, and the detail that the row shows.
struct Failure {
    std::string fault, detail;
};

[[noreturn]] inline void fail(const std::string& detail) { throw Failure{"error", detail}; }

[[noreturn]] inline void fail_with_errno(const std::string& what) { fail(what + ": " + std::strerror(errno)); }

// Who the program is, and what it claims.
struct Row {
    std::string name, summary;
    std::vector<std::pair<std::string, std::string>> versions{};
    std::vector<std::string> waits{"block"};
    std::vector<std::string> patterns{"round-trip", "one-way", "request"};
    std::size_t max_size_bytes = SIZE_MAX;
    std::string limited_by{};
    std::string shape = "pair", when_full = "waits", peer_death = "noticed", reach = "file-system";
};

// What furlong asks for, seen from one role.
struct SetUp {
    bool initiator;
    std::string pattern, wait, folder, name;
    std::size_t own_size, other_size;

    std::size_t largest() const { return std::max(own_size, other_size); }
    bool one_way() const { return pattern == "one-way"; }
};

// A process that takes part and that furlong has not started: `role` is `other` for a server.
struct Process {
    pid_t pid;
    std::string role, name;
};

// What a link tells of itself: numbers in force by name, and processes.
struct Ready {
    std::vector<std::pair<std::string, std::uint64_t>> numbers;
    std::vector<Process> processes;
};

inline std::uint64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::uint64_t(now.tv_sec) * 1000000000 + std::uint64_t(now.tv_nsec);
}

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

// Tries each millisecond until it is so.
template <class Attempt> void until(const std::string& what, Attempt is_so) {
    for (auto begin = now_ns(); !is_so(); usleep(1000))
        if (now_ns() - begin > 20000000000) fail(what + " has not come in 20 s");
}

// What is left to remove when the program ends in whatever way. A signal handler reads it, so it allocates nothing.
namespace leftovers {
inline char paths[16][512];
inline pid_t servers[4];
inline int ending_signals[4];
inline volatile sig_atomic_t path_count, server_count;

inline void remove_paths() {
    for (; path_count > 0; path_count = path_count - 1)
        if (unlink(paths[path_count - 1]) != 0) rmdir(paths[path_count - 1]);
}

inline void remove() {
    for (int index = 0; index < server_count; ++index) kill(servers[index], ending_signals[index]);
    for (; server_count > 0; server_count = server_count - 1) waitpid(servers[server_count - 1], nullptr, 0);
    remove_paths();
}

inline void terminate(int signal) {
    remove();
    _exit(128 + signal);
}
}  // namespace leftovers

// A file, or an empty folder, to remove once both roles are connected, or when the program ends. Shared memory is a file in /dev/shm.
inline void remove_at_end(const std::string& path) {
    if (leftovers::path_count == 16 || path.size() >= 512) fail("too many or too long names");
    std::strcpy(leftovers::paths[leftovers::path_count], path.c_str());
    leftovers::path_count = leftovers::path_count + 1;
}

// The responder's way to tell the initiator where it is to be found, and the initiator's to learn it.
inline void publish(const SetUp& set_up, const std::string& address) {
    auto path = set_up.folder + "/address", unfinished = path + ".new";
    remove_at_end(unfinished), remove_at_end(path);
    std::ofstream(unfinished) << address << '\n';
    if (rename(unfinished.c_str(), path.c_str()) != 0) fail_with_errno("rename " + unfinished);
}

inline std::string published(const SetUp& set_up) {
    std::string address;
    until("the responder", [&] { return bool(std::getline(std::ifstream(set_up.folder + "/address"), address)); });
    return address;
}

// Starts a server that ends when the program does, by this signal, or by SIGKILL if the program cannot send it any more.
inline pid_t start_server(std::vector<std::string> command, const std::string& folder, int ending_signal = SIGKILL) {
    std::vector<char*> arguments;
    for (auto& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    pid_t parent = getpid(), server = fork();
    if (server < 0) fail_with_errno("fork");
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent || chdir(folder.c_str()) != 0) _exit(127);
        execvp(arguments[0], arguments.data());
        std::fprintf(stderr, "%s: %s\n", arguments[0], std::strerror(errno));
        _exit(127);
    }
    leftovers::servers[leftovers::server_count] = server;
    leftovers::ending_signals[leftovers::server_count] = ending_signal;
    leftovers::server_count = leftovers::server_count + 1;
    return server;
}

// The first line that a command prints: a server's version.
inline std::string output_of(const std::string& command) {
    char line[256] = "";
    if (FILE* output = popen(command.c_str(), "re")) {
        if (!std::fgets(line, sizeof line, output)) line[0] = 0;
        pclose(output);
    }
    return std::string(line, std::strcspn(line, "\n"));
}

// What the messages of one direction carry.
struct Stamp {
    std::uint64_t word;
    static constexpr std::uint32_t near = 64;  // how far a number may be off and still count as another message's

    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return x ^ x >> 31;
    }
    std::uint64_t head(std::uint32_t number) const {
        return (std::uint64_t(number) ^ word >> 32) << 32 | number;
    }
    std::uint64_t tail(std::uint32_t number) const { return (word << 17 | word >> 47) ^ number; }
    std::uint64_t body(std::uint32_t number, std::uint64_t index) const {
        return mix((word + (std::uint64_t(number) << 32)) ^ index * 0x9e3779b97f4a7c15);
    }

    void write(unsigned char* message, std::size_t length, std::uint32_t number) const {
        auto first = head(number), last = tail(number);
        std::memcpy(message, &first, length < 8 ? length : 8);
        if (length >= 16) std::memcpy(message + length - 8, &last, 8);
    }
    void write_all(unsigned char* message, std::size_t length, std::uint32_t number) const {
        for (std::size_t at = 0; at < length; at += 8) {
            auto bytes = body(number, at / 8);
            std::memcpy(message + at, &bytes, std::min<std::size_t>(8, length - at));
        }
        write(message, length, number);
    }
    bool holds(const unsigned char* message, std::size_t length, std::uint32_t number) const {
        auto first = head(number), last = tail(number);
        return std::memcmp(message, &first, length < 8 ? length : 8) == 0 &&
               (length < 16 || std::memcmp(message + length - 8, &last, 8) == 0);
    }

    // What happened to a message of which the whole differs from `sent`.
    Failure explain(const unsigned char* message, const unsigned char* sent, std::size_t length, std::uint32_t due) const {
        auto text = [](std::uint64_t number) { return std::to_string(number); };
        for (std::uint32_t off = 1; off <= near; ++off)
            for (std::uint32_t found : {due - off, due + off}) {
                auto first = head(found);
                if (std::memcmp(message, &first, std::min<std::size_t>(8, length)) != 0) continue;
                if (found == due + off)
                    return {"lost", "message " + text(found) + " came where " + text(due) + " was due, which never came"};
                return {"repeated", "message " + text(found) + " came again where " + text(due) + " was due"};
            }
        auto at = std::mismatch(message, message + length, sent).first - message;
        return {"flipped", "message " + text(due) + " differs from what was sent, first at byte " + text(at)};
    }
};

// A message's memory: whole pages, which are there.
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

// One end and its messages. The loops are compiled for the link: what is in them is what the protocol demands.
template <class Link> struct Role {
    SetUp set_up;
    Ready ready;
    Stamp own, other;
    Buffer outbox, inbox, expected;
    std::vector<std::uint64_t> readings;
    std::uint64_t done = 0;
    Link link;

    Role(const SetUp& asked, Stamp own_stamp, Stamp other_stamp)
        : set_up(asked), own(own_stamp), other(other_stamp), outbox(asked.own_size), inbox(asked.other_size),
          expected(asked.other_size), link(set_up, ready) {
        unsigned char greeting = 1, answer = 0;
        if (set_up.initiator) link.send(&greeting, 1);
        if (link.receive(&answer, 1) != 1 || answer != greeting) fail("the first message is not the other role's");
        if (!set_up.initiator) link.send(&greeting, 1);
        leftovers::remove_paths();
    }

    // Exchanges messages and gives how many of those received were verified.
    std::uint64_t exchange(std::uint64_t messages, std::uint64_t batch, bool verify) {
        bool sends_alone = set_up.one_way() && set_up.initiator;
        auto in_batch = batch ? batch : messages, batches = in_batch ? messages / in_batch : 0;
        readings.assign(batches + 1, 0);
        verify ? loop<true>(batches, in_batch) : loop<false>(batches, in_batch);
        if (!batch || (!set_up.initiator && !set_up.one_way())) readings.clear();
        else if (sends_alone) readings.resize(1);
        else if (set_up.one_way()) readings.erase(readings.begin());
        return verify && !sends_alone ? messages : 0;
    }

    template <bool verify> void loop(std::uint64_t batches, std::uint64_t in_batch) {
        if (set_up.one_way()) set_up.initiator ? send_all<verify>(batches * in_batch) : receive_all<verify>(batches, in_batch);
        else set_up.initiator ? initiate<verify>(batches, in_batch) : respond<verify>(batches * in_batch);
    }

    template <bool verify> void initiate(std::uint64_t batches, std::uint64_t in_batch) {
        bool came = false;
        std::size_t length = 0;
        stamp<verify>();
        readings[0] = now_ns();
        for (std::uint64_t index = 1; index <= batches; ++index) {
            for (auto left = in_batch; left; --left) {
                link.send(outbox.bytes, outbox.length);
                if (came) check<verify>(length);
                ++done;
                stamp<verify>();
                length = link.receive(inbox.bytes, inbox.length);
                came = true;
            }
            readings[index] = now_ns();
        }
        if (came) check<verify>(length);
    }

    template <bool verify> void respond(std::uint64_t messages) {
        for (stamp<verify>(); messages; --messages) {
            auto length = link.receive(inbox.bytes, inbox.length);
            link.send(outbox.bytes, outbox.length);
            ++done;
            check<verify>(length);
            stamp<verify>();
        }
    }

    template <bool verify> void send_all(std::uint64_t messages) {
        for (readings[0] = now_ns(); messages; --messages) {
            stamp<verify>();
            link.send(outbox.bytes, outbox.length);
            ++done;
        }
    }

    template <bool verify> void receive_all(std::uint64_t batches, std::uint64_t in_batch) {
        for (std::uint64_t index = 1; index <= batches; ++index) {
            for (auto left = in_batch; left; --left) {
                auto length = link.receive(inbox.bytes, inbox.length);
                ++done;
                check<verify>(length);
            }
            readings[index] = now_ns();
        }
    }

    // Stamps the next message.
    template <bool verify> void stamp() {
        auto number = std::uint32_t(done + 1);
        verify ? own.write_all(outbox.bytes, outbox.length, number) : own.write(outbox.bytes, outbox.length, number);
    }

    // Checks the message that came last.
    template <bool verify> void check(std::size_t length) {
        auto number = std::uint32_t(done);
        if (length != inbox.length || !other.holds(inbox.bytes, inbox.length, number)) refuse(length);
        if (verify) {
            other.write_all(expected.bytes, expected.length, number);
            if (std::memcmp(inbox.bytes, expected.bytes, inbox.length) != 0) refuse(length);
        }
    }

    [[noreturn, gnu::cold, gnu::noinline]] void refuse(std::size_t length) {
        auto number = std::uint32_t(done);
        if (length != inbox.length)
            throw Failure{"truncated", "message " + std::to_string(number) + " has " + std::to_string(length) +
                                           " bytes instead of " + std::to_string(inbox.length)};
        if (other.holds(inbox.bytes, inbox.length, number)) other.write_all(expected.bytes, expected.length, number);
        else {
            std::memcpy(expected.bytes, inbox.bytes, inbox.length);
            other.write(expected.bytes, expected.length, number);
        }
        throw other.explain(inbox.bytes, expected.bytes, inbox.length, number);
    }
};

// A request: the members of a JSON object, each with its value or those of its array, as text.
using Request = std::map<std::string, std::vector<std::string>>;

// The text between two quotes, of which the first is at `at`.
inline std::string unquoted(const std::string& line, std::size_t& at) {
    std::string text;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] != '\\') text += line[at];
        else if (line[++at] == 'u') text += char(std::stoi(line.substr(at + 1, 4), nullptr, 16)), at += 4;
        else if (auto found = std::strchr("b\bf\fn\nr\rt\t", line[at]); found && std::isalpha(line[at])) text += found[1];
        else text += line[at];
    }
    ++at;
    return text;
}

// Reads a line that furlong has made, so nothing in it is wrong.
inline Request parse(const std::string& line) {
    Request members;
    std::string key;
    int depth = 0;
    for (std::size_t at = 0; at < line.size();) {
        if (line[at] == '"') {
            auto text = unquoted(line, at);
            bool is_key = line[at] == ':';
            if (!is_key) members[key].push_back(text);
            else if (depth == 1) key = text;
            at += is_key;
        } else if (std::strchr("{[}],", line[at]) || std::isspace(line[at])) {
            depth += std::strchr("{[", line[at]) ? 1 : std::strchr("}]", line[at]) ? -1 : 0;
            ++at;
        } else {
            auto end = std::min(line.find_first_of(",]}", at), line.size());
            members[key].push_back(line.substr(at, end - at));
            at = end;
        }
    }
    return members;
}

inline std::string json_text(const std::string& text) {
    std::string line = "\"";
    for (unsigned char c : text) line += c == '"' || c == '\\' ? std::string{'\\', char(c)} : std::string(1, c < ' ' ? ' ' : c);
    return line + '"';
}

// The items, each as `text` makes it, with commas between.
template <class Items, class Text> std::string list(const Items& items, Text text) {
    std::string line;
    for (auto& item : items) line += (line.empty() ? "" : ",") + text(item);
    return line;
}

inline std::string hello(const Row& row) {
    auto member = [](auto& item) { return json_text(item.first) + ":" + json_text(item.second); };
    auto limit = row.max_size_bytes == SIZE_MAX ? "" : ",\"max_size_bytes\":" + std::to_string(row.max_size_bytes) +
                                                           ",\"limited_by\":" + json_text(row.limited_by);
    return "{\"op\":\"hello\",\"protocol\":1,\"name\":" + json_text(row.name) + ",\"versions\":{" + list(row.versions, member) +
           "},\"clock_ns\":" + std::to_string(now_ns()) + ",\"shape\":" + json_text(row.shape) + ",\"claims\":{\"summary\":" + json_text(row.summary) +
           ",\"waits\":[" + list(row.waits, json_text) + "],\"patterns\":[" + list(row.patterns, json_text) + "]" + limit +
           ",\"when_full\":" + json_text(row.when_full) + ",\"peer_death\":" + json_text(row.peer_death) +
           ",\"reach\":" + json_text(row.reach) + "}}";
}

// What is asked for, unless the row cannot do it.
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
    return {initiator, pattern, wait, request["folder"].at(0), request["name"].at(0), own, other};
}

inline std::string list_of(const std::vector<Process>& processes) {
    return list(processes, [](auto& one) {
        return "{\"pid\":" + std::to_string(one.pid) + ",\"role\":" + json_text(one.role) + ",\"name\":" + json_text(one.name) + "}";
    });
}

inline std::string readings_of(const std::vector<std::uint64_t>& readings) {
    return "{\"op\":\"readings\",\"clock_ns\":[" + list(readings, [](auto& one) { return std::to_string(one); }) + "]}";
}

inline std::string exchanged(std::uint64_t messages, std::uint64_t verified) {
    return "{\"op\":\"exchanged\",\"messages\":" + std::to_string(messages) + ",\"verified\":" + std::to_string(verified) + "}";
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
    auto verified = role->exchange(messages, std::stoull(request["batch"].at(0)), request["verify"].at(0) == "true");
    return exchanged(messages, verified);
}

// Opens what a variable names, and keeps the descriptor that was inherited from those that are started here.
inline FILE* open_variable(const char* name, const char* mode) {
    const char* path = std::getenv(name);
    FILE* file = path ? std::fopen(path, mode) : nullptr;
    if (!file) return nullptr;
    int inherited;
    if (std::sscanf(path, "/dev/fd/%d", &inherited) == 1) fcntl(inherited, F_SETFD, FD_CLOEXEC);
    return file;
}

// Answers furlong's requests, each by what `answer` makes of it and of its line, until there are no more.
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

// The whole life of a program with this link.
template <class Link> int run(const Row& row) {
    std::unique_ptr<Role<Link>> role;
    int code = converse([&](Request& request, const char*) { return answer<Link>(row, role, request); });
    role.reset();
    leftovers::remove();
    return code;
}

}  // namespace adapter
