#pragma once

#include "vm/heap/heap.hpp"

/// Size and copy of terms between heaps. Neither collects; both take any depth (explicit work
/// stack, no C++ recursion).
namespace vmrun {

/// Words a copy of `t` takes in an empty heap, sharing not kept (PROBES A8); literals count in
/// full. 0 for immediates and {}.
Word size_words(Term t);

/// Words a copy takes when literals (see literal.hpp) are shared, not copied.
Word copy_size_words(Term t);

/// Copies into `words` of memory at `hp` (advanced), size as copy_size_words said; objects with
/// outside parts are entered in `off_heap` (reference counts raised). Literals are shared.
Term copy_term(Term t, Term*& hp, OffHeapObject*& off_heap);

/// Copies into a heap. Literals are shared.
Term copy_to(Heap& heap, Term t);

/// A copy in fresh fragment of exactly its size; `*fragment` is nullptr for immediates and
/// literals. Fires copy_struct (size in full) when the probe is enabled and t is no immediate.
Term copy_to_fragment(Term t, Fragment** fragment);

}  // namespace vmrun
