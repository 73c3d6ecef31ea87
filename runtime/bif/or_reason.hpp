#pragma once

#include "vm/process/bif.hpp"
#include "vm/process/process.hpp"

/// Built-in functions that give back the reason where others raise it, for OTP's modules raise it
/// in Erlang.
namespace vmrun {

/// The result, or the reason that was to be raised.
inline Term or_reason(Process& p, Term result) {
  return result || p.bif_action != BifAction::kRaise ? result : p.exception_value;
}

/// The built-in function that does so in place of `raising`: the mark `reason` of bif.tab.
template <BifFn raising>
Term gives_reason(Process& p, const Term* args) {
  return or_reason(p, raising(p, args));
}

}  // namespace vmrun
