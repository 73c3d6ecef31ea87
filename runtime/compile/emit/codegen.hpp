// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/core/core_language.hpp"

/// The interface of the compiler's back half: Core in, generic BEAM instructions out, as a .beam
/// file or as text. One compilation, one thread.
namespace vmrun::compile {

struct Generated {
  std::string beam;      // the whole .beam file
  std::string ssa;       // filled when asked for: print_ssa.hpp
  std::string assembly;  // filled when asked for: one Erlang term per line, as `erlc -S` writes them
  std::vector<std::string> errors;  // limits exceeded (more than 255 arguments, …); empty on success
};

/// Generates code of a module for a release of OTP. Nodes of `module` are annotated on the way, so
/// a module can be passed only once.
Generated generate(NodeArena& arena, core::Module& module, int release, bool want_ssa, bool want_assembly);

}  // namespace vmrun::compile
