// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/engine/host.hpp"
#include "vm/probes/arguments.hpp"
#include "vm/term/term.hpp"

/// Encodes arguments of probes for the engine: as an Encoding with its bytes, or as text that ends
/// with a NUL. The result is written to `out`, which has room for `room` bytes. The firing thread
/// calls these functions; they do not allocate.
namespace vmrun::attach {

d::EncodedArgument encoded_text(const char* text, char* out, std::size_t room);
d::EncodedArgument encoded_function(const probe::FunctionArgument& f, char* out, std::size_t room);
/// Encodes a process or port. absent: the text when there is none.
d::EncodedArgument encoded_pid(Term who, const char* absent, char* out, std::size_t room);
d::EncodedArgument encoded_atom(Term atom, char* out, std::size_t room);
/// Encodes a term, cut after most_bytes.
d::EncodedArgument encoded_term(Term t, unsigned most_bytes, char* out, std::size_t room);

/// Writes a text that ends with a NUL. Returns its size in bytes, or -1 for nullptr.
std::ptrdiff_t put_text(const char* text, char* out, std::size_t room);
/// Writes the text of a term, cut to the room, and returns its size. The text of the non-value is
/// empty.
std::size_t term_text_of(Term term, char* out, std::size_t room);

}  // namespace vmrun::attach
