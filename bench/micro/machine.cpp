// SPDX-License-Identifier: Apache-2.0
// Primitives of a machine that runs: bench/micro/primitives.act does them, this measures the
// processor time that the machine takes, all its threads together.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "bench/micro/micro.hpp"

namespace vmrun::micro {

namespace {

struct Primitive {
  const char* name;
  const char* what;  // in primitives.act
  int size;
  int count;    // how often it is done for one measurement: some ten milliseconds
  int repeats;  // how many of the named things one of them is
};
constexpr Primitive kPrimitives[] = {
    {"message/no words", "message", 0, 2000, 100},
    {"message/10 words", "message", 10, 2000, 100},
    {"message/1000 words", "message", 1000, 50, 100},
    {"message/10 words there and back", "round_trip", 10, 50000, 1},
    {"spawn/and exit", "spawn", 0, 1000, 100},
    {"spawn/linked and exit", "spawn_link", 0, 1000, 100},
    {"schedule/yield", "yield", 0, 200000, 1},
    {"collect/1000 words made, not collected", "cons", 1000, 5000, 1},
    {"collect/1000 words made, minor", "minor", 1000, 5000, 1},
    {"collect/100000 words made, minor", "minor", 100000, 50, 1},
    {"collect/1000 words live, major", "major", 1000, 5000, 1},
    {"collect/100000 words live, major", "major", 100000, 50, 1},
    {"table/set insert", "set_insert", 1000, 100000, 1},
    {"table/set lookup", "set_lookup", 1000, 100000, 1},
    {"table/ordered_set insert", "ordered_set_insert", 1000, 100000, 1},
    {"table/ordered_set lookup", "ordered_set_lookup", 1000, 100000, 1},
    {"port/command of 100 bytes", "port_command", 100, 10000, 1},
};

/// A machine that waits for a line about what to do. It ends when this does.
class Machine {
 public:
  Machine(const std::string& vmrun, const std::string& primitives) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error("no socket pair");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], 0);
      ::dup2(ends[1], 1);
      ::execl(vmrun.c_str(), vmrun.c_str(), "+S", "1", primitives.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    in_ = ::fdopen(ends[0], "r");
    out_ = ::fdopen(::dup(ends[0]), "w");
  }
  ~Machine() {
    std::fclose(out_);
    ::shutdown(::fileno(in_), SHUT_RDWR);
    std::fclose(in_);
    ::waitpid(pid_, nullptr, 0);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Seconds of processor time.
  double time(const Primitive& p, int count) {
    std::fprintf(out_, "%s %d %d\n", p.what, p.size, count);
    wait_for("ready\n");
    const double before = processor_s();
    std::fputs("go\n", out_);
    wait_for("done\n");
    return processor_s() - before;
  }

 private:
  void wait_for(const std::string& line) {
    char said[256] = "";
    if (std::fflush(out_) != 0 || !std::fgets(said, sizeof said, in_) || said != line)
      throw std::runtime_error("the machine said \"" + std::string(said) + "\", not \"" + line + '"');
  }

  /// What all its threads have taken, which includes nothing of what it waited for.
  double processor_s() const {
    double ns = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task")) {
      double of_thread = 0;
      std::ifstream(task.path() / "schedstat") >> of_thread;
      ns += of_thread;
    }
    return ns / 1e9;
  }

  pid_t pid_;
  std::FILE *in_, *out_;
};

}  // namespace

void register_machine(std::string vmrun, std::string primitives) {
  for (const Primitive& p : kPrimitives)
    benchmark::RegisterBenchmark(p.name, [=](benchmark::State& state) {
      try {
        Machine machine(vmrun, primitives);
        machine.time(p, p.count / 10 + 1);  // code and memory are warm
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(p.count) * p.repeats))
          state.SetIterationTime(machine.time(p, p.count));
      } catch (const std::runtime_error& error) {
        state.SkipWithError(error.what());
      }
    })->UseManualTime();
}

}  // namespace vmrun::micro
