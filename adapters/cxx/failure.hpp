// Errors, in the terms of the protocol.

#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace adapter {

// A protocol error: the name of the fault, and the detail that the row shows.
struct Failure {
    std::string fault, detail;
};

[[noreturn]] inline void fail(const std::string& detail) { throw Failure{"error", detail}; }

[[noreturn]] inline void fail_with_errno(const std::string& what) { fail(what + ": " + std::strerror(errno)); }

}  // namespace adapter
