// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/bif.hpp"
#include "vm/process/process.hpp"

/// Built-in functions that return the reason where others raise it, because OTP's modules raise it
/// in Erlang.
namespace vmrun {

/// Returns the result, or the reason of the exception.
inline Term or_reason(Process& p, Term result) {
  return result || p.bif_action != BifAction::kRaise ? result : p.exception_value;
}

/// The variant of `raising` that returns the reason: the mark `reason` of bif.tab.
template <BifFn raising>
Term gives_reason(Process& p, const Term* args) {
  return or_reason(p, raising(p, args));
}

}  // namespace vmrun
