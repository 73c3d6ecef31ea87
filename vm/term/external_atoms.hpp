// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "vm/term/term.hpp"

/// The atoms that the terms of one message refer to by index (ATOM_CACHE_REF), in order of first
/// mention. There are at most 255, and no two of them share a place in the cache of a connection,
/// so that the connection's header can describe them without a search. One object at a time in a
/// thread.
namespace vmrun {

class AtomReferences {
 public:
  static constexpr unsigned kMost = 255;
  static constexpr unsigned kPlaces = 2048;
  static unsigned place_of(Term atom) { return atom.atom_index() % kPlaces; }

  AtomReferences() {}  // leaves the atoms uninitialised
  ~AtomReferences() {
    for (unsigned i = 0; i < count_; ++i) by_place[place_of(atoms_[i])] = 0;
  }
  AtomReferences(const AtomReferences&) = delete;
  AtomReferences& operator=(const AtomReferences&) = delete;

  /// Returns the atom's index; -1 when the atom must be written as text.
  int index_of(Term atom) {
    std::uint8_t& known = by_place[place_of(atom)];
    if (known) return atoms_[known - 1] == atom ? known - 1 : -1;
    if (count_ == kMost) return -1;
    atoms_[count_] = atom;
    known = static_cast<std::uint8_t>(++count_);
    return known - 1;
  }
  std::span<const Term> atoms() const { return {atoms_, count_}; }

 private:
  inline static thread_local constinit std::uint8_t by_place[kPlaces] = {};  // index + 1; 0: none
  unsigned count_ = 0;
  union {
    Term atoms_[kMost];  // count_ of them are filled in
  };
};

}  // namespace vmrun
