// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/ir/ssa.hpp"

/// Facts about functions of module erlang that code generation needs: which have instructions of
/// their own, which are tests, which never return. Generated from runtime/bif/bif.tab, which
/// describes each column.
namespace vmrun::ir {

struct BifInfo {
  const char* name;
  std::uint8_t arity;
  bool inlined = false;          // an instruction, not a call
  bool gc = false;               // may allocate: a gc_bif instruction
  bool safe = false;             // cannot fail, whatever the arguments
  bool boolean = false;          // gives true or false
  bool swap = false;             // the test takes the arguments in reverse order
  bool never_returns = false;    // always raises
  bool makes_reference = false;  // a reference that a receive may wait for
  std::int8_t test = -1;         // the Test it is, or -1
  Term atom = {};                // of name; set on first use
};

/// Returns the function erlang:name/arity, or nullptr when code generation knows nothing special
/// about it.
const BifInfo* find_erlang_function(Term name, std::uint32_t arity);
/// Returns it only if it has an instruction of its own.
const BifInfo* find_bif(Term name, std::uint32_t arity);

}  // namespace vmrun::ir
