// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "drivers/inet/bytes.hpp"

/// Answers about the host: its name, services, network interfaces. Any thread. fd: a socket.
namespace vmrun::inet {

Answer host_name();
/// length | name | length | protocol
Answer service_by_name(Reader& in);
/// port, 2 bytes | length | protocol
Answer service_by_port(Reader& in);
/// Names, each followed by a zero.
Answer interfaces(int fd);
/// length | name | options…; the answer has option and value of each that exists.
Answer get_interface(int fd, Reader& in);
/// length | name | option, value…
Answer set_interface(int fd, Reader& in);
/// name, 0, option and value…, 0; repeated for each address of each interface.
Answer interface_addresses();

}  // namespace vmrun::inet
