// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

class TermSpace;
struct Binary;
struct Export;

/// What vm/term needs of higher layers. Any thread, where nothing else is said.
struct TermUpcalls {
  // ---- Heaps: the slow half of TermSpace, in its owner's thread ----

  Upcall<Term*(TermSpace& space, Word words)> alloc_outside;
  Upcall<void(TermSpace& space, Term* from, Term* alloc_end)> give_back;
  /// The empty tuple, which is a literal.
  Upcall<Term()> empty_tuple;

  // ---- Probes of binaries, called while these are enabled ----

  Upcall<void(const Binary& b)> binary_allocated;
  Upcall<void(const Binary& b, Word old_id, Word old_bytes)> binary_resized;
  Upcall<void(const Binary& b)> binary_released;

  // ---- Aliases as bytes of a node without a name ----
  //
  // Such a node writes the three numbers of a reference only: other nodes without a name, which
  // take its references for their own, accept no more. The owner is noted meanwhile.

  Upcall<void(const std::uint32_t* numbers, Term owner)> alias_written;
  /// The process whose alias was written with these numbers and has not ended; or the non-value.
  Upcall<Term(const std::uint32_t* numbers)> alias_owner;

  // ---- Resources of native code: the memory that magic references keep alive ----

  /// The last reference is gone.
  Upcall<void(Binary* resource)> destroy_resource;
  /// Its reference becomes bytes (term_to_binary): from now on find_resource knows it.
  Upcall<void(Binary* resource)> expose_resource;
  /// The magic reference for the numbers of a local reference, if that is one of an exposed
  /// resource that still lives; else the non-value.
  Upcall<Term(const std::uint32_t* numbers, TermSpace& heap)> find_resource;

  // ---- Others ----

  /// Writes the instructions that an export leads to while it has no code.
  Upcall<void(Export& e)> make_stub;
  /// In the middle of a long comparison: what has been queued runs for a slice. Does nothing on
  /// threads that are not schedulers.
  Upcall<void()> let_others_run;
  /// The entry of a node is given back, and with it its reference to the channel to that node.
  Upcall<void(void* channel)> release_channel;
};
inline constinit TermUpcalls term_upcalls;

/// The one empty tuple; it lives outside all heaps and takes no words.
inline Term empty_tuple() { return term_upcalls.empty_tuple(); }

}  // namespace vmrun
