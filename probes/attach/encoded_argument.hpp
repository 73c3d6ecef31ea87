#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/engine/host.hpp"
#include "vm/probes/arguments.hpp"
#include "vm/term/term.hpp"

/// What the machine hands over, as the engine takes it: a shape with its bytes, or a text ended by
/// a NUL, put to `out`, where there is room for `room` bytes. Called by the thread that fires;
/// nothing is allocated.
namespace vmrun::attach {

d::EncodedArgument encoded_text(const char* text, char* out, std::size_t room);
d::EncodedArgument encoded_function(const probe::FunctionArgument& f, char* out, std::size_t room);
/// A process or port; absent: what stands for none.
d::EncodedArgument encoded_pid(Term who, const char* absent, char* out, std::size_t room);
d::EncodedArgument encoded_atom(Term atom, char* out, std::size_t room);
/// Cut after most_bytes.
d::EncodedArgument encoded_term(Term t, unsigned most_bytes, char* out, std::size_t room);

/// As a text ended by a NUL. Returns its bytes, or -1 for nullptr.
std::ptrdiff_t put_text(const char* text, char* out, std::size_t room);
/// The same of a term, cut to the room; the non-value is empty.
std::size_t term_text_of(Term term, char* out, std::size_t room);

}  // namespace vmrun::attach
