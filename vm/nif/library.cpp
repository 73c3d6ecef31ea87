// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/library.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "vm/base/epoch.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/loader.hpp"
#include "vm/code/module.hpp"
#include "vm/code/native_call.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/nif/library_crash.hpp"
#include "vm/nif/nif_library.hpp"
#include "vm/nif/resource.hpp"
#include "vm/process/taints.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/event.hpp"

namespace vmrun {

namespace {

/// Held while a library is loaded, so that two calls of load_nif for one module do not overlap.
std::mutex& loading_mutex() {
  static auto& m = *new std::mutex;
  return m;
}

struct LinkedIn {
  std::string name;
  ErlNifEntry* (*entry)();
};
std::vector<LinkedIn>& linked_in() {
  static auto& all = *new std::vector<LinkedIn>;
  return all;
}

NifLibrary* library_of(const Module* m) { return m->library.load(std::memory_order_acquire); }

std::string text_of(Term atom) { return std::string(atom_text(atom)); }

/// All checks of load_nif, before it changes anything. Each step reports an error through fail.
class Loading {
 public:
  Loading(Process& p, Module& m, const std::string& path, NifFailure* failure)
      : p_(p), module_(m), failure_(failure) {
    library_ = new NifLibrary;
    library_->path = path + ".so";
    library_->module = m.name;
  }
  ~Loading() {
    if (!library_) return;
    forget_scheduled_nifs(library_);  // scheduled by its load function, which then failed
    free_nif_functions(library_->functions);
    if (library_->handle) dlclose(library_->handle);
    delete library_;
  }

  bool run(Term load_info) {
    return place() && open() && check_entry() && find_functions() && initialise(load_info) && publish();
  }

 private:
  bool fail(const char* reason, const std::string& text) {
    failure_->reason = intern_atom(reason);
    failure_->text = text;
    return false;
  }

  bool place() {
    if (old_module(module_.name) == &module_)
      return fail("old_code", "load_nif called by old code of module '" + text_of(module_.name) + "'");
    if (library_of(&module_))
      return fail("reload", "module '" + text_of(module_.name) + "' has its NIF library already");
    return true;
  }

  static std::string dl_error() {
    const char* why = dlerror();
    return why ? why : "unknown error";
  }
  bool open() {
    const std::string_view file = std::string_view(library_->path).substr(library_->path.rfind('/') + 1);
    for (const auto& [name, entry] : linked_in())
      if (file == name + ".so" && atom_text(module_.name) == name) return init_ = entry, true;
    library_->handle = dlopen(library_->path.c_str(), RTLD_NOW);
    if (!library_->handle) return fail("load_failed", "Failed to load NIF library: '" + dl_error() + "'");
    init_ = reinterpret_cast<ErlNifEntry* (*)()>(dlsym(library_->handle, "nif_init"));
    if (!init_) return fail("bad_lib", "Failed to find library init function: '" + dl_error() + "'");
    watch_native_library(reinterpret_cast<const void*>(init_), "NIF library '" + library_->path + "'");
    return true;
  }

  bool check_entry() {
    ErlNifEntry* e = library_->entry = init_();
    if (!e) return bad("gave no entry: its nif_init returned NULL");
    if (e->major != ERL_NIF_MAJOR_VERSION || e->minor > ERL_NIF_MINOR_VERSION || e->minor < 0)
      return bad("was made for interface version " + std::to_string(e->major) + "." +
                 std::to_string(e->minor) + ", this is " + std::to_string(ERL_NIF_MAJOR_VERSION) + "." +
                 std::to_string(ERL_NIF_MINOR_VERSION));
    if (e->minor >= 1 && e->vm_variant && std::strcmp(e->vm_variant, ERL_NIF_VM_VARIANT) != 0)
      return bad("was made for the VM variant '" + std::string(e->vm_variant) +
                 "', this is '" ERL_NIF_VM_VARIANT "'");
    if (!e->name || atom_text(module_.name) != e->name)
      return bad("is for module '" + std::string(e->name ? e->name : "") + "', not for '" +
                 text_of(module_.name) + "'");
    return true;
  }

