// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "drivers/socket/named_numbers.hpp"

/// Requests of socket:ioctl and the flags of network interfaces.
namespace vmrun::sockets {

std::span<const Named> ioctl_requests();
/// Returns the flags; those that only other systems have are 0.
std::span<const Named> interface_flags();

}  // namespace vmrun::sockets
