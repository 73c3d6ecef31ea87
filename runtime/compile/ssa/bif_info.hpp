#pragma once
// What code generation must know about the BIFs that have instructions of their own: which are
// guard BIFs, which are tests. One table.

#include <cstdint>

#include "runtime/compile/ssa/ssa.hpp"

namespace vmrun::compile::ssa {

struct BifInfo {
  const char* name;
  std::uint8_t arity;
  bool gc;           // may allocate: a gc_bif instruction
  bool safe;         // cannot fail whatever the arguments
  bool boolean;      // gives true or false
  std::int8_t test;  // the Test it is, or -1
  bool swap;         // the test takes the arguments in reverse order
  Term atom;         // of name; set on first use
};

/// The guard BIF or operator erlang:name/arity, or null.
const BifInfo* find_bif(Term name, std::uint32_t arity);

}  // namespace vmrun::compile::ssa
