// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>

#include "vm/heap/copy.hpp"
#include "vm/heap/heap.hpp"

/// Builds what is sent: a message or signal is a fragment with its root in `message`. The code that
/// makes a fragment owns it until it hands it over.
namespace vmrun {

/// Makes a fragment of at least this many words. Ends the VM with a message when memory is
/// exhausted.
Fragment* new_fragment(Word words);
/// Copies a term into a fragment that has room for it (as copy_size_words says). Fires copy-struct.
Term copy_into(Fragment& f, Term t, Literals literals = Literals::kShared);
/// Returns the size of the fragment's message in full, for the probes that follow it from the
/// sender to the receiver. It is computed once. Called by the fragment's owner.
Word message_words(Fragment& f);
/// Stores that size when it was computed before the fragment was made; 0: it was not.
inline void note_message_words(Fragment& f, Word words) {
  if (words < Word{1} << 24) f.known_words = static_cast<std::uint32_t>(words);
}

/// Takes words inside a fragment.
inline Term* fragment_alloc(Fragment& f, Word words) {
  assert(f.used_words + words <= f.capacity_words);
  f.used_words += static_cast<std::uint32_t>(words);
  return f.words + (f.used_words - words);
}

}  // namespace vmrun
