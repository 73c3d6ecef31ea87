// SPDX-License-Identifier: Apache-2.0
#include "vm/code/function_probes.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

#include "vm/base/epoch.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/module.hpp"
#include "vm/code/native_call.hpp"
#include "vm/code/walk.hpp"
#include "vm/heap/build.hpp"
#include "vm/message/request.hpp"
#include "vm/process/process.hpp"
#include "vm/process/process_table.hpp"
#include "vm/trace/call_pattern.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/calls_under_way.hpp"

namespace vmrun {
namespace {

// Set once, before anything is patched.
std::atomic<FunctionWatcher*> watcher{nullptr};
// Held while patches change. It is taken before the mutex of patches.cpp, and after no other.
std::mutex patching;
// Guarded by `patching`: the built-in functions that are watched, whose calls are patched.
std::unordered_set<const Export*>& traced_built_ins() {
  static auto& s = *new std::unordered_set<const Export*>;
  return s;
}

bool is_native(const Word* entry) {
  const std::uint16_t operation = operation_at(entry);
  return operation == op::call_nif || operation == op::call_dirty_nif;
}

class Collector {
 public:
  explicit Collector(FunctionWatcher* w) : watcher_(w) {}

  /// Adds the functions of a module.
  void add_functions(const Module& m) {
    if (!begin_module(m.name)) return;
    for (std::size_t n = 0; n < m.functions.size(); ++n) {
      const auto& header = *reinterpret_cast<const FunctionHeader*>(m.begin() + m.functions[n]);
      const Wanted wanted = wanted_of(header.function, header.arity);
      if (wanted.any()) add_function(header.entry(), m.end_of_function(n), wanted);
    }
  }

  /// Adds the calls of watched built-in functions in a module.
  void add_calls(const Module& m) {
    if (traced_built_ins().empty()) return;
    for (std::size_t n = 0; n < m.functions.size(); ++n) {
      const auto& header = *reinterpret_cast<const FunctionHeader*>(m.begin() + m.functions[n]);
      if (is_native(header.entry())) continue;
      each_instruction(header.entry(), m.end_of_function(n), [&](const Word* at, const InstructionRow& row) {
        if (row.built_in && traced_built_ins().contains(field<const Export*>(at, row.built_in)))
          add(at, 0, Patch::kInside);
      });
    }
  }

  /// Adds the code of the exports of built-in functions, through which they are applied.
  void add_built_ins() {
    traced_built_ins().clear();
    Term module;
    bool may_be = false;
    for (const Export* e : built_ins()) {
      if (e->module != module) may_be = begin_module(module = e->module);
      if (!may_be) continue;
      const Wanted wanted = wanted_of(e->function, e->arity);
      if (!wanted.any()) continue;
      traced_built_ins().insert(e);
      add(e->stub_code(), wanted.watch.function,
          Patch::kInside | (wanted.watch.entry ? Patch::kCalled : 0u) |
              (wanted.watch.end ? Patch::kCalledEnd : 0u) | (wanted.breakpoint ? Patch::kCalledBreak : 0u));
    }
  }

  std::vector<Patch> patches() {
    std::ranges::sort(all_, {}, &Patch::at);
    std::vector<Patch> out;
    for (const Patch& p : all_) {
      if (out.empty() || out.back().at != p.at) {
        out.push_back(p);
        continue;
      }
      out.back().fires |= p.fires;
      if (p.fires & ~(Patch::kInside | Patch::kBreak | Patch::kCalledBreak)) out.back().function = p.function;
    }
    return out;
  }

  /// Sorted by module.
  static std::vector<const Export*> built_ins() {
    std::vector<const Export*> out;
    for (const Export* e : all_exports())
      if (e->bif && !(e->bif_flags & BifRow::kGuard)) out.push_back(e);
    std::ranges::sort(out, {}, [](const Export* e) { return e->module.raw(); });
    return out;
  }

 private:
  /// What the watcher and call tracing want to know of a function.
  struct Wanted {
    FunctionWatch watch;
    bool breakpoint = false;
    bool any() const { return watch.entry || watch.end || breakpoint; }
  };

  /// Whether any function of the module may be wanted; the next calls are about this module.
  bool begin_module(Term name) {
    module_ = name;
    is_traced_ = watcher_ && watcher_->begin_module(name);
    has_breakpoints_ = has_breakpoints(name);
    return is_traced_ || has_breakpoints_;
  }
  Wanted wanted_of(Term function, unsigned arity) {
    Wanted wanted;
    if (is_traced_) wanted.watch = watcher_->watch(function, arity);
    wanted.breakpoint = has_breakpoints_ && has_breakpoint({module_, function, arity});
    return wanted;
  }

  void add(const Word* at, std::uint32_t function, unsigned fires) {
    Patch p;
    p.at = at;
    p.function = function;
    p.fires = static_cast<std::uint8_t>(fires);
    all_.push_back(p);
  }

