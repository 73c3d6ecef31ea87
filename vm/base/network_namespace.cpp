// SPDX-License-Identifier: Apache-2.0
#include "vm/base/network_namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace vmrun {

NetworkNamespace::NetworkNamespace(const std::string& path) {
  if (path.empty()) return;
  const int there = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  home_ = there < 0 ? -1 : ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (home_ < 0 || setns(there, CLONE_NEWNET) != 0) {
    error_ = errno;
    close_home();
  }
  if (there >= 0) ::close(there);
}

bool NetworkNamespace::leave() {
  const bool is_home = home_ < 0 || setns(home_, CLONE_NEWNET) == 0;
  close_home();
  return is_home;
}

void NetworkNamespace::close_home() {
  if (home_ >= 0) ::close(home_);
  home_ = -1;
}

int socket_in(const std::string& path, int domain, int type, int protocol) {
  NetworkNamespace there(path);
  if (there.error()) return -there.error();
  const int fd = ::socket(domain, type, protocol);
  const int result = fd < 0 ? -errno : fd;
  if (there.leave()) return result;
  if (fd >= 0) ::close(fd);
  return -EIO;
}

}  // namespace vmrun
