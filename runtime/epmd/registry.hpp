#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

/// What epmd knows and answers (Erlang/OTP, "EPMD Protocol"): names of nodes on this host, each for
/// as long as the connection stays open over which it was registered. The registry does not use
/// sockets itself. Used by one thread. Requests come from any program, so each is checked to its
/// last byte.
namespace vmrun::epmd {

enum class Then { kKeepOpen, kClose, kEnd };

struct Answer {
  std::string bytes;
  Then then = Then::kClose;
};

class Registry {
 public:
  /// port: epmd's own, which some answers contain. first_creation: that of the first node; the next
  /// ones follow it. relaxed: requests may unregister nodes, and may end epmd while nodes are
  /// registered.
  Registry(std::uint16_t port, std::uint32_t first_creation, bool relaxed);

  /// request: without its length. connection: any number by which the caller knows the connection.
  /// local: the other end is on this host; only then it may register nodes and give commands.
  Answer answer(std::string_view request, int connection, bool local);
  void closed(int connection);

 private:
  struct Node {
    int connection;
    std::uint16_t port, high, low;
    std::uint8_t type, protocol;
    std::string extra;
  };

  Answer alive(std::string_view request, int connection);
  Answer port_of(std::string_view name) const;
  std::string names(bool with_connections) const;
  Answer stop(std::string_view name);
  std::uint32_t next_creation();

  std::uint16_t port_;
  std::uint32_t creation_;
  bool relaxed_;
  std::map<std::string, Node, std::less<>> nodes_;
};

}  // namespace vmrun::epmd
