#pragma once
// Constants of a module: comparing them, and writing them in the external term format (the encoding of the LitT chunk).
// Any thread; terms are only read.

#include <cstdint>
#include <vector>

#include "vm/term/term.hpp"

namespace vmrun::compile {

/// Same type and value, as =:= has it (but 0.0 and -0.0 differ).
bool same_literal(Term a, Term b);
/// A hash that agrees with same_literal.
std::uint64_t literal_hash(Term t);
/// Appends the term in external format, without the version byte.
void encode_external(Term t, std::vector<std::uint8_t>& out);

}  // namespace vmrun::compile
