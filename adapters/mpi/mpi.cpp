// MPI_Send and MPI_Recv between two processes of a job of Open MPI, over shared memory.
//
// mpirun starts both roles, so the program that furlong starts is neither: it passes each request on to both of them and
// makes one reply of theirs. They are this same program, and hold the usual conversation through FIFOs.

#include "adapter.hpp"

// Its own C++ is obsolete.
#define OMPI_SKIP_MPICXX
#include <mpi.h>
#include <poll.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

namespace {

struct Ranks {
    int other;

    Ranks(const adapter::SetUp& set_up, adapter::Ready& ready) : other(set_up.initiator ? 1 : 0) {
        ready.processes = {{getpid(), set_up.initiator ? "initiator" : "responder", "rank"}};
    }

    // MPI ends the job where a call fails.
    void send(const unsigned char* message, std::size_t length) {
        MPI_Send(message, int(length), MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        MPI_Status status;
        int came;
        MPI_Recv(message, int(length), MPI_BYTE, other, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &came);
        return std::size_t(came);
    }
};

const std::array<const char*, 2> ROLES{"initiator", "responder"};

// The program that furlong has started.
struct Front {
    const adapter::Row& row;
    pid_t mpirun = 0;
    bool failed = false;
    std::array<int, 2> requests{-1, -1}, replies{-1, -1};

    std::string answer(adapter::Request& request, std::string line) {
        auto op = request["op"].at(0);
        if (op == "hello") return adapter::hello(row);
        if (op == "set-up") return set_up(request, line);
        if (op == "finish") {
            // After a failure one of them may wait for the other.
            if (mpirun && !failed) {
                ask({line, line});
                adapter::until("the end of mpirun", [&] { return has_ended(); });
            }
            adapter::leftovers::remove();
            return "{\"op\":\"finished\"}";
        }
        if (!mpirun || (op != "exchange" && op != "readings")) throw adapter::Failure{"unsupported", "no reply to the request " + op};
        auto lines = ask({line, line});
        std::array<adapter::Request, 2> came{adapter::parse(lines[0]), adapter::parse(lines[1])};
        if (op != "readings") {
            auto verified = [&](int rank) { return std::stoull(came[rank]["verified"].at(0)); };
            // The first rank is the initiator, which waits for messages to be due.
            auto number = [&](const char* key) { return came[0].count(key) ? std::stoull(came[0][key].at(0)) : 0; };
            adapter::Schedule schedule{request.count("interval_ns"), false, 0, number("late"), number("idle_ns"), number("idle_switches")};
            for (auto& value : came[0]["late_by_ns"]) schedule.late_by_ns.push_back(std::stoull(value));
            return adapter::exchanged(std::stoull(request["messages"].at(0)), verified(0) + verified(1), schedule);
        }
        std::vector<std::uint64_t> readings;
        for (auto& one : came)
            for (auto& reading : one["clock_ns"]) readings.push_back(std::stoull(reading));
        return adapter::readings_of(readings);
    }

    // Starts both roles, and returns the initiator's reply with the processes of both.
    std::string set_up(adapter::Request& request, const std::string& line) {
        auto asked = adapter::set_up_of(row, request);
        auto memory = "/dev/shm/" + asked.name;
        if (mkdir(memory.c_str(), 0700) != 0) adapter::fail_with_errno("mkdir " + memory);
        adapter::remove_at_end(memory);
        for (int rank : {0, 1})
            for (auto& [descriptor, kind] : {std::pair{&requests[rank], "/requests-"}, std::pair{&replies[rank], "/replies-"}}) {
                auto path = asked.folder + kind + std::to_string(rank);
                if (mkfifo(path.c_str(), 0600) != 0) adapter::fail_with_errno("mkfifo " + path);
                adapter::remove_at_end(path);
                // For both, so that it does not wait for the other end.
                *descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
            }
        setenv("TMPDIR", asked.folder.c_str(), 1);
        setenv("FURLONG_MPI_FOLDER", asked.folder.c_str(), 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1), setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        auto program = std::filesystem::read_symlink("/proc/self/exe").string();
        // furlong pins the processes. mpirun removes its own files when it is asked to end.
        mpirun = adapter::start_server({"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--mca",
                                        "btl", "self,vader", "--mca", "odls_base_sigkill_timeout", "0", "--mca", "btl_vader_backing_directory", memory, "--mca",
                                        "mpi_yield_when_idle", asked.wait == "yield" ? "1" : "0", program},
                                       asked.folder, SIGTERM);
        auto lines = ask({with_role(line, 0), with_role(line, 1)});
        auto processes = [&](int rank) {
            auto begin = lines[rank].find("\"processes\":[") + std::strlen("\"processes\":[");
            return lines[rank].substr(begin, lines[rank].rfind("]}") - begin);
        };
        auto ready = lines[0].substr(0, lines[0].find("\"processes\":["));
        return ready + "\"processes\":[" + processes(0) + "," + processes(1) + "," +
               adapter::list_of({{mpirun, "other", "mpirun"}}) + "]}";
    }

