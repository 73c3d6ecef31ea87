#include "probes/vmtrace/reach.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "probes/engine/wire.hpp"

namespace vmrun::d {
namespace {

constexpr int kDoorMs = 5'000;  // for the socket to be there after the signal
constexpr int kAskEveryMs = 50;

int trace_signal() { return SIGRTMIN + kDoorSignal; }

/// The process's number in its own namespace, which names its socket; 0: there is no such process.
std::int64_t number_inside(std::int64_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  std::int64_t inside = 0;
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(6));
    for (std::int64_t n = 0; numbers >> n;) inside = n;
  }
  return inside;
}

/// A signal nobody handles ends a process: only one that waits for the door's is sent it.
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
  // Whoever listens there and never accepts keeps nobody waiting.
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connection < 0) return -1;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return connection;
  const int error = errno;
  close(connection);
  errno = error;
  return -1;
}

/// Whether the other end is the process that is meant, or one its user cannot be mistaken for.
bool is_peer(int connection, std::int64_t pid) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  struct stat process {};
  if (stat(fmt::format("/proc/{}", pid).c_str(), &process) != 0) return false;
  return peer.uid == process.st_uid && (peer.pid == pid || peer.pid == 0);
}

}  // namespace

bool may_be_traced(std::int64_t pid) { return waits_for_signal(pid, trace_signal()); }

int open_door(std::int64_t pid, std::string& why) {
  const std::int64_t inside = number_inside(pid);
  if (inside == 0) return why = "no such process", -1;
  if (!waits_for_signal(pid, trace_signal())) return why = "it is no vmrun, or one of another version", -1;
  const std::string path = fmt::format("/proc/{}/root{}{}", pid, kDoorPath, inside);
  // The door that opens may be closed behind somebody else before we come to it: we ask again.
  for (std::uint64_t waited_us = 0, ask_us = 0, pause_us = 200; waited_us < kDoorMs * 1000ULL;
       waited_us += pause_us) {
    if (waited_us >= ask_us && waits_for_signal(pid, trace_signal())) {
      if (kill(static_cast<pid_t>(pid), trace_signal()) != 0) return why = std::strerror(errno), -1;
      ask_us = waited_us + kAskEveryMs * 1000ULL;
    }
    const int connection = connect_to(path);
    if (connection >= 0) {
      if (is_peer(connection, pid)) return connection;
      close(connection);
      return why = "another process answers in its place", -1;
    }
    if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN) return why = std::strerror(errno), -1;
    const timespec pause{0, static_cast<long>(pause_us * 1000)};
    nanosleep(&pause, nullptr);
  }
  return why = "it does not answer", -1;
}

}  // namespace vmrun::d
