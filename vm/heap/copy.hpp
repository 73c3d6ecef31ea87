// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/small_limits.hpp"
#include "vm/heap/heap.hpp"

/// Size and copy of terms between heaps. Neither collects, and both handle any depth (explicit work
/// stack, no C++ recursion).
namespace vmrun {

/// Returns the words that a copy of `t` takes in an empty heap, without sharing (PROBES A8).
/// Literals count in full. Returns 0 for immediates and {}.
Word size_words(Term t);

/// What a copy does with literals (literal.hpp). Processes share them, except those that are about
/// to be freed. Things that outlive a message, and that no process scans, have copies instead:
/// objects of tables, messages of timers, terms of native code, other literals. So literals can be
/// freed when no process refers to them.
enum class Literals : bool { kShared, kCopied };

/// Returns the words that a copy takes. The copy must follow before anything is called that may
/// yield, because the set of shared literals changes between slices.
Word copy_size_words(Term t);
Word copy_size_words(Term t, Literals literals);
/// The most that a scheduler copies in one piece: half a millisecond.
inline constexpr Word kWordsCopiedHere = usual_or_small<Word>(100'000, 100);
/// As copy_size_words. When there are more than kWordsCopiedHere, stops counting and returns a
/// larger number than that.
Word copy_size_words_here(Term t);
/// Returns the size in full; -1, without counting further, when it is more than `most`.
[[nodiscard]] SWord size_words_within(SWord most, Term t);

/// Copies a term to the memory at `hp`, which moves on. The room needed is what copy_size_words
/// returned. Objects that refer to something outside are entered in `off_heap`, with their
/// reference counts raised.
Term copy_term(Term t, Term*& hp, OffHeapObject*& off_heap);
Term copy_term(Term t, Term*& hp, OffHeapObject*& off_heap, Literals literals);

/// Copies a term into a heap.
Term copy_to(Heap& heap, Term t, Literals literals = Literals::kShared);

/// Fires copy-struct for t, which is not an immediate and is about to be copied. The caller has
/// checked that the probe is enabled. Returns the size of t in full if a consumer needs it, else 0.
[[gnu::cold]] Word announce_copy(Term t);

/// Copies a term into a new fragment of exactly its size. `*fragment` is nullptr for immediates and
/// literals. Fires copy_struct (size in full) when the probe is enabled and t is not an immediate.
Term copy_to_fragment(Term t, Fragment** fragment);

}  // namespace vmrun
