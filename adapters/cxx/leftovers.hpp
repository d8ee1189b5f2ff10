// Files to remove and servers to end, however the program ends.

#pragma once

#include "failure.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace adapter {

// Paths and servers to clean up at the end. A signal handler reads them, so this allocates no memory.
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

// Registers a file or an empty directory for removal, once both roles are connected or when the program ends. POSIX
// shared memory is a file in /dev/shm.
inline void remove_at_end(const std::string& path) {
    if (leftovers::path_count == 16 || path.size() >= 512) fail("too many or too long names");
    std::strcpy(leftovers::paths[leftovers::path_count], path.c_str());
    leftovers::path_count = leftovers::path_count + 1;
}

// Starts a server. It is ended with the program, by this signal, or by SIGKILL if the program can no longer send it.
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

// Returns the first output line of a command: a server's version.
inline std::string output_of(const std::string& command) {
    char line[256] = "";
    if (FILE* output = popen(command.c_str(), "re")) {
        if (!std::fgets(line, sizeof line, output)) line[0] = 0;
        pclose(output);
    }
    return std::string(line, std::strcspn(line, "\n"));
}

}  // namespace adapter
