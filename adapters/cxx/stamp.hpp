// Contents of messages that reveal lost, duplicated and corrupted ones.

#pragma once

#include "failure.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace adapter {

// Contents of the messages of one direction.
struct Stamp {
    std::uint64_t word;
    static constexpr std::uint32_t near = 64;  // maximum distance of a number that still counts as another message's

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

    // Describes what happened to a received message that differs from `sent`.
    Failure explain(const unsigned char* message, const unsigned char* sent, std::size_t length, std::uint32_t due) const {
        auto text = [](std::uint64_t number) { return std::to_string(number); };
        for (std::uint32_t off = 1; off <= near; ++off)
            for (std::uint32_t found : {due - off, due + off}) {
                auto first = head(found);
                if (std::memcmp(message, &first, std::min<std::size_t>(8, length)) != 0) continue;
                if (found == due + off)
                    return {"lost", "message " + text(found) + " arrived instead of " + text(due) + ", which was lost"};
                return {"repeated", "message " + text(found) + " arrived again instead of " + text(due)};
            }
        auto at = std::mismatch(message, message + length, sent).first - message;
        return {"flipped", "message " + text(due) + " differs from the sent message, first at byte " + text(at)};
    }
};

}  // namespace adapter
