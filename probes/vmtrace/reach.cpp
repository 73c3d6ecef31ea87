// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/reach.hpp"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "probes/engine/attach_protocol.hpp"

namespace vmrun::d {
namespace {

constexpr int kEndpointMs = 5'000;  // for the socket to be there after the signal
constexpr int kAskEveryMs = 50;
constexpr std::uint64_t kEndpointDescriptors =
    3;  // a wakeup, the socket, and its file, whose number the connection gets
constexpr std::uint64_t kFirstPauseUs = 100, kLongestPauseUs = 10'000;  // a process may have many descriptors

int trace_signal() { return SIGRTMIN + kAttachSignal; }

/// A signal without a handler ends a process. So the signal is sent only to a process that handles
/// it.
bool waits_for_signal(std::int64_t pid, int signal) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigCgt:")) {
      const std::uint64_t caught = std::strtoull(line.c_str() + 7, nullptr, 16);
      return (caught >> (signal - 1) & 1) != 0;
    }
  return false;
}

int connect_to(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return errno = ENAMETOOLONG, -1;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  // The socket does not block, so a process that listens but never accepts keeps nobody waiting.
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connection < 0) return -1;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return connection;
  const int error = errno;
  close(connection);
  errno = error;
  return -1;
}

/// Whether the other end belongs to the process's user, and is the process itself or has no number
/// in this PID namespace.
bool is_peer(int connection, std::int64_t pid) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  struct stat process {};
  if (stat(fmt::format("/proc/{}", pid).c_str(), &process) != 0) return false;
  return peer.uid == process.st_uid && (peer.pid == pid || peer.pid == 0);
}

bool names_endpoint(const std::string& link) {
  const std::size_t name = link.rfind('/') + 1;
  return link.compare(name, std::strlen(kEndpointName), kEndpointName) == 0;
}

/// Returns a connection to the socket that the process listens on, or -1 with errno, which is
/// ENOENT when it listens on none. A descriptor that another process could have passed to it is
/// skipped.
int connect_to_endpoint(std::int64_t pid) {
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  DIR* const descriptors = opendir(folder.c_str());
  if (!descriptors) return -1;
  int connection = -1, error = ENOENT;
  while (const dirent* entry = readdir(descriptors)) {
    const std::string place = folder + "/" + entry->d_name;
    char link[PATH_MAX];
    const ssize_t bytes = readlink(place.c_str(), link, sizeof link);
    if (bytes <= 0 || !names_endpoint(std::string(link, static_cast<std::size_t>(bytes)))) continue;
    connection = connect_to(place);
    if (connection >= 0 && is_peer(connection, pid)) break;
    error = connection < 0 ? errno : ENOENT;
    if (connection >= 0) close(std::exchange(connection, -1));
  }
  closedir(descriptors);
  errno = error;
  return connection;
}

/// Returns why a process cannot accept a connection. It is empty when the process can, or when that
/// is not visible.
std::string lack_of_descriptors(std::int64_t pid) {
  std::uint64_t limit = ~0ULL, open = 0;
  constexpr std::string_view kLimit = "Max open files";
  std::ifstream limits(fmt::format("/proc/{}/limits", pid));
  for (std::string line; std::getline(limits, line);)
    if (line.starts_with(kLimit)) limit = std::strtoull(line.c_str() + kLimit.size(), nullptr, 10);
  DIR* const descriptors = opendir(fmt::format("/proc/{}/fd", pid).c_str());
  if (!descriptors) return "";
  while (const dirent* entry = readdir(descriptors))
    open += entry->d_name[0] != '.' && std::strtoull(entry->d_name, nullptr, 10) < limit;
  closedir(descriptors);
  if (limit == 0 || open + kEndpointDescriptors <= limit) return "";
  return fmt::format(
      "it has too few free descriptors for that, {} of {} are open (prlimit --nofile raises that)", open,
      limit);
}

}  // namespace

bool may_be_traced(std::int64_t pid) { return waits_for_signal(pid, trace_signal()); }

int open_endpoint(std::int64_t pid, std::string& why) {
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return why = "no such process", -1;
  if (!waits_for_signal(pid, trace_signal())) return why = "it is no vmrun, or one of another version", -1;
  // The endpoint may close behind another connection before we reach it. We then ask again.
  std::uint64_t pause_us = kFirstPauseUs;
  for (std::uint64_t waited_us = 0, ask_us = 0; waited_us < kEndpointMs * 1000ULL; waited_us += pause_us) {
    if (waited_us >= ask_us && waits_for_signal(pid, trace_signal())) {
      if (kill(static_cast<pid_t>(pid), trace_signal()) != 0) return why = std::strerror(errno), -1;
      ask_us = waited_us + kAskEveryMs * 1000ULL;
    }
    const int connection = connect_to_endpoint(pid);
    if (connection >= 0) return connection;
    if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN) return why = std::strerror(errno), -1;
    pause_us = std::min<std::uint64_t>(pause_us * 3 / 2, kLongestPauseUs);
    const timespec pause{0, static_cast<long>(pause_us * 1000)};
    nanosleep(&pause, nullptr);
  }
  why = lack_of_descriptors(pid);
  if (why.empty()) why = "it does not answer";
  return -1;
}

}  // namespace vmrun::d
