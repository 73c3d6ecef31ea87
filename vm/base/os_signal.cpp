// SPDX-License-Identifier: Apache-2.0
#include "vm/base/os_signal.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "vm/base/halt.hpp"
#include "vm/base/release.hpp"

namespace vmrun {
namespace {

struct Name {
  const char* name;
  int number;
  int since = 0;  // the release of OTP
};
constexpr Name kNames[] = {{"sighup", SIGHUP},   {"sigquit", SIGQUIT},     {"sigabrt", SIGABRT},
                           {"sigalrm", SIGALRM}, {"sigterm", SIGTERM},     {"sigusr1", SIGUSR1},
                           {"sigusr2", SIGUSR2}, {"sigchld", SIGCHLD},     {"sigstop", SIGSTOP},
                           {"sigtstp", SIGTSTP}, {"sigcont", SIGCONT, 28}, {"sigwinch", SIGWINCH, 28}};

/// Programs of ports lead sessions (drivers/spawn/child.cpp). Children that native code forks
/// itself do not: they stay in the machine's session.
bool is_of_port(pid_t child) {
  const pid_t session = getsid(child);
  return session < 0 || session == child;  // if it is gone, a port has handled it
}

bool another_waits() {
  siginfo_t child{};
  return waitid(P_PGID, static_cast<id_t>(getpgrp()), &child, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         child.si_pid != 0;
}

/// The end of a port's program is not reported to the Erlang program: in OTP's machine these are
/// children of another process. But pending signals of one number are merged, so another child's
/// end may be behind the same signal.
void child_changed(int number, siginfo_t* info, void*) {
  const int error = errno;
  const bool from_system = info->si_code > 0;
  const bool of_port = from_system && is_of_port(info->si_pid) && !another_waits();
  errno = error;
  if (!of_port) announce_signal(number);
}

}  // namespace

bool set_signal_action(int number, SignalAction action) {
  struct sigaction wanted {};
  wanted.sa_handler = action == SignalAction::kDefault  ? SIG_DFL
                      : action == SignalAction::kIgnore ? SIG_IGN
                                                        : announce_signal;
  // The interrupted thread's stack may have no room (SA_ONSTACK), and its system calls go on
  // (SA_RESTART).
  wanted.sa_flags = SA_RESTART | SA_ONSTACK;
  if (number == SIGCHLD && action == SignalAction::kHandle) {
    wanted.sa_sigaction = child_changed;
    wanted.sa_flags |= SA_SIGINFO;
  }
  return sigaction(number, &wanted, nullptr) == 0;
}

int signal_number(const char* name) {
  for (const Name& n : kNames)
    if (std::strcmp(n.name, name) == 0 && release_number >= n.since) return n.number;
  return 0;
}

const char* signal_name(int number) {
  for (const Name& n : kNames)
    if (n.number == number) return n.name;
  return nullptr;
}

}  // namespace vmrun
