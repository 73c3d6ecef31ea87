// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/lower/lower_context.hpp"

/// Funs: makes closures, and calls them directly where the compiler knows which fun it is. One
/// compilation, one thread.
namespace vmrun::compile::lower {

/// A fun that this function has made. Calls of it do not need the fun's term.
struct ClosureInfo {
  core::FunNote* note;
  std::span<Arg> env;
};

class LowerFun : LowerPart {
 public:
  using LowerPart::LowerPart;
  Arg make_closure(core::FunNote* note);
  Arg lambda(core::Lambda& l);
  Arg fun_ref(core::FunRef& r);
  Arg apply_value(Arg fun, std::vector<Arg> args, Loc loc);

 private:
  const ClosureInfo* closure_of(Arg a) const;

  std::unordered_map<ValueId, ClosureInfo> closures_;
};

}  // namespace vmrun::compile::lower
