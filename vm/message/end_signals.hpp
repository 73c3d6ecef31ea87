// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/heap/fragment.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/atom.hpp"

/// Builds the signals that report an end, which handle.cpp reads. Used by code that makes them from
/// terms of this node or from bytes of another one. The terms lie in the fragment already, and it
/// has room for what is added.
namespace vmrun {

inline constexpr Word kExitSignalWords = 4;
inline void finish_exit_signal(Fragment& f, Term from, Term reason) {
  Term* hp = fragment_alloc(f, kExitSignalWords);
  f.message = make_tuple(hp, atoms::exit_upper, from, reason);
}

inline constexpr Word kDownSignalWords = 6 + kAliasRefWords;
/// kind is process or port.
inline void finish_down_signal(Fragment& f, RefKey key, Term kind, Term object, Term reason) {
  f.from_vm = 1;
  Term* const tuple = fragment_alloc(f, 6);
  Term* hp = fragment_alloc(f, kRefWords);  // last: see make_alias_of_last in handle.cpp
  const Term ref = make_ref(hp, key);
  hp = tuple;
  f.message = make_tuple(hp, atoms::down, ref, kind, object, reason);
}

}  // namespace vmrun