    static std::string with_role(std::string line, int rank) {
        std::string both = "\"role\":\"both\"";
        return line.replace(line.find(both), both.size(), "\"role\":" + adapter::json_text(ROLES[rank]));
    }

    // Sends both requests, and returns the replies. The first error counts for both, because the other rank may wait
    // for ever.
    std::array<std::string, 2> ask(const std::array<std::string, 2>& lines) {
        for (int rank : {0, 1})
            if (write(requests[rank], lines[rank].data(), lines[rank].size()) < 0) adapter::fail_with_errno("write");
        std::array<std::string, 2> came;
        auto is_whole = [&](int rank) { return !came[rank].empty() && came[rank].back() == '\n'; };
        while (!is_whole(0) || !is_whole(1)) {
            std::array<pollfd, 2> waits{pollfd{replies[0], POLLIN, 0}, pollfd{replies[1], POLLIN, 0}};
            poll(waits.data(), 2, 100);
            if (waits[0].revents == 0 && waits[1].revents == 0 && has_ended()) adapter::fail("mpirun has ended");
            for (int rank : {0, 1}) {
                char part[65536];
                auto read_bytes = waits[rank].revents ? read(replies[rank], part, sizeof part) : 0;
                came[rank].append(part, read_bytes > 0 ? std::size_t(read_bytes) : 0);
                if (!read_bytes || !is_whole(rank)) continue;
                auto reply = adapter::parse(came[rank]);
                failed = reply["op"].at(0) == "error";
                if (failed) throw adapter::Failure{reply["fault"].at(0), reply["detail"].at(0)};
            }
        }
        return came;
    }

    bool has_ended() {
        if (waitpid(mpirun, nullptr, WNOHANG) == 0) return false;
        adapter::leftovers::server_count = 0, mpirun = 0;
        return true;
    }
};

int run_rank(int count, char** arguments, const std::string& folder) {
    // mpirun may be killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    MPI_Init(&count, &arguments);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    setenv("FURLONG_READ", (folder + "/requests-" + std::to_string(rank)).c_str(), 1);
    setenv("FURLONG_WRITE", (folder + "/replies-" + std::to_string(rank)).c_str(), 1);
    adapter::Row row{"mpi-shm", ""};
    row.waits = {"spin", "yield"};
    int code = adapter::run<Ranks>(row);
    MPI_Finalize();
    return code;
}

}  // namespace

int main(int count, char** arguments) {
    if (auto folder = std::getenv("FURLONG_MPI_FOLDER")) return run_rank(count, arguments, folder);
    adapter::Row row{"mpi-shm", "MPI_Send and MPI_Recv of Open MPI between two processes on shared memory"};
    auto text = [](int number) { return std::to_string(number); };
    row.versions = {{"Open MPI", text(OMPI_MAJOR_VERSION) + "." + text(OMPI_MINOR_VERSION) + "." + text(OMPI_RELEASE_VERSION)}};
    row.shape = "self";
    row.waits = {"spin", "yield"};
    row.max_size_bytes = INT32_MAX, row.limited_by = "MPI counts by int";
    Front front{row};
    int code = adapter::converse([&](adapter::Request& request, const char* line) { return front.answer(request, line); });
    adapter::leftovers::remove();
    return code;
}
