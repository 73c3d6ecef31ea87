// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// When loaded native code ends the VM by a signal (a bad address, abort, …), the culprit is
/// reported on standard error before the VM ends as it would have: the library, and the native
/// function if there is one. This costs nothing before.
namespace vmrun {

/// Registers the library that holds this address as foreign native code. what: its description,
/// "NIF library PATH". Any thread.
void watch_native_library(const void* address, const std::string& what);

}  // namespace vmrun
