// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Network namespaces (network_namespaces(7)), named by files such as those in /run/netns. Only the
/// calling thread enters the other namespace, and it returns before it does anything else.
namespace vmrun {

/// The calling thread is in the namespace while the object lives. With an empty path it stays where
/// it is.
class NetworkNamespace {
 public:
  explicit NetworkNamespace(const std::string& path);
  ~NetworkNamespace() { leave(); }
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;

  /// Returns an errno if the namespace could not be entered, otherwise 0.
  int error() const { return error_; }
  /// Returns to the thread's own namespace. False: that failed, and what the thread does next
  /// happens in the other one.
  bool leave();

 private:
  void close_home();
  int home_ = -1, error_ = 0;
};

/// Calls socket(2) in a namespace. Returns the descriptor, or minus an errno.
int socket_in(const std::string& path, int domain, int type, int protocol);

}  // namespace vmrun
