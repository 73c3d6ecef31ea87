#pragma once

#include <cstdint>

/// `vmrun -epmd`: the service that tells the ports of this host's nodes, for hosts where no other
/// epmd is installed (Erlang/OTP, "EPMD Protocol"). It has one thread and one poll(2), and does not
/// start a machine.
namespace vmrun::epmd {

/// The value of ERL_EPMD_PORT, else 4369.
std::uint16_t service_port();

/// Listens on the port of ERL_EPMD_PORT (4369) at all addresses, or at those of ERL_EPMD_ADDRESS
/// and the loopback ones, and serves until it is killed. in_background: returns as soon as it
/// listens, while a process of its own goes on. Returns the exit status after reporting any error
/// on standard error.
int serve(bool in_background);

}  // namespace vmrun::epmd
