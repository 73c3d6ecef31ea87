// SPDX-License-Identifier: Apache-2.0
#include "vm/code/code_server.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "vm/base/activity.hpp"
#include "vm/code/code_upcalls.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/listing.hpp"
#include "vm/code/loader.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/report.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/print.hpp"

namespace vmrun {
namespace {

struct Versions {
  Module* current = nullptr;
  Module* old = nullptr;
  Module* failed = nullptr;   // the old version, if its on_load function has failed (keep_failed)
  Module* pending = nullptr;  // waits for its on_load function
  Term runner;                // the process that runs that function, once there is one
  Term runner_waits_for;      // the module the runner waits for in its turn
  Export* on_load = nullptr;  // leads to the on_load function
  bool published = false;     // whether any version has ever been published
  std::string path;
};

struct Server {
  std::recursive_mutex mutex;
  std::condition_variable_any changed;
  std::map<Word, Versions> modules;                // by name
  std::set<Word> being_loaded;                     // by autoload
  std::map<Word, std::vector<Term>> being_purged;  // and the processes that wait for the end of the purge
  CodeSource* source = nullptr;
};
Server& server() {
  static Server& s = *new Server;
  return s;
}
using Lock = std::unique_lock<std::recursive_mutex>;

/// Makes funs lead to this version, which is compiled now if all code is.
void connect_funs(const Module& m) {
  for (std::size_t i = 0; i < m.funs.size(); i++) m.funs[i]->lead_to(m.fun_addresses[i]);
  code_upcalls.compile_all(m);
}

/// Makes exports and funs lead to this version. Exports that only `before` has become undefined;
/// those that both versions have are defined at every moment.
void connect(const Module& m, const Module* before) {
  connect_funs(m);
  for (const auto& x : m.exports) set_export_code(*x.entry, x.address);
  if (before)
    for (const auto& x : before->exports)
      if (x.entry->address.load(std::memory_order_relaxed) == x.address) set_export_code(*x.entry, nullptr);
}

/// The size of a version, as probes report it.
std::int64_t shown_size(const Module& m) {
  return static_cast<std::int64_t>(module_bytes(m) + (m.literals ? m.literals->words * sizeof(Term) : 0));
}

/// The caller holds the lock. There is an old version only if there is no current one.
void make_current(Versions& v, Module* m) {
  if (probe::code_load_enabled()) [[unlikely]]
    probe::fire_code_load(m->name, shown_size(*m), v.current != nullptr);
  if (v.current) v.old = v.current;
  connect(*m, v.current);
  v.current = m;
}

LoadResult failure(Term reason, std::string message) { return {nullptr, reason, std::move(message)}; }

}  // namespace

void set_code_source(CodeSource* source) { server().source = source; }
CodeSource* code_source() { return server().source; }

LoadResult prepare_module(const std::uint8_t* bytes, std::size_t size, std::string_view file) {
  const InActivity loads("[load]");
  static const Term badfile = intern_atom("badfile");
  std::vector<std::uint8_t> plain;
  if (inflate_beam(bytes, size, &plain)) {
    bytes = plain.data();
    size = plain.size();
  }
  const ReservedAtoms library(file.starts_with(kEmbeddedPath));
  BeamFile beam;
  BeamError error;
  if (!parse_beam(bytes, size, &beam, &error)) return failure(badfile, error.text(file));
  Module* m = build_module(beam, &error);
  if (!m) return failure(badfile, error.text(file));
  register_code(*m);
  if (listings_wanted) write_listing(*m);
  return {m, kNonValue, {}};
}

LoadResult publish_module(Module* m) {
  const InActivity loads("[load]");
  Server& s = server();
  Lock lock(s.mutex);
  Versions& v = s.modules[m->name.raw()];
  if (v.current && v.old) {
    const std::string name(atom_text(m->name));
    lock.unlock();
    retire_module(m);
    return failure(intern_atom("not_purged"), name + ": old code has not been purged");
  }
  v.published = true;
  if (m->on_load) {
    v.pending = m;
    v.runner = kNonValue;
    connect_funs(*m);
    return {m, kNonValue, {}};
  }
  make_current(v, m);
  return {m, kNonValue, {}};
}

namespace {

/// Whether a wait for `name` could end only after the caller goes on. Every runner waits for one
/// module at most.
bool is_circular(Server& s, Term name, Term caller) {
  for (std::size_t steps = s.modules.size(); steps && name; --steps) {
    const Versions& v = s.modules[name.raw()];
    if (!v.pending || !v.runner) return false;
    if (v.runner == caller) return true;
    name = v.runner_waits_for;
  }
  return false;
}

}  // namespace

OnLoadWait await_on_load(Term name, Term caller, Term* runner) {
  Server& s = server();
  Lock lock(s.mutex);
  const Versions& v = s.modules[name.raw()];
  const bool circular = is_circular(s, name, caller), waits = v.pending && !circular;
  for (auto& [key, other] : s.modules)
    if (other.pending && other.runner == caller) other.runner_waits_for = waits ? name : kNonValue;
  if (circular) return OnLoadWait::kCircular;
  if (!v.pending) return OnLoadWait::kNot;
  if (!v.runner) return OnLoadWait::kStart;
  *runner = v.runner;
  return OnLoadWait::kRunner;
}

bool claim_on_load(Term name, Term runner) {
  Server& s = server();
  Lock lock(s.mutex);
  Versions& v = s.modules[name.raw()];
  if (!v.pending || v.runner) return false;
  v.runner = runner;
  v.runner_waits_for = kNonValue;
  return true;
}

Export* on_load_function(Term name, Term runner) {
  Server& s = server();
  Lock lock(s.mutex);
  Versions& v = s.modules[name.raw()];
  if (!v.pending) return nullptr;
  if (!v.runner) v.runner = runner;
  if (v.runner != runner) return nullptr;
  const FunctionHeader* f = header_of_entry(v.pending->on_load);
  if (!v.on_load || v.on_load->function != f->function) v.on_load = hidden_export(name, f->function, 0);
  set_export_code(*v.on_load, v.pending->on_load);
  return v.on_load;
}

Module* finish_on_load(Term name, Term runner, Term result) {
  Server& s = server();
  Lock lock(s.mutex);
  Versions& v = s.modules[name.raw()];
  Module* const m = v.pending;
  if (!m || (runner.is_value() && v.runner != runner)) return nullptr;
  if (!result.is_atom())
    report_warning("The on_load function for module " + std::string(atom_text(name)) + " returned:\n" +
                   term_text(result) + "\n");
  v.pending = nullptr;
  v.runner = kNonValue;
  if (result != atoms::ok) {
    for (FunEntry* f : m->funs) f->lead_to(nullptr);
    return m;
  }
  make_current(v, m);
  return nullptr;
}

LoadResult publish_prepared(const LoadResult& prepared, Term expected, std::string_view file) {
  Module* const m = prepared.module;
  if (!m) return prepared;
  if (expected.is_atom() && m->name != expected) {
    const std::string name(atom_text(m->name));
    retire_module(m);
    return failure(intern_atom("badfile"), std::string(file) + ": holds module " + name + ", not " +
                                               std::string(atom_text(expected)));
  }
  return publish_module(m);
}

LoadResult load_module(Term expected, const std::uint8_t* bytes, std::size_t size, std::string_view file) {
  return publish_prepared(prepare_module(bytes, size, file), expected, file);
}

bool autoload_module(Term name, std::string* message) {
  Server& s = server();
  Lock lock(s.mutex);
  // Other threads that want this module wait for the one that loads it.
  while (s.being_loaded.count(name.raw())) s.changed.wait(lock);
  if (current_module(name) || s.modules[name.raw()].pending) return true;
  if (!s.source) return false;
  s.being_loaded.insert(name.raw());
  lock.unlock();
  std::vector<std::uint8_t> bytes;
  std::string path;
  bool loaded = false;
  if (s.source->find(atom_text(name), &bytes, &path)) {
    LoadResult r = load_module(name, bytes.data(), bytes.size(), path);
    if (!r.module && s.source->find_substitute(atom_text(name), &bytes, &path))
      r = load_module(name, bytes.data(), bytes.size(), path);
    loaded = r.module != nullptr;
    if (loaded) set_module_path(name, path);
    else *message = r.message;
  }
  lock.lock();
  s.being_loaded.erase(name.raw());
  s.changed.notify_all();
  return loaded;
}

bool autoload_is_quick(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  return !s.being_loaded.count(name.raw()) && (!s.source || s.source->in_memory(atom_text(name)));
}

Module* current_module(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  auto it = s.modules.find(name.raw());
  return it == s.modules.end() ? nullptr : it->second.current;
}
Module* pending_module(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  auto it = s.modules.find(name.raw());
  return it == s.modules.end() ? nullptr : it->second.pending;
}
Module* old_module(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  auto it = s.modules.find(name.raw());
  return it == s.modules.end() ? nullptr : it->second.old;
}

bool was_published(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  auto it = s.modules.find(name.raw());
  return it != s.modules.end() && it->second.published;
}

bool delete_module(Term name) {
  {
    Server& s = server();
    Lock lock(s.mutex);
    Versions& v = s.modules[name.raw()];
    if (!v.current || v.old) return false;
    for (const auto& x : v.current->exports) set_export_code(*x.entry, nullptr);
    v.old = v.current;
    v.current = nullptr;
  }
  forget_breakpoints_of(name);
  return true;
}

bool set_old_funs(Term name, bool lead_there) {
  Server& s = server();
  Lock lock(s.mutex);
  const Module* old = s.modules[name.raw()].old;
  if (!old) return false;
  for (std::size_t i = 0; i < old->funs.size(); i++) {
    const Word* code = old->fun_addresses[i];
    FunEntry& fun = *old->funs[i];
    if (fun.address.load(std::memory_order_relaxed) == (lead_there ? nullptr : code))
      fun.lead_to(lead_there ? code : nullptr);
  }
  return true;
}

bool begin_purge(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  if (!set_old_funs(name, false)) return false;
  s.being_purged.try_emplace(name.raw());
  return true;
}

bool keep_failed(Module* m) {
  Server& s = server();
  Lock lock(s.mutex);
  Versions& v = s.modules[m->name.raw()];
  if (v.old) return false;
  v.old = v.failed = m;
  return true;
}

bool begin_purge_of_failed(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  Versions& v = s.modules[name.raw()];
  return v.failed && v.old == std::exchange(v.failed, nullptr) && begin_purge(name);
}

bool wait_for_purge(Process& p, Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  const auto it = s.being_purged.find(name.raw());
  if (it == s.being_purged.end()) return false;
  it->second.push_back(p.id);
  ++p.suspend_count;
  return true;
}

std::vector<Term> end_purge(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  const auto node = s.being_purged.extract(name.raw());
  return node.empty() ? std::vector<Term>{} : std::move(node.mapped());
}

Module* take_old_module(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  set_old_funs(name, false);
  Module* const old = std::exchange(s.modules[name.raw()].old, nullptr);
  if (old && probe::code_purge_enabled()) [[unlikely]]
    probe::fire_code_purge(name, shown_size(*old));
  return old;
}

std::vector<Module*> loaded_modules() {
  Server& s = server();
  Lock lock(s.mutex);
  std::vector<Module*> out;
  for (auto& [name, v] : s.modules)
    if (v.current) out.push_back(v.current);
  return out;
}

const std::string* module_path(Term name) {
  Server& s = server();
  Lock lock(s.mutex);
  auto it = s.modules.find(name.raw());
  return it == s.modules.end() || !it->second.current ? nullptr : &it->second.path;
}
void set_module_path(Term name, std::string path) {
  Server& s = server();
  Lock lock(s.mutex);
  s.modules[name.raw()].path = std::move(path);
}

}  // namespace vmrun
