// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ets/table.hpp"
#include "vm/probes/fire.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/print.hpp"

/// Helpers that the files of module ets share.
namespace vmrun::ets {

/// Copies a term of a table to the caller's heap. Fires copy_object and copy_struct.
Term copy_out(Process& p, Term t);

/// Returns copies of an object and the older ones with its key, oldest first, followed by the list
/// `behind`.
Term group_list(Process& p, const Store& store, Object* newest, Term behind = Term::nil());

// Every function that reads or writes objects reports it by one of these, while the table is still
// locked. operation: the function's name.

[[gnu::cold, gnu::noinline]] void fire_lookup(const Process& p, const Table& t, const char* operation,
                                              Word found, Word examined);
/// newest: the newest of the objects that were found, which have one key.
[[gnu::cold, gnu::noinline]] void fire_lookup(const Process& p, const Table& t, const char* operation,
                                              Object* newest);
/// objects: an object or a list of them.
[[gnu::cold, gnu::noinline]] void fire_write(const Process& p, const Table& t, const char* operation,
                                             Term objects);
[[gnu::cold, gnu::noinline]] void fire_write(const Process& p, const Table& t, const char* operation,
                                             Word objects);

/// Reports a read that found `found` objects or keys and examined `examined` objects.
inline void note_lookup(const Process& p, const Table& t, const char* operation, Word found, Word examined) {
  if (probe::ets_lookup_enabled()) [[unlikely]]
    fire_lookup(p, t, operation, found, examined);
}
inline void note_lookup(const Process& p, const Table& t, const char* operation, Object* newest) {
  if (probe::ets_lookup_enabled()) [[unlikely]]
    fire_lookup(p, t, operation, newest);
}
/// Reports a write. objects: the objects that were inserted, changed or deleted, or their number.
template <class Objects>
void note_write(const Process& p, const Table& t, const char* operation, Objects objects) {
  if (probe::ets_write_enabled()) [[unlikely]]
    fire_write(p, t, operation, objects);
}

}  // namespace vmrun::ets
