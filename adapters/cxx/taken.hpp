// Counts the messages that several workers have received. Each message of the initiator goes to one worker.

#pragma once

#include "failure.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace adapter {

// Numbers of the messages that one worker has received.
struct Taken {
    std::uint64_t count = 0, last = 0, sum = 0, squares = 0;

    void add(std::uint32_t ahead) {
        last += ahead, ++count;
        sum += last, squares += last * last;
    }
};

// Number of messages that each worker has received so far, in a shared file mapping, so that each sees when all are
// received.
class TakenByAll {
    struct alignas(64) Line {
        std::atomic<std::uint64_t> count;
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

    unsigned workers, own;
    Line* lines;

  public:
    static std::string path_in(const std::string& folder) { return folder + "/taken"; }

    // Maps the counters for worker `number`, counted from 1.
    TakenByAll(const std::string& folder, unsigned all, unsigned number) : workers(all), own(number - 1) {
        auto path = path_in(folder);
        int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        // Every worker sets the final size, so no counter is lost.
        if (file < 0 || ftruncate(file, off_t(all * sizeof(Line))) != 0) fail_with_errno("make " + path);
        void* mapped = mmap(nullptr, all * sizeof(Line), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED) fail_with_errno("map " + path);
        close(file);
        lines = static_cast<Line*>(mapped);
    }
    ~TakenByAll() { munmap(lines, workers * sizeof(Line)); }
    TakenByAll(const TakenByAll&) = delete;

    void say(std::uint64_t count) { lines[own].count.store(count, std::memory_order_relaxed); }

    std::uint64_t all() const {
        std::uint64_t sum = 0;
        for (unsigned worker = 0; worker < workers; ++worker) sum += lines[worker].count.load(std::memory_order_relaxed);
        return sum;
    }
};

}  // namespace adapter
