#pragma once

#include <span>

#include "drivers/socket/names.hpp"

/// Requests of socket:ioctl and the flags of network interfaces.
namespace vmrun::sockets {

std::span<const Named> ioctl_requests();
/// 0 for those that only other systems have.
std::span<const Named> interface_flags();

}  // namespace vmrun::sockets
