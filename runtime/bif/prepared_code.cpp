// SPDX-License-Identifier: Apache-2.0
// Loading in two steps, as OTP's code server does it. First any process prepares code, which stays
// invisible to others; then several prepared modules become current at once.

#include <algorithm>
#include <atomic>
#include <vector>

#include "runtime/bif/support.hpp"
#include "vm/code/after_schedulers.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/nif/library.hpp"
#include "vm/nif/resource.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/report.hpp"
#include "vm/term/bits.hpp"

namespace vmrun {
namespace {

/// The contents of a reference to prepared code. The process that takes the module out of it owns
/// it.
struct Prepared {
  std::atomic<Module*> module;
};

ErlNifResourceType& prepared_type() {
  static auto& type =
      new_resource_type(atoms::erlang, intern_atom("prepared_code"), [](ErlNifEnv*, void* object) {
        if (Module* m = static_cast<Prepared*>(object)->module.exchange(nullptr)) retire_module(m);
      });
  return type;
}

Prepared* prepared_of(Term ref) { return static_cast<Prepared*>(resource_object(ref, prepared_type())); }

/// Collects the modules of a list of such references. Returns false when it is not such a list.
bool modules_of(Term list, std::vector<Prepared*>* out) {
  for (; list.is_list(); list = list.tail()) {
    Prepared* prepared = prepared_of(list.head());
    if (!prepared || !prepared->module.load()) return false;
    out->push_back(prepared);
  }
  return list.is_nil();
}

Term name_of(const Prepared* prepared) { return prepared->module.load()->name; }

/// Returns {Reason, [Module]} with the modules to which the reason applies, or the non-value if it
/// applies to none.
template <class Applies>
Term refused(Heap& heap, const char* reason, const std::vector<Prepared*>& all, Applies applies) {
  ListBuilder names(heap);
  bool any = false;
  for (const Prepared* prepared : all) {
    if (!applies(prepared)) continue;
    names.add(name_of(prepared));
    any = true;
  }
  return any ? new_tuple(heap, intern_atom(reason), names.finish()) : kNonValue;
}

}  // namespace

/// (Module, Binary): a reference to the prepared code, or {error, badfile}.
Term bif_erts_internal_prepare_loading_2(Process& p, const Term* a) {
  if (!a[0].is_atom() || !is_binary(a[1])) return raise_badarg(p);
  if (too_long(bit_size_of(a[1]) / 8)) return run_on_dirty(p, bif_erts_internal_prepare_loading_2, a, 2);
  const BytesOf bytes(a[1]);
  const std::string name(atom_text(a[0]));
  LoadResult r = prepare_module(bytes.data(), bytes.size(), name);
  bump_reductions(p, static_cast<SWord>(bytes.size() / 32));
  if (r.module && r.module->name != a[0]) {
    retire_module(r.module);
    r = {nullptr, intern_atom("badfile"), {}};
  }
  if (!r.module) {
    // The reason says nothing of what is wrong: OTP's loader tells the logger too.
    if (!r.message.empty()) report_error("Error loading module " + r.message);
    return new_tuple(p.heap, atoms::error, r.reason);
  }
  Resource* resource = new_zeroed_resource(prepared_type(), sizeof(Prepared));
  if (!resource) return raise_system_limit(p);
  static_cast<Prepared*>(resource->object())->module = r.module;
  const Term ref = make_magic_ref(p.heap, *resource);
  resource->binary.release();  // the reference has its own
  return ref;
}

Term bif_erlang_has_prepared_code_on_load_1(Process& p, const Term* a) {
  const Prepared* prepared = prepared_of(a[0]);
  const Module* m = prepared ? prepared->module.load() : nullptr;
  return m ? bool_term(m->on_load != nullptr) : raise_badarg(p);
}

/// ok: all modules are current now. {Reason, [Module]}: none of them is. The exception is
/// not_purged when another process has loaded some of them meanwhile: then all modules that are not
/// in the list are current. A module with an on_load function must be loaded alone; it waits for
/// the call of that function, and the reason is on_load.
Term bif_erlang_finish_loading_1(Process& p, const Term* a) {
  std::vector<Prepared*> all;
  if (!modules_of(a[0], &all)) return raise_badarg(p);
  std::vector<Term> names;
  for (const Prepared* one : all) names.push_back(name_of(one));
  if (!after_schedulers(p, names)) return kNonValue;
  std::vector<Term> repeated;
  const auto is_repeated = [&](const Prepared* one) {  // name each module once
    const Term name = name_of(one);
    if (std::ranges::count(repeated, name)) return false;
    if (std::ranges::count_if(all, [&](const Prepared* other) { return name_of(other) == name; }) < 2)
      return false;
    repeated.push_back(name);
    return true;
  };
  const auto has_on_load = [](const Prepared* one) { return one->module.load()->on_load != nullptr; };
  const auto is_not_purged = [](const Prepared* one) {
    return current_module(name_of(one)) && old_module(name_of(one));
  };
  if (const Term no = refused(p.heap, "duplicated", all, is_repeated); no.is_value()) return no;
  if (const Term no = refused(p.heap, "not_purged", all, is_not_purged); no.is_value()) return no;
  const Term waits = refused(p.heap, "on_load", all, has_on_load);
  if (waits.is_value() && all.size() > 1) return raise_system_limit(p);
  ListBuilder beaten(p.heap);  // another process has loaded these twice meanwhile
  bool all_published = true;
  for (Prepared* prepared : all) {
    Module* m = prepared->module.exchange(nullptr);
    const Term name = m->name;
    if (publish_module(m).module) continue;
    beaten.add(name);
    all_published = false;
  }
  if (!all_published) return new_tuple(p.heap, intern_atom("not_purged"), beaten.finish());
  return waits.is_value() ? waits : atoms::ok;
}

/// (Module, whether its on_load function succeeded): makes the module current or removes it; the
/// caller purges it then (erts_internal:purge_module(Module, prepare_on_load)).
Term bif_erlang_finish_after_on_load_2(Process& p, const Term* a) {
  if (!a[0].is_atom() || !a[1].is_atom() || !pending_module(a[0])) return raise_badarg(p);
  if (Module* failed = finish_on_load(a[0], kNonValue, a[1] == atoms::true_ ? atoms::ok : atoms::false_))
    if (!keep_failed(failed)) retire_with_library(failed);
  return atoms::true_;
}

}  // namespace vmrun
