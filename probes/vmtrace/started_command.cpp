// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/started_command.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fmt/format.h>

#include "probes/engine/attach_protocol.hpp"

namespace vmrun::d {
namespace {

constexpr int kEndTries = 40;  // 200 ms

/// Runs in the child and never returns.
[[noreturn]] void run(const std::string& command, CommandEnd as, int end, const std::string& number) {
  if (as == CommandEnd::kInherited) {
    fcntl(end, F_SETFD, 0);
    setenv(kTraceVariable, number.c_str(), 1);
  } else {
    dup2(end, STDIN_FILENO);
    dup2(end, STDOUT_FILENO);
  }
  const std::string line = "exec " + command;
  execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

bool start_command(const std::string& command, CommandEnd end, StartedCommand& started, std::string& why) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return why = std::strerror(errno), false;
  const std::string number = fmt::format("{}", ends[1]);
  const pid_t child = fork();
  if (child == 0) run(command, end, ends[1], number);
  const int error = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return why = std::strerror(error), false;
  }
  started = {child, ends[0]};
  return true;
}

std::string end_of_command(pid_t child) {
  for (int i = 0; i < kEndTries; ++i) {
    siginfo_t end = {};
    if (waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0)
      return end.si_code == CLD_EXITED
                 ? fmt::format("it ended with status {} before a machine began", end.si_status)
                 : fmt::format("signal {} ended it", end.si_status);
    const timespec pause{0, 5'000'000};  // it closes its end a moment before it has ended
    nanosleep(&pause, nullptr);
  }
  return "";
}

}  // namespace vmrun::d
