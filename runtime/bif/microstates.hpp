// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// Microstate accounting (vm/base/microstate.hpp) as programs see it.
namespace vmrun {

/// statistics(microstate_accounting).
Term microstate_accounting(Process& p);
/// system_flag(microstate_accounting, true | false | reset).
Term set_microstate_accounting(Process& p, Term wish);

}  // namespace vmrun