  void add_function(const Word* entry, const Word* end, const Wanted& wanted) {
    const FunctionWatch& watch = wanted.watch;
    add(entry, watch.function,
        (watch.entry ? Patch::kEntry : 0u) | (watch.end ? Patch::kEnd : 0u) |
            (wanted.breakpoint ? Patch::kBreak : 0u));
    if (is_native(entry)) return;
    each_instruction(entry, end, [&](const Word* at, const InstructionRow& row) {
      // The instruction jumps to the function's first instruction, which is not a call then.
      if (row.flags & InstructionRow::kAgain && at + field<std::int32_t>(at, row.fields[0]) == entry)
        add(at, watch.function, Patch::kInside);
    });
  }

  FunctionWatcher* const watcher_;
  std::vector<Patch> all_;
  Term module_;
  bool is_traced_ = false, has_breakpoints_ = false;
};

using Event = FunctionFiring::Event;

std::atomic<std::uint32_t> newest{0};  // watch

void fire(Process& p, const CallUnderWay& call, Event event, const Term* terms, unsigned count,
          const Word* inside = nullptr) {
  watcher.load(std::memory_order_acquire)
      ->fire({p.id, call.function, event, call.depth, terms, count, inside, call.watch});
}

/// At most this many ends of calls fire before the slice has to end. They are not counted as
/// reductions, since a watched function is to run as if it were not watched.
constexpr std::uint32_t kEndsAtOnce = usual_or_small<std::uint32_t>(4096, 8);

/// The patch of the code that a function's callers reach, if it fires any of `fires`.
Patch patch_at_entry(const Word* entry, unsigned fires) {
  if (!is_patched(entry)) [[likely]]
    return {};
  const Patch patch = patch_at(entry);
  return patch.fires & fires ? patch : Patch{};
}

}  // namespace

bool is_end_awaited(std::uint32_t function, std::uint32_t watch) {
  return watcher.load(std::memory_order_acquire)->awaits_end(function, watch);
}

void set_function_watcher(FunctionWatcher& w) { watcher.store(&w, std::memory_order_release); }

// Acquire and release: a thread that reads the number finds what the watch wants.
std::uint32_t newest_watch() { return newest.load(std::memory_order_acquire); }
void begin_watch(std::uint32_t number) { newest.store(number, std::memory_order_release); }

void forget_unawaited_calls() {
  const std::vector<Term> processes = processes_with_calls();
  const EpochGuard guard;
  for (const Term process : processes)
    if (Process* p = process_table.find(process)) (void)ask_to_forget_tracing(*p);
}

void replace_operations(std::span<const NewOperation> all) {
  {
    // A thread that goes through code from one instruction to the next must not find a native call
    // in front of words that belong to another instruction.
    const std::lock_guard lock(patching);
    set_operations(all);
  }
  refresh_function_probes();
}

namespace {

/// Collects the patches of all code anew.
void patch_all(FunctionWatcher* w) {
  const PatchTable* former;
  {
    const std::lock_guard lock(patching);
    // The listed modules stay until the lock is free, see forget_probes_of.
    const std::vector<const Module*> modules = registered_modules();
    Collector found(w);
    found.add_built_ins();
    for (const Module* m : modules) {
      found.add_functions(*m);
      found.add_calls(*m);
    }
    former = set_patches(found.patches());
  }
  retire_patches(former);
}

/// The call patterns of a module's functions belong to the version that was loaded before. Returns
/// whether breakpoints have to be removed from others.
bool replace_call_patterns(const Module& m) {
  const bool gone = forget_call_patterns(m.name);
  if (!is_on_load_pattern_set()) return gone;
  std::vector<FunctionName> functions, exported;
  for (const std::uint32_t at : m.functions) {
    const auto& header = *reinterpret_cast<const FunctionHeader*>(m.begin() + at);
    functions.push_back({header.module, header.function, header.arity});
  }
  for (const Module::ExportedFunction& e : m.exports)
    exported.push_back({e.entry->module, e.entry->function, e.entry->arity});
  apply_on_load_patterns(functions, exported);
  return gone;
}

}  // namespace

void refresh_function_probes() {
  if (FunctionWatcher* w = watcher.load(std::memory_order_acquire)) patch_all(w);
}

void use_breakpoints() { patch_all(watcher.load(std::memory_order_acquire)); }

void each_probed_function(const std::function<bool(Term module)>& wanted,
                          const std::function<void(Term module, Term function, unsigned arity)>& see) {
  const std::lock_guard lock(patching);
  for (const Export* e : Collector::built_ins())
    if (wanted(e->module)) see(e->module, e->function, e->arity);
  for (const Module* m : registered_modules()) {
    if (!wanted(m->name)) continue;
    for (const std::uint32_t at : m->functions) {
      const auto& header = *reinterpret_cast<const FunctionHeader*>(m->begin() + at);
      see(m->name, header.function, header.arity);
    }
  }
}

void probe_new_code(const Module& m) {
  FunctionWatcher* w = watcher.load(std::memory_order_acquire);
  if (replace_call_patterns(m)) return use_breakpoints();
  if (!w && !any_breakpoints()) return;
  const PatchTable* former = nullptr;
  {
    const std::lock_guard lock(patching);
    Collector found(w);
    found.add_functions(m);
    found.add_calls(m);
    std::vector<Patch> patches = found.patches();
    if (!patches.empty()) {
      const std::vector<Patch> others = all_patches();
      std::ranges::copy_if(others, std::back_inserter(patches),
                           [&](const Patch& p) { return p.at < m.begin() || p.at >= m.end(); });
      former = set_patches(patches);
    }
  }
  retire_patches(former);
}

void forget_breakpoints_of(Term module) {
  if (forget_call_patterns(module)) use_breakpoints();
}

const PatchTable* forget_probes_of(const Module& m) {
  // A thread that has found the module in the list of all modules holds the lock.
  const std::lock_guard lock(patching);
  std::vector<Patch> patches = all_patches();
  const auto gone =
      std::erase_if(patches, [&](const Patch& p) { return p.at >= m.begin() && p.at < m.end(); });
  return gone ? set_patches(patches) : nullptr;
}

void begin_call(Process& p, const Patch& patch, const Term* x, Word depth) {
  const CallUnderWay call{depth, patch.at, patch.function, newest_watch()};
  if (patch.fires & Patch::kEntry) fire(p, call, Event::kEntry, x, header_of_entry(patch.at)->arity);
  if (!(patch.fires & Patch::kEnd)) return;
  calls_of(p).begin(call);
  p.observed |= kCallsUnderWay;
  push_ends_of_calls(p);
}

bool end_calls(Process& p, Term value) {
  const Word depth = p.heap.stack_words();
  if (!ends_calls(p, depth)) return true;
  const CallsUnderWay& calls = known_calls_of(p);
  for (std::uint32_t left = kEndsAtOnce; calls_are_under_way(p) && calls.newest().depth >= depth;) {
    const std::uint32_t times = std::min(left, calls.newest().times);
    for (std::uint32_t i = 0; i < times; ++i)
      fire(p, calls.newest(), Event::kReturn, &value, 1, calls.newest().entry);
    end_newest_call(p, times);
    if ((left -= times) == 0 && calls_are_under_way(p) && calls.newest().depth >= depth) return false;
  }
  return true;
}

void fail_calls(Process& p, const Word* ip, Word depth, bool is_caught) {
  const CallsUnderWay& calls = known_calls_of(p);
  if (calls.newest().depth <= depth) return;
  p.ip = ip ? ip : return_address_at(p.heap.stop);
  Arena arena;
  Term terms[2];
  exception_terms(p, is_caught, arena, terms);
  while (calls_are_under_way(p) && calls.newest().depth > depth) {
    for (std::uint32_t n = calls.newest().times; n > 0; --n)
      fire(p, calls.newest(), Event::kException, terms, 2);
    end_newest_call(p, calls.newest().times);
  }
}

void reach_breakpoint(Process& p, const Export& e, const Term* arguments, Word depth) {
  if (patch_at_entry(e.stub_code(), Patch::kCalledBreak).at) [[unlikely]]
    breakpoint_reached(p, e.stub.header, arguments, depth);
}

void begin_built_in(Process& p, const Export& e, const Term* arguments, Word depth) {
  const Patch patch = patch_at_entry(e.stub_code(), Patch::kCalled | Patch::kCalledEnd);
  if (!patch.at) [[likely]]
    return;
  if (calls_are_under_way(p)) {
    const CallUnderWay& newest = known_calls_of(p).newest();
    if (newest.is_built_in && newest.depth == depth && newest.function == patch.function)
      return;  // called again by its instruction
  }
  const CallUnderWay call{depth, e.stub_code(), patch.function, newest_watch(), 1, true};
  if (patch.fires & Patch::kCalled) fire(p, call, Event::kEntry, arguments, e.arity, call.entry);
  calls_of(p).begin(call);
  p.observed |= kCallsUnderWay;
}

void end_built_in(Process& p, const Export& e, Term result, Word depth) {
  if (!calls_are_under_way(p)) [[likely]]
    return;
  CallsUnderWay& calls = known_calls_of(p);
  const CallUnderWay& call = calls.newest();
  if (!call.is_built_in || call.depth != depth) return;
  if (result.is_value()) {
    fire(p, call, Event::kReturn, &result, 1, call.entry);
    end_newest_call(p, 1);
  } else if (p.bif_action == BifAction::kRaise) {
    // The search for a handler comes next. It reports the calls that lie deeper than the handler's
    // frame.
    calls.built_in_is_over(depth + 1);
  }
}

void built_in_goes_on(Process& p, const Export& e) {
  const Word depth = call_depth(p, p.heap.stop);
  if (is_traced(p, kAwaitsReturns)) built_in_trapped(p, e.stub.header, depth);
  if (!calls_are_under_way(p)) return;
  CallsUnderWay& calls = known_calls_of(p);
  if (!calls.newest().is_built_in) return;
  calls.built_in_is_over(depth);
  push_ends_of_calls(p);
}

}  // namespace vmrun