  bool bad(const std::string& text) {
    return fail("bad_lib", "NIF library '" + library_->path + "' " + text);
  }
  bool bad_function(const char* why, const std::string& mfa) {
    return fail("bad_lib", std::string(why) + " " + mfa + ", of NIF library '" + library_->path + "'");
  }

  /// Returns the n-th row. Before 2.7 rows had no flags.
  ErlNifFunc row(int n) const {
    ErlNifFunc f{};
    const std::size_t bytes = library_->entry->minor >= 7 ? sizeof(ErlNifFunc) : offsetof(ErlNifFunc, flags);
    std::memcpy(&f,
                reinterpret_cast<const char*>(library_->entry->funcs) + bytes * static_cast<std::size_t>(n),
                bytes);
    return f;
  }

  /// Returns the header of the function that this one replaces; nullptr: the module has no such
  /// function.
  FunctionHeader* function_header(const ErlNifFunc& f, bool* declared) {
    for (std::uint32_t at : module_.functions) {
      auto* header = reinterpret_cast<FunctionHeader*>(module_.code.data() + at);
      if (header->arity != f.arity || atom_text(header->function) != f.name) continue;
      *declared = module_.native.empty() ||
                  std::find(module_.native.begin(), module_.native.end(), at) != module_.native.end();
      return header;
    }
    return nullptr;
  }

  bool find_functions() {
    std::unordered_set<const FunctionHeader*> found;
    for (int n = 0; n < library_->entry->num_of_funcs; ++n) {
      const ErlNifFunc f = row(n);
      if (!f.name || !f.fptr)
        return bad("has an incomplete row " + std::to_string(n) + " in its table of functions");
      const std::string mfa = text_of(module_.name) + ":" + f.name + "/" + std::to_string(f.arity);
      bool declared = false;
      FunctionHeader* header = function_header(f, &declared);
      // For a linked-in library: the module of another release does not have this function, or has
      // its own.
      if (!library_->handle && (!header || !declared)) continue;
      if (!header) return bad_function("Function not found", mfa);
      if (!declared) return bad_function("Function not declared as nif", mfa);
      if (!found.insert(header).second) return bad_function("Duplicate NIF entry for", mfa);
      if (f.flags > ERL_NIF_DIRTY_JOB_IO_BOUND)
        return bad("has the unknown flags " + std::to_string(f.flags) + " for " + mfa);
      Word* code = const_cast<Word*>(header->entry());
      const std::uint32_t number = new_nif_function();
      if (!number) return bad("exceeds the number of native functions");
      nif_functions[number] = {f.fptr,
                               library_,
                               export_entry(module_.name, header->function, f.arity),
                               code,
                               f.arity,
                               operation_at(code),
                               static_cast<std::uint8_t>(f.flags),
                               false};
      library_->functions.push_back(number);
    }
    return true;
  }

  /// Returns the library of the version that this one replaces: the old version, or, while this one
  /// waits for its on_load function, the current one.
  NifLibrary* previous() const {
    const Module* before = pending_module(module_.name) == &module_ && current_module(module_.name)
                               ? current_module(module_.name)
                               : old_module(module_.name);
    return before ? library_of(before) : nullptr;
  }

  bool initialise(Term load_info) {
    ErlNifEnv env(&p_, &p_.heap, library_);
    ResourceTypesOpened types(library_);
    const ErlNifEntry& e = *library_->entry;
    int status = 0;
    library_->is_loading = true;
    if (NifLibrary* before = previous()) {
      if (!e.upgrade) return fail("upgrade", "Upgrade not supported by this library.");
      status = e.upgrade(&env, &library_->data, &before->data, from_term(load_info));
      if (status) fail("upgrade", "Library upgrade-call unsuccessful (" + std::to_string(status) + ").");
    } else if (e.load) {
      status = e.load(&env, &library_->data, from_term(load_info));
      if (status) fail("load", "Library load-call unsuccessful (" + std::to_string(status) + ").");
    }
    library_->is_loading = false;
    free_temporaries(env);
    if (status) return false;
    types.commit();
    return true;
  }

