// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/term/term.hpp"

/// What probe sites pass besides terms, numbers and texts. See probes/probes.tab.
namespace vmrun::probe {

/// A function. module is the non-value when no function is known.
struct FunctionArgument {
  Term module, function;
  unsigned arity = 0;
};

/// The longest text that a program can pass to a probe of its own.
inline constexpr std::size_t kIolistBytes = 1024;
/// Whether an iolist argument shows as a text and not as NULL.
bool is_shown_iolist(Term t);

}  // namespace vmrun::probe
