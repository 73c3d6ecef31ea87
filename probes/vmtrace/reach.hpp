// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// How a machine on this host is reached by its process number: the signal that opens its attach
/// endpoint, and the socket behind it (attach_protocol.hpp). Any thread may call.
namespace vmrun::d {

/// Whether the process handles the attach signal, as machines do. The caller may still lack the
/// right to send it.
bool may_be_traced(std::int64_t pid);

/// Returns a connection to the machine, which the caller closes, or -1 and why.
int open_endpoint(std::int64_t pid, std::string& why);

}  // namespace vmrun::d
