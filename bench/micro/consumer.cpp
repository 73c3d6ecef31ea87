// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/consumer.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace vmrun::micro {

namespace {

constexpr const char* kAttached = "attached\n";

std::string own_path() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// Appends what comes from the descriptor to `text`; false when nothing more will.
bool read_more(int from, std::string& text) {
  char bytes[4096];
  const ssize_t length = ::read(from, bytes, sizeof bytes);
  if (length > 0) text.append(bytes, static_cast<std::size_t>(length));
  return length > 0;
}

}  // namespace

// It prints what BEGIN says once all probes are in place.
Bpftrace::Bpftrace(const std::string& site, const std::string& action) {
  if (::geteuid() != 0) {
    why_not_ = "attaching bpftrace needs root";
    return;
  }
  int ends[2];
  if (::pipe(ends) != 0) {
    why_not_ = "no pipe to bpftrace";
    return;
  }
  const std::string program =
      "BEGIN { printf(\"attached\\n\"); } usdt:" + own_path() + ":" + site + " " + action;
  const std::string own_pid = std::to_string(::getpid());
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execlp("bpftrace", "bpftrace", "-B", "line", "-p", own_pid.c_str(), "-e", program.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  output_ = ends[0];
  std::string said;
  while (said.find(kAttached) == std::string::npos) {
    if (read_more(output_, said)) continue;
    why_not_ = "bpftrace does not attach: " + (said.empty() ? "it is not here" : said);
    detach();
    return;
  }
}

Bpftrace::~Bpftrace() { detach(); }

std::uint64_t Bpftrace::detach() {
  if (pid_ < 0) return 0;
  ::kill(pid_, SIGINT);
  std::string said;
  while (read_more(output_, said)) {}
  ::waitpid(pid_, nullptr, 0);
  ::close(output_);
  pid_ = output_ = -1;
  const std::size_t at = said.find("@: ");
  return at == std::string::npos ? 0 : std::strtoull(said.c_str() + at + 3, nullptr, 10);
}

}  // namespace vmrun::micro
