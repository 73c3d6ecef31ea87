// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/bits_fields.hpp"

/// Bit strings that are built field by field, and those that grow at their end. The rules of
/// bits.hpp hold.
namespace vmrun {

/// Heap words that appending takes at most.
inline constexpr Word kAppendWords = 11;

/// What the result of an append is: another term, beside which the source stays as it was, or the
/// source itself, which nobody else sees (private_append). erlc of OTP 29 goes on with the source
/// where it does not need the result, so it must be the same term if it works in place.
enum class Appended : bool { kAnother, kItself };

/// Makes a new bit string of `bits`, to be filled through *builder.
Term bs_new(TermSpace& heap, Word bits, BitBuilder* builder);
/// Returns `source` with room for extra_bits behind it, to be filled through *builder. Works in
/// place when source is the newest end of a writable binary, else in a new writable one with room
/// to grow. Returns kNonValue when source is not a bit string or not a multiple of unit (badarg).
/// *copied_bits: how much was copied, written only if something was.
Term bs_append(TermSpace& heap, Term source, Word extra_bits, Word unit, BitBuilder* builder,
               Appended appended = Appended::kAnother, Word* copied_bits = nullptr);
/// Appends up to 56 bits, the topmost ones of a word, in place. Returns kNonValue if that cannot be
/// done.
Term append_few_bits(TermSpace& heap, Term source, Word word, Word bits, Appended appended);
/// Makes the empty binary to append to, with room for so many bytes (bs_init_writable).
Term bs_init_writable(TermSpace& heap, Term size_hint);

}  // namespace vmrun
