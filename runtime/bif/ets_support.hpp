#pragma once

#include "runtime/ets/table.hpp"
#include "vm/probes/fire.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/print.hpp"

/// What the files of module ets share.
namespace vmrun::ets {

/// A term of a table copied to the caller's heap. Fires copy_object and copy_struct.
Term copy_out(Process& p, Term t);

/// Copies of an object and the older ones with its key, oldest first, and behind them a list.
Term group_list(Process& p, const Store& store, Object* newest, Term behind = Term::nil());

// What every function that reads or writes objects says when it has, the table still locked.
// operation: its name.

[[gnu::cold, gnu::noinline]] void fire_lookup(const Process& p, const Table& t, const char* operation,
                                              Word found, Word examined);
/// found: all objects with one key.
[[gnu::cold, gnu::noinline]] void fire_lookup(const Process& p, const Table& t, const char* operation,
                                              Object* newest);
/// objects: one or a list of them.
[[gnu::cold, gnu::noinline]] void fire_write(const Process& p, const Table& t, const char* operation,
                                             Term objects);
[[gnu::cold, gnu::noinline]] void fire_write(const Process& p, const Table& t, const char* operation,
                                             Word objects);

/// It has read: so many objects or keys, after a look at `examined` objects.
inline void note_lookup(const Process& p, const Table& t, const char* operation, Word found, Word examined) {
  if (probe::ets_lookup_enabled()) [[unlikely]]
    fire_lookup(p, t, operation, found, examined);
}
inline void note_lookup(const Process& p, const Table& t, const char* operation, Object* newest) {
  if (probe::ets_lookup_enabled()) [[unlikely]]
    fire_lookup(p, t, operation, newest);
}
/// It has put in, changed or taken out so many objects, or these.
template <class Objects>
void note_write(const Process& p, const Table& t, const char* operation, Objects objects) {
  if (probe::ets_write_enabled()) [[unlikely]]
    fire_write(p, t, operation, objects);
}

}  // namespace vmrun::ets
