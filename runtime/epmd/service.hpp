#pragma once

#include <cstdint>

/// `vmrun -epmd`: the service that tells the ports of this host's nodes, for when no other epmd is
/// installed (Erlang/OTP, "EPMD Protocol"). One thread, one poll(2); no machine is started.
namespace vmrun::epmd {

/// As ERL_EPMD_PORT says, else 4369.
std::uint16_t service_port();

/// Listens on the port of ERL_EPMD_PORT (4369) at all addresses, or at those of ERL_EPMD_ADDRESS
/// and the loopback ones, and serves until it is killed. in_background: returns at once, when it
/// listens; a process of its own goes on. Returns the exit status; has said on standard error what
/// was wrong.
int serve(bool in_background);

}  // namespace vmrun::epmd
