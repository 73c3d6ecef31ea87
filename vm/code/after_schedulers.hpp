#pragma once

#include <span>

#include "vm/process/process.hpp"

/// When code changes: not while the schedulers are in the middle of what they ran before, and not
/// before processes that have been spawned to run it are in it.
namespace vmrun {

/// For built-in functions that change code, first of all. changed: names of modules; where those
/// have current code, true once
/// * who has been spawned to run one of them has begun, wherever it waited for its turn (but for
///   one that is suspended, or goes on waiting for its priority's turn);
/// * every scheduler has been between two slices, so that what else was runnable on the caller's
///   has had its turn in the code there was.
/// Else they return the non-value, and are called again. (OTP waits for the second alone: thread
/// progress.) On a dirty scheduler nobody can wait for the permission to change code: who goes
/// there has asked for it before (may_change_code).
[[nodiscard]] bool after_schedulers(Process& p, std::span<const Term> changed);

}  // namespace vmrun
