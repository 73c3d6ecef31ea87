// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "vm/process/process.hpp"

/// When code may change: not while schedulers are in the middle of what they ran before, and not
/// before the processes that have been spawned to run that code have begun.
namespace vmrun {

/// A built-in function that changes code calls this first. changed: names of modules. If any of
/// them has current code, the function returns true once
/// * every process that has been spawned to run one of them has begun, wherever it waited for its
///   turn (except a process that is suspended, or that still waits for its priority's turn);
/// * every scheduler has been between two slices, so that the other runnable processes of the
///   caller's scheduler have had their turn in the present code.
/// Otherwise it returns false; the built-in function then returns the non-value and is called
/// again. (OTP waits for the second condition alone: thread progress.) A process on a dirty
/// scheduler cannot wait for the permission to change code, so it has to ask for the permission
/// before it goes there (may_change_code).
[[nodiscard]] bool after_schedulers(Process& p, std::span<const Term> changed);

/// What a built-in function does that is called before and after a change of what calls do: it
/// returns when whoever was running has run for a whole slice. So the slices that ran at the time
/// of the change end before anybody looks at what it has done. (OTP waits for thread progress after
/// each of its steps.)
Term after_slices(Process& p);

}  // namespace vmrun
