// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/process_list.hpp"

#include <memory>
#include <new>
#include <vector>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "vm/nif/resource.hpp"
#include "vm/term/fun.hpp"

/// erlang:processes/0. It answers at once if the time suffices, otherwise in parts, one in each
/// slice. The answer still lists the processes of one moment, because the table keeps what changes
/// meanwhile (IdTable::Walk). Between two parts the process is about to call
/// erlang:ptab_list_continue/2, as in OTP, with the list's end so far and a reference; the
/// reference owns the walk.
namespace vmrun {
namespace {

struct Listing {
  std::unique_ptr<ProcessTable::Walk> walk;
  Term caller;  // the only process that may continue it
};

ErlNifResourceType& listing_type() {
  static auto& type =
      new_resource_type(atoms::erlang, intern_atom("processes"),
                        [](ErlNifEnv*, void* object) { static_cast<Listing*>(object)->~Listing(); });
  return type;
}

/// Whether the rest of the slice suffices to visit all.
bool has_time_for_all(const Process& p) {
  const Word reductions =
      process_table.count() * kReductionsPerListed + process_table.marked_places() / kPlacesPerReduction;
  return p.reductions > 0 && reductions < static_cast<Word>(p.reductions);
}

Term go_on(Process& p, Listing& listing, Term reference, Term list) {
  static Export* const continues = export_entry(atoms::erlang, intern_atom("ptab_list_continue"), 2);
  const SWord reductions = p.reductions > 0 ? p.reductions : 1;
  const bool more = listing.walk->go_on(reductions * kPlacesPerReduction, [&](Term pid) {
    Term* hp = p.heap.alloc(2);
    list = make_cons(hp, pid, list);
  });
  if (more) {
    bump_reductions(p, reductions);
    return trap_to(p, continues, {list, reference});
  }
  bump_reductions(p, reductions / 2);
  listing.walk.reset();
  return list;
}

}  // namespace

Term list_processes_at_once(Process& p) {
  const std::vector<Term> pids = process_table.all_at_one_moment();
  bump_reductions(p, static_cast<SWord>(pids.size()) * kReductionsPerListed);
  return new_list(p.heap, pids);
}

Term bif_erlang_processes_0(Process& p, const Term*) {
  if (has_time_for_all(p)) return list_processes_at_once(p);
  Resource* resource = new_zeroed_resource(listing_type(), sizeof(Listing));
  if (!resource) return raise_system_limit(p);
  auto* listing = new (resource->object()) Listing{std::make_unique<ProcessTable::Walk>(process_table), p.id};
  const Term reference = make_magic_ref(p.heap, *resource);
  resource->binary.release();  // the reference has its own
  return go_on(p, *listing, reference, Term::nil());
}

namespace {

/// Returns {Next, Pids} for the processes from a place of the table on; none at its end; the
/// non-value behind it.
Term processes_from(Process& p, Term from) {
  constexpr Word kMost = 500;
  if (!from.is_small() || from.small_value() < 0) return kNonValue;
  auto place = static_cast<Word>(from.small_value());
  if (place > process_table.limit()) return kNonValue;
  if (place == process_table.limit()) return atoms::none;
  const EpochGuard guard;
  ListBuilder pids(p.heap);
  for (Word n = 0; n < kMost; ++n) {
    const Process* found = process_table.next(place);
    if (!found) {
      place = process_table.limit();
      break;
    }
    pids.add(found->id);
  }
  bump_reductions(p, kMost);
  return new_tuple(p.heap, Term::small(static_cast<SWord>(place)), pids.finish());
}

}  // namespace

Term bif_erts_internal_processes_next_1(Process& p, const Term* a) {
  const Term found = processes_from(p, a[0]);
  return found ? found : raise_badarg(p);
}

/// An iterator is {Place, Pids}: pids still to be given out, and where to look for more.
Term bif_erlang_processes_iterator_0(Process& p, const Term*) {
  return new_tuple(p.heap, Term::small(0), Term::nil());
}
Term bif_erlang_processes_next_1(Process& p, const Term* a) {
  Term iterator = a[0];
  for (;;) {
    if (!iterator.is_tuple() || iterator.tuple_arity() != 2) return raise_badarg(p);
    const Term pids = iterator.element(1);
    if (pids.is_list())
      return new_tuple(p.heap, pids.head(), new_tuple(p.heap, iterator.element(0), pids.tail()));
    if (!pids.is_nil()) return raise_badarg(p);
    iterator = processes_from(p, iterator.element(0));
    if (!iterator) return raise_badarg(p);
    if (iterator == atoms::none) return iterator;
  }
}

/// (List, Reference): continues a call of processes/0.
Term bif_erlang_ptab_list_continue_2(Process& p, const Term* a) {
  auto* listing = static_cast<Listing*>(resource_object(a[1], listing_type()));
  if (!listing || listing->caller != p.id || !listing->walk) return raise_badarg(p);
  return go_on(p, *listing, a[1], a[0]);
}

}  // namespace vmrun
