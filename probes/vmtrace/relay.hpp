// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The vmtrace that stands beside a machine and passes on what a vmtrace on another host says to
/// it: `vmtrace --relay PID`, on standard input and output (attach_protocol.hpp). It maps the
/// machine's rings in the other's place, and sends what is in them.
namespace vmrun::d {

/// Runs until the other side or the machine is gone. Returns the exit status; the reason is written
/// to standard error.
int relay(std::int64_t pid);

}  // namespace vmrun::d