  bool publish() {
    std::vector<NewOperation> calls;
    for (std::uint32_t number : library_->functions) {
      NifFunction& f = nif_functions[number];
      f.delays_halt = library_->delays_halt;
      auto* header = const_cast<FunctionHeader*>(header_of_entry(f.code));
      std::atomic_ref(header->nif).store(number, std::memory_order_relaxed);
      // A thread that runs the new operation finds the number. The operands of the old operation
      // stay where they are.
      calls.push_back({f.code, f.flags ? op::call_dirty_nif : op::call_nif});
    }
    replace_operations(calls);
    module_.library.store(library_, std::memory_order_release);
    if (library_->handle) note_taint(module_.name);
    listen_for_halt(library_);
    library_ = nullptr;
    return true;
  }

  Process& p_;
  Module& module_;
  NifFailure* failure_;
  NifLibrary* library_;
  ErlNifEntry* (*init_)() = nullptr;
};

/// Returns when every scheduler has finished what it was running. The caller must not hold process
/// pointers.
void wait_for_slices() {
  const Word stamp = epoch_stamp();
  do {
    // In each round, since another thread may wait here too, with a later stamp.
    if (this_scheduler()) epoch_quiescent_in_slice(epoch_slot());
    sched_yield();
  } while (epoch_passed(stamp) < stamp);
}

}  // namespace

void register_linked_in_nifs(const char* name, ErlNifEntry* (*entry)()) {
  linked_in().push_back({name, entry});
  add_native_module(intern_atom(name));
}

bool takes_native(const ErlNifEnv& env, std::string_view function, unsigned arity) {
  const auto is_it = [&](std::uint32_t n) {
    return nif_functions[n].arity == arity && atom_text(nif_functions[n].entry->function) == function;
  };
  return std::any_of(env.library->functions.begin(), env.library->functions.end(), is_it);
}

bool load_nif_library(Process& p, Module& m, const std::string& path, Term load_info, NifFailure* failure) {
  std::lock_guard lock(loading_mutex());
  return Loading(p, m, path, failure).run(load_info);
}

std::vector<std::pair<Term, unsigned>> native_functions(const Module& m) {
  std::vector<std::pair<Term, unsigned>> out;
  if (const NifLibrary* l = library_of(&m))
    for (std::uint32_t n : l->functions)
      out.emplace_back(nif_functions[n].entry->function, nif_functions[n].arity);
  return out;
}

std::span<const std::uint32_t> native_function_numbers(const Module& m) {
  const NifLibrary* l = library_of(&m);
  return l ? std::span<const std::uint32_t>(l->functions) : std::span<const std::uint32_t>();
}

namespace {

/// Called when no process is in the code of its module any more.
void forget_library(NifLibrary* l) {
  forget_scheduled_nifs(l);
  free_nif_functions(l->functions);
  drop_library_record(l);
}

}  // namespace

void retire_with_library(Module* m) {
  NifLibrary* l = library_of(m);
  if (!l) return retire_module(m);
  std::vector<NewOperation> originals;
  for (std::uint32_t number : l->functions) {
    const NifFunction& f = nif_functions[number];
    originals.push_back({f.code, f.original_operation});
  }
  replace_operations(originals);
  undefine_scheduled_nifs(l);
  wait_for_slices();
  stop_listening_for_halt(l);
  leave_resource_types(l);
  if (l->on_unload_thread) {
    retain_library(l);  // unload comes after these calls
    call_on_all_schedulers([l] { l->on_unload_thread(l->data); }, [l] { release_library(l); });
  }
  release_library(l);
  retire_module(m, [l] { forget_library(l); });
}

}  // namespace vmrun
