// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vmrun {

/// Tells debuggers where things are (vm/base/debugger_facts.hpp). Once, when the compiler of
/// machine code has been enabled, before processes run.
void tell_debuggers();

}  // namespace vmrun
