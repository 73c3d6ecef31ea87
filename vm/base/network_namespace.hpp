#pragma once

#include <string>

/// Network namespaces (network_namespaces(7)), named by files such as those in /run/netns. Whoever
/// is in another one is there with its thread only, and goes home before it does anything else.
namespace vmrun {

/// The calling thread is there while this lives; with an empty path it stays where it is.
class NetworkNamespace {
 public:
  explicit NetworkNamespace(const std::string& path);
  ~NetworkNamespace() { leave(); }
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;

  /// An errno if it could not be entered, otherwise 0.
  int error() const { return error_; }
  /// Goes home. False: it could not, and what the thread does next is done over there.
  bool leave();

 private:
  void close_home();
  int home_ = -1, error_ = 0;
};

/// socket(2) in a namespace: the descriptor, or minus an errno.
int socket_in(const std::string& path, int domain, int type, int protocol);

}  // namespace vmrun
