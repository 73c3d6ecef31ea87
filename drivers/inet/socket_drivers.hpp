// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The drivers tcp_inet and udp_inet: sockets. docs/internals/sockets.md.
namespace vmrun::inet {

void register_drivers();

}  // namespace vmrun::inet
