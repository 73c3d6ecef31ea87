// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/lower/lower_context.hpp"

/// Case, receive, try and catch.
/// One compilation, one thread.
namespace vmrun::compile::lower {

class LowerControl : LowerPart {
 public:
  using LowerPart::LowerPart;
  void case_of(core::Case& c, Dest d);
  void receive(core::Receive& r, Dest d);
  void try_of(core::Try& t, Dest d);
  void catch_of(core::Catch& c, Dest d);

 private:
  bool boolean_case(core::Case& c, Dest d);
  void awaited(core::Receive& r);
};

}  // namespace vmrun::compile::lower
