// SPDX-License-Identifier: Apache-2.0
#include "vm/code/native_call.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include "vm/base/allocate.hpp"
#include "vm/code/code_upcalls.hpp"
#include "vm/code/delaying_call.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/module.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/process_state.hpp"
#include "vm/term/print.hpp"

namespace vmrun {

namespace {

NifFunction* reserve_functions() {
  // Only used pages take memory.
  void* memory = mmap(nullptr, sizeof(NifFunction) * kMaxNifFunctions, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    out_of_memory("the table of native functions", sizeof(NifFunction) * kMaxNifFunctions);
  return static_cast<NifFunction*>(memory);
}

std::atomic<std::uint32_t> functions_used{1};  // 0 means none

struct SpareNumbers {
  std::mutex mutex;
  std::vector<std::uint32_t> numbers;
};
SpareNumbers& spare() {
  static auto& s = *new SpareNumbers;
  return s;
}

/// A native function returned without a term and without an exception.
Term no_term(Process& p, const NifFunction& f) {
  const MfaText name(f.entry->module, f.entry->function, f.arity);
  std::fprintf(stderr, "vmrun: native function %s of %s returned no term\n", static_cast<const char*>(name),
               code_upcalls.native_library_path(f.library).c_str());
  static const Term reason = intern_atom("nif_returned_no_term");
  return raise_error(p, reason);
}

}  // namespace

NifFunction* const nif_functions = reserve_functions();

std::uint32_t new_nif_function() {
  {
    std::lock_guard lock(spare().mutex);
    if (auto& numbers = spare().numbers; !numbers.empty()) {
      const std::uint32_t n = numbers.back();
      numbers.pop_back();
      return n;
    }
  }
  const std::uint32_t n = functions_used.fetch_add(1, std::memory_order_relaxed);
  if (n < kMaxNifFunctions) return n;
  functions_used.store(kMaxNifFunctions, std::memory_order_relaxed);
  return 0;
}

void free_nif_functions(const std::vector<std::uint32_t>& numbers) {
  std::lock_guard lock(spare().mutex);
  for (std::uint32_t n : numbers) {
    nif_functions[n] = {};
    spare().numbers.push_back(n);
  }
}

std::uint32_t nif_function_count() { return functions_used.load(std::memory_order_relaxed); }

void* temporary_memory(ErlNifEnv& env, std::size_t bytes) {
  auto* t = static_cast<NifTemporary*>(try_allocate_bytes(offsetof(NifTemporary, bytes) + bytes));
  if (!t) return nullptr;
  t->next = env.temporaries;
  t->end = nullptr;
  env.temporaries = t;
  env.unfinished = true;
  return t->bytes;
}

void at_end(ErlNifEnv& env, void (*end)(void*), void* argument) {
  if (!temporary_memory(env, 0)) out_of_memory("a note for the end of a native call", sizeof(NifTemporary));
  env.temporaries->end = end;
  env.temporaries->argument = argument;
}

void free_temporaries(ErlNifEnv& env) {
  while (NifTemporary* t = env.temporaries) {
    env.temporaries = t->next;
    if (t->end) t->end(t->argument);
    free_bytes(t);
  }
}

namespace {

/// Whether enif_schedule_nif has made it, so that it is not part of a module's code.
bool is_scheduled(const NifFunction& f) { return !f.code; }

/// Notes which function the program has called. An exception belongs to that function, whatever
/// runs in its place later.
void note_call(Process& p, const NifFunction& f, const Term* arguments) {
  Extra& extra = extra_of(p);
  extra.called_native = f.entry;
  Term* hp = p.heap.alloc(2 * f.arity);
  Term list = Term::nil();
  for (unsigned n = f.arity; n-- > 0;) list = make_cons(hp, arguments[n], list);
  extra.called_with = list;
}

Term trace_of_noted_call(Process& p) {
  const Export& called = *p.extra->called_native;
  Term arguments[256];
  Term list = p.extra->called_with;
  for (unsigned n = 0; n < called.arity; ++n, list = list.tail()) arguments[n] = list.head();
  forget_noted_call(p);
  return bif_trace_head(p, called, arguments);
}

}  // namespace

Term call_delaying_nif(Process& p, const NifFunction& f, Term* x) {
  const DelayingCall call(true);
  return run_nif(p, f, x);
}

void forget_noted_call(Process& p) { p.extra->called_with = Term::nil(); }

Term finish_nif(ErlNifEnv& env, const NifFunction& f, Term result, Term* trap_registers) {
  Process& p = *env.process;
  if (env.raised) {
    result = kNonValue;
    if (is_scheduled(f)) p.exception_trace = trace_of_noted_call(p);
  } else if (env.next_call && !result.is_value()) {
    if (!is_scheduled(f)) note_call(p, f, env.dirty ? p.saved_regs : trap_registers);
    p.bif_action = BifAction::kTrap;
    p.trap_target = env.next_call;
    for (unsigned i = 0; i < env.next_call->arity; ++i) trap_registers[i] = env.next_arguments[i];
  } else if (!result.is_value()) {
    no_term(p, f);
  }
  free_temporaries(env);
  return result;
}

bool dirty_call_raised(Process& p) {
  if (!p.extra || !p.extra->dirty_call_raised) return false;
  p.extra->dirty_call_raised = false;
  p.bif_action = BifAction::kRaise;
  return true;
}

// ---- Functions that enif_schedule_nif made ------------------------------------------------------

namespace {

using ScheduledKey = std::tuple<NifLibrary*, Word, Word, unsigned, unsigned, void*>;

using FunctionKey = std::tuple<Word, Word, unsigned>;  // module, name, arity

struct ScheduledFunctions {
  std::shared_mutex mutex;
  std::map<ScheduledKey, Export*> known;
  std::set<const NifLibrary*> unloaded;
  // Exports of libraries that are gone. They are reused only for functions of that name, so that a
  // stack trace with such an address still tells the truth.
  std::multimap<FunctionKey, Export*> spare;
  std::atomic<Word> forgotten{0};  // how often `known` has lost something
};
ScheduledFunctions& scheduled() {
  static auto& s = *new ScheduledFunctions;
  return s;
}

/// The caller holds the lock.
Export* export_for_scheduled(Term module, Term name, unsigned arity) {
  auto& spare_exports = scheduled().spare;
  const auto it = spare_exports.find({module.raw(), name.raw(), arity});
  if (it == spare_exports.end()) return hidden_export(module, name, arity);
  Export* e = it->second;
  spare_exports.erase(it);
  return e;
}

}  // namespace

Export* scheduled_nif(NifLibrary* library, Term module, Term name, unsigned arity, unsigned flags,
                      bool delays_halt, ERL_NIF_TERM (*fn)(ErlNifEnv*, int, const ERL_NIF_TERM*)) {
  thread_local ScheduledKey last_key{};
  thread_local Export* last = nullptr;
  thread_local Word last_forgotten = 0;
  const ScheduledKey key{library, module.raw(), name.raw(), arity, flags, reinterpret_cast<void*>(fn)};
  // A library may be at the address of one that is gone. Relaxed is enough: the new library was
  // loaded after the old one was forgotten, and this thread has seen that, since it runs code of
  // the new one.
  const Word forgotten = scheduled().forgotten.load(std::memory_order_relaxed);
  if (last && key == last_key && last_forgotten == forgotten) return last;
  last_forgotten = forgotten;
  {
    std::shared_lock lock(scheduled().mutex);
    auto it = scheduled().known.find(key);
    if (it != scheduled().known.end()) {
      last_key = key;
      return last = it->second;
    }
  }
  std::unique_lock lock(scheduled().mutex);
  Export*& e = scheduled().known[key];
  if (!e) {
    const std::uint32_t number = new_nif_function();
    if (!number) return nullptr;
    e = export_for_scheduled(module, name, arity);
    nif_functions[number] = {fn,         library, e, nullptr, arity, 0, static_cast<std::uint8_t>(flags),
                             delays_halt};
    e->stub.header.nif = number;
    if (!scheduled().unloaded.contains(library))
      e->stub.operation = flags ? op::call_dirty_nif : op::call_scheduled_nif;
  }
  return e;
}

void undefine_scheduled_nifs(const NifLibrary* library) {
  std::unique_lock lock(scheduled().mutex);
  scheduled().unloaded.insert(library);
  for (auto& [key, e] : scheduled().known)
    if (e && std::get<0>(key) == library)
      std::atomic_ref(e->stub.operation).store(op::export_undefined, std::memory_order_release);
}

void forget_scheduled_nifs(const NifLibrary* library) {
  std::unique_lock lock(scheduled().mutex);
  scheduled().unloaded.erase(library);
  std::vector<std::uint32_t> numbers;
  std::erase_if(scheduled().known, [&](const auto& row) {
    const auto& [key, e] = row;
    if (std::get<0>(key) != library) return false;
    if (!e) return true;
    numbers.push_back(std::exchange(e->stub.header.nif, 0));
    e->stub.operation = op::export_undefined;
    scheduled().spare.emplace(FunctionKey{e->module.raw(), e->function.raw(), e->arity}, e);
    return true;
  });
  scheduled().forgotten.fetch_add(1, std::memory_order_relaxed);
  free_nif_functions(numbers);
}

bool is_in_scheduled_nif(const Process& p, const NifLibrary* library) {
  const Export* e = export_of_stub(p.ip);
  return e && e->stub.header.nif && nif_functions[e->stub.header.nif].library == library;
}

}  // namespace vmrun
