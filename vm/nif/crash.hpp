#pragma once

#include <string>

/// When native code that was loaded ends the VM by a signal (a bad address, abort, …), what is to
/// blame is said on standard error before the VM ends as it would have: the library, and the native
/// function if there is one. Costs nothing before.
namespace vmrun {

/// The library that holds this address is native code of somebody else's. what: how to call it,
/// "NIF library PATH". Any thread.
void watch_native_library(const void* address, const std::string& what);

}  // namespace vmrun
