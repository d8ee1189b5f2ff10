// What goes wrong, in the words of the protocol.

#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace adapter {

// What the protocol calls an error: a fault by its name, and the detail that the row shows.
struct Failure {
    std::string fault, detail;
};

[[noreturn]] inline void fail(const std::string& detail) { throw Failure{"error", detail}; }

[[noreturn]] inline void fail_with_errno(const std::string& what) { fail(what + ": " + std::strerror(errno)); }

}  // namespace adapter
