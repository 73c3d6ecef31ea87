#pragma once

#include <cstdint>
#include <string>

/// How a machine on this host is reached by its process number: the signal that opens its attach
/// endpoint, and the socket behind it (wire.hpp). Any thread.
namespace vmrun::d {

/// Whether the process handles the attach signal, as machines do; not whether we may send it.
bool may_be_traced(std::int64_t pid);

/// A connection to the machine, the caller's to close; -1 and why.
int open_endpoint(std::int64_t pid, std::string& why);

}  // namespace vmrun::d
