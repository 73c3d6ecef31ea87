// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/heap/fragment.hpp"
#include "vm/process/mailbox.hpp"
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

/// Makes an exit signal to an alias of an exit signal.
inline constexpr Word kAliasExitWords = kExitSignalWords + kAliasRefWords + 4;
inline void address_to_alias(Fragment& f, RefKey alias, Term owner, bool priority) {
  Term* hp = fragment_alloc(f, kAliasRefWords);
  const Term ref = make_alias_ref(hp, alias, owner);
  hp = fragment_alloc(f, 4);
  f.message = make_tuple(hp, ref, f.message, Term::small(priority ? kPriorityMessage : 0));
  f.kind = static_cast<std::uint32_t>(SignalKind::kAliasExit);
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
