#pragma once

#include "vm/base/small_limits.hpp"
#include "vm/heap/heap.hpp"

/// Size and copy of terms between heaps. Neither collects; both take any depth (explicit work
/// stack, no C++ recursion).
namespace vmrun {

/// Words a copy of `t` takes in an empty heap, sharing not kept (PROBES A8); literals count in
/// full. 0 for immediates and {}.
Word size_words(Term t);

/// What a copy does about literals (literal.hpp). Processes share them, but for those that are
/// about to be freed. Whatever outlives a message and is looked through by no process (objects of
/// tables, messages of timers, terms of native code, other literals) has copies, so that literals
/// can be freed when no process refers to them.
enum class Literals : bool { kShared, kCopied };

/// Words a copy takes. The copy must follow before anything is called that may yield: what is
/// shared changes between slices.
Word copy_size_words(Term t);
Word copy_size_words(Term t, Literals literals);
/// What a scheduler copies in one piece: half a millisecond.
inline constexpr Word kWordsCopiedHere = usual_or_small<Word>(100'000, 100);
/// The same as copy_size_words; more than kWordsCopiedHere, without looking further, when it is.
Word copy_size_words_here(Term t);
/// The size in full; -1, without looking further, when it is more than `most`.
[[nodiscard]] SWord size_words_within(SWord most, Term t);

/// Copies into `words` of memory at `hp` (advanced), size as copy_size_words said; objects with
/// outside parts are entered in `off_heap` (reference counts raised).
Term copy_term(Term t, Term*& hp, OffHeapObject*& off_heap);
Term copy_term(Term t, Term*& hp, OffHeapObject*& off_heap, Literals literals);

/// Copies into a heap.
Term copy_to(Heap& heap, Term t, Literals literals = Literals::kShared);

/// Fires copy-struct for t, which is no immediate and about to be copied. For who has asked whether
/// anyone looks. The size of t in full, if that was asked for, or else 0.
[[gnu::cold]] Word announce_copy(Term t);

/// A copy in fresh fragment of exactly its size; `*fragment` is nullptr for immediates and
/// literals. Fires copy_struct (size in full) when the probe is enabled and t is no immediate.
Term copy_to_fragment(Term t, Fragment** fragment);

}  // namespace vmrun
