#pragma once

#include <cassert>

#include "vm/heap/copy.hpp"
#include "vm/heap/heap.hpp"

/// Building what travels: a message or signal is a fragment with its root in `message`. Whoever
/// makes it owns it until it is handed over.
namespace vmrun {

/// A fragment of at least this many words; ends the VM with a message when memory is exhausted.
Fragment* new_fragment(Word words);
/// Copies a term into a fragment that has room for it; fires copy-struct. Use copy_size_words for
/// the room.
Term copy_into(Fragment& f, Term t, Literals literals = Literals::kShared);
/// The size of its message in full, for the probes that follow one from the sender to the receiver:
/// worked out once. By the fragment's owner.
Word message_words(Fragment& f);
/// The same, worked out before there was the fragment; 0: it was not.
inline void note_message_words(Fragment& f, Word words) {
  if (words < Word{1} << 24) f.known_words = static_cast<std::uint32_t>(words);
}

/// Room inside a fragment.
inline Term* fragment_alloc(Fragment& f, Word words) {
  assert(f.used_words + words <= f.capacity_words);
  f.used_words += static_cast<std::uint32_t>(words);
  return f.words + (f.used_words - words);
}

}  // namespace vmrun
