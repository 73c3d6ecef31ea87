#pragma once

#include <cstdint>
#include <string>

#include "vm/term/term.hpp"

/// Addresses of instructions, as stacks hold them, to functions. Any thread that may wait a moment;
/// not inside a firing.
namespace vmrun::attach {

struct CodeLocation {
  Term module, function;  // no value: it is nobody's code (any more), or the machine's own
  unsigned arity = 0;
  std::string file;        // with `line`: where it stands, if that is known
  std::uint32_t line = 0;  // 0: it is not
};
CodeLocation code_location_of(std::uint64_t address);

}  // namespace vmrun::attach
