#pragma once

#include <cstdint>

/// The side of vmtrace that stands beside a machine and hands on what another vmtrace, on another
/// host, says to it: `vmtrace --relay PID`, on standard input and output (wire.hpp). It maps the
/// machine's rings in the other's place, and sends what is in them.
namespace vmrun::d {

/// Until the other side goes, or the machine. The exit status; why is said on standard error.
int relay(std::int64_t pid);

}  // namespace vmrun::d
