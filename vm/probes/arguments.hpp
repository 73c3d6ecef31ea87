#pragma once

#include <cstdint>

#include "vm/term/term.hpp"

/// What firing points hand over besides terms, numbers and texts. See probes/probes.tab.
namespace vmrun::probe {

/// A function; module is the non-value when there is none to name.
struct FunctionArgument {
  Term module, function;
  unsigned arity = 0;
};

/// The longest text a program can hand to a probe of its own.
inline constexpr std::size_t kIolistBytes = 1024;
/// Whether an iolist argument shows as a text and not as NULL.
bool is_shown_iolist(Term t);

}  // namespace vmrun::probe
