// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "vm/term/term.hpp"

/// Code locations: the function, file and line of an instruction's address, as stacks hold it. A
/// thread that calls this must be able to wait a moment, and must not be inside a firing.
namespace vmrun::attach {

struct CodeLocation {
  Term module, function;  // no value: no loaded code, or the machine's own code
  unsigned arity = 0;
  std::string file;        // with `line`: the place in the source, if known
  std::uint32_t line = 0;  // 0: not known
};
CodeLocation code_location_of(std::uint64_t address);

}  // namespace vmrun::attach
