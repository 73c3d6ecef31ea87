#pragma once

#include "vm/process/process.hpp"

/// When code changes: not while the schedulers are in the middle of what they ran before.
namespace vmrun {

/// For built-in functions that change code, first of all: true once every scheduler has been
/// between two slices, so that what was runnable on the caller's has had its turn in the code there
/// was, if there was any: `replaces`. Else they return the non-value, and are called again. (OTP:
/// thread progress.)
[[nodiscard]] bool after_schedulers(Process& p, bool replaces = true);

}  // namespace vmrun
