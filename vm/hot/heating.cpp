// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/heating.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <unordered_set>

#include <sys/resource.h>
#include <unistd.h>

#include "vm/base/thread.hpp"
#include "vm/code/hot_code.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/machine_code.hpp"
#include "vm/code/module.hpp"
#include "vm/code/patches.hpp"
#include "vm/code/walk.hpp"
#include "vm/hot/codes.hpp"
#include "vm/hot/gdb.hpp"
#include "vm/hot/perf.hpp"
#include "vm/hot/place_in_code.hpp"
#include "vm/hot/requests.hpp"
#include "vm/jit/compile_function.hpp"
#include "vm/jit/emit_code.hpp"
#include "vm/process/process.hpp"
#include "vm/process/return_address.hpp"

namespace vmrun {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool kInThisBuild = true;
#else
constexpr bool kInThisBuild = false;
#endif

constexpr unsigned kFrames = 3;  // that are looked at, the one at work included
constexpr unsigned kSeen = 1 << 14;

std::atomic<unsigned> hot_after{kHotAfter};
Compiled compiled = Compiled::kNone;  // written before processes run

/// How often functions have been seen, by a hash of their address: others may be counted with them.
std::atomic<std::uint8_t> seen[kSeen];
std::atomic<std::uint8_t>& seen_of(const FunctionHeader* f) {
  return seen[(reinterpret_cast<Word>(f) * 0x9E3779B97F4A7C15) >> 50];
}

/// The functions of funs that an instruction has been seen to call.
struct CalledFuns {
  struct Function {
    const FunctionHeader* function;
    const Module* module;
  };
  static constexpr std::size_t kMost = 3;
  std::vector<Function> functions;  // the first ones
  bool others = false;              // or such as are not inlined
};

/// All of it under the lock of patches.cpp.
struct HotCode {
  Codes codes;
  std::unordered_set<const FunctionHeader*> refused;  // by the compiler, for as long as they are there
  std::map<const Word*, jit::Guess> guesses;
  std::map<const Word*, CalledFuns> called_funs;  // by the instruction that calls them
  Refusals refusals;
  Word compiled_again = 0;

  Requests requests;
  std::condition_variable wanted;  // something waits
  std::condition_variable idle;    // nothing does
  enum class Thread { kNone, kRuns, kRefused } thread = Thread::kNone;
};
std::atomic<HotCode*> hot_now{nullptr};  // made once, before processes run, if code is made

using Lock = std::unique_lock<std::mutex>;

bool is_hot(const FunctionHeader* f) {
  return operation_word(f->entry()).load(std::memory_order_relaxed) == op::machine_code;
}

const Word* end_of(const Module& m, const FunctionHeader* f) {
  const auto at = static_cast<std::uint32_t>(reinterpret_cast<const Word*>(f) - m.begin());
  return m.end_of_function(
      static_cast<std::size_t>(std::ranges::lower_bound(m.functions, at) - m.functions.begin()));
}

// ---- Refused ------------------------------------------------------------------------------------

void refuse(HotCode& hot, const FunctionHeader& f, NoCode why) {
  hot.refusals.add({f.module, f.function, f.arity, why});
}

/// What stands in the way now; kCount: nothing.
NoCode obstacle(const FunctionHeader* f, const Word* end) {
  const std::uint16_t first = operation_word(f->entry()).load(std::memory_order_relaxed);
  if (f->nif || first == op::call_nif || first == op::call_dirty_nif || first == op::call_debugger)
    return NoCode::kNative;
  bool patched = false;
  each_instruction(f->entry(), end,
                   [&](const Word* at, const InstructionRow&) { patched |= is_patched(at); });
  return patched ? NoCode::kWatched : NoCode::kCount;
}

NoCode reason(jit::Refusal r) {
  switch (r) {
    case jit::Refusal::kArguments: return NoCode::kArguments;
    case jit::Refusal::kRegisters: return NoCode::kRegisters;
    case jit::Refusal::kPlaces: return NoCode::kPlaces;
    case jit::Refusal::kTooLong: return NoCode::kTooLong;
    case jit::Refusal::kNone: break;
  }
  return NoCode::kCount;
}

// ---- Compiled -----------------------------------------------------------------------------------

using Read = std::shared_ptr<const jit::FunctionCode>;

/// Instructions there about which nothing is guessed.
jit::Guesses guesses_in(const HotCode& hot, const Word* begin, const Word* end) {
  return {hot.guesses.lower_bound(begin), hot.guesses.lower_bound(end)};
}

/// The first one whose code the function is, or nullptr.
FunEntry* fun_of_function(const Module& m, const FunctionHeader* f) {
  const auto it = std::ranges::find(m.fun_addresses, f->entry());
  return it == m.fun_addresses.end() ? nullptr
                                     : m.funs[static_cast<std::size_t>(it - m.fun_addresses.begin())];
}

/// A function of a module, to be inlined; nullptr: it is not.
Read read_unchanged(HotCode& hot, const Module& m, const FunctionHeader& f) {
  const Word* const end = end_of(m, &f);
  if (obstacle(&f, end) != NoCode::kCount) return nullptr;
  hot.requests.has_read(&f, end);
  return jit::read_function(f, end);
}

/// Whether the profiler's table of the code of `f` can say that a thread is in `inlined`.
bool are_near(const FunctionHeader& f, const FunctionHeader& inlined) {
  constexpr SWord kFarthest = SWord{1} << 30;
  const SWord words = reinterpret_cast<const Word*>(&inlined) - reinterpret_cast<const Word*>(&f);
  return words > -kFarthest && words < kFarthest;
}

/// What is known about the surroundings of a function, all of it under the lock; `read` is called
/// for other functions of the module later on.
template <class Read>
jit::Surroundings surroundings(HotCode& hot, const FunctionHeader& f, const Module& m, Read read) {
  jit::Surroundings around{guesses_in(hot, m.begin(), m.end()), {}, read, fun_of_function(m, &f)};
  const auto end = hot.called_funs.lower_bound(end_of(m, &f));
  for (auto at = hot.called_funs.lower_bound(f.entry()); at != end; ++at) {
    jit::CalledFuns& known = around.called_funs[at->first];
    known.others = at->second.others;
    for (const auto& [called, module] : at->second.functions) {
      auto code = are_near(f, *called) ? read_unchanged(hot, *module, *called) : nullptr;
      if (!code) {
        known.others = true;
        continue;
      }
      if (module != &m) {
        hot.requests.reads(module);
        around.guesses.merge(guesses_in(hot, called->entry(), end_of(*module, called)));
      }
      known.functions.push_back(std::move(code));
    }
  }
  return around;
}

/// What the compiler has made of a function gets its place, or is refused. Under the lock.
void put_in_place(HotCode& hot, const FunctionHeader& f, FunEntry* fun, jit::Refusal refusal,
                  HotFunction& made) {
  NoCode why = reason(refusal);
  if (why != NoCode::kCount) {
    hot.refused.insert(&f);
    return refuse(hot, f, why);
  }
  const bool again = hot.codes.contains(&f);
  const std::uint8_t* place = nullptr;
  add_unwinding(&made);
  why = hot.codes.add(f, fun, made, &place);
  if (why != NoCode::kCount) return refuse(hot, f, why);
  hot.compiled_again += again;
  const EpochGuard guard;
  tell_perf(f, place, made);
}

/// Under the lock.
void compile_here(HotCode& hot, const FunctionHeader& f, const Module& m) {
  const auto around =
      surroundings(hot, f, m, [&](const FunctionHeader& g) { return read_unchanged(hot, m, g); });
  HotFunction made;
  const jit::Refusal refusal = jit::compile(*jit::read_function(f, end_of(m, &f)), around, &made);
  put_in_place(hot, f, fun_of_function(m, &f), refusal, made);
}

/// Compiles the oldest request, without the lock.
void compile_next(HotCode& hot, Lock& lock) {
  const Requests::Request next = hot.requests.begin();
  const FunctionHeader& f = *next.function;
  const Module& m = *next.module;
  if (const NoCode why = obstacle(&f, end_of(m, &f)); why != NoCode::kCount) {
    (void)hot.requests.end();
    return refuse(hot, f, why);
  }
  const Read code = read_unchanged(hot, m, f);
  const auto around = surroundings(hot, f, m, [&](const FunctionHeader& g) {
    const Lock again(changing_operations());
    return read_unchanged(hot, m, g);
  });
  lock.unlock();
  HotFunction made;
  const jit::Refusal refusal = jit::compile(*code, around, &made);
  lock.lock();
  const auto [is_changed, left] = hot.requests.end();
  if (is_changed) refuse(hot, f, NoCode::kChanged);
  else put_in_place(hot, f, fun_of_function(m, &f), refusal, made);
  if (left.empty()) return;
  lock.unlock();
  std::ranges::for_each(left, delete_module_code);
  lock.lock();
}

/// Schedulers come first where there are few processors.
constexpr int kNicer = 5;

void run_compiler(HotCode& hot) {
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), getpriority(PRIO_PROCESS, 0) + kNicer);
  Lock lock(changing_operations());
  for (;;) {
    while (hot.requests.empty()) {
      hot.idle.notify_all();
      hot.wanted.wait(lock);
    }
    compile_next(hot, lock);
  }
}

bool start_compiler(HotCode& hot) {
  if (hot.thread == HotCode::Thread::kNone) try {
      start_thread("compiler", [&hot] { run_compiler(hot); }).detach();
      hot.thread = HotCode::Thread::kRuns;
    } catch (const std::system_error&) {
      hot.thread = HotCode::Thread::kRefused;
    }
  return hot.thread == HotCode::Thread::kRuns;
}

/// Has the function compiled: here if all are, so that nothing depends on when a thread comes to
/// it. Under the lock.
void have_compiled(HotCode& hot, const FunctionHeader& f, const Module& m) {
  if (const NoCode why = obstacle(&f, end_of(m, &f)); why != NoCode::kCount) return refuse(hot, f, why);
  if (!hot.codes.has_room()) return refuse(hot, f, NoCode::kNoRoom);
  if (compiled == Compiled::kAll) return compile_here(hot, f, m);
  if (hot.requests.is_full()) return refuse(hot, f, NoCode::kTooMany);
  if (!start_compiler(hot)) return refuse(hot, f, NoCode::kNoThread);
  hot.requests.add({&f, &m});
  hot.wanted.notify_one();
}

void see(const Word* address, unsigned enough) {
  const FunctionHeader* const f = function_header_at(address);
  if (!f || is_hot(f)) return;
  std::atomic<std::uint8_t>& n = seen_of(f);
  const std::uint8_t before = n.load(std::memory_order_relaxed);
  n.store(static_cast<std::uint8_t>(before + 1), std::memory_order_relaxed);
  if (before + 1u < enough) return;
  n.store(0, std::memory_order_relaxed);
  const Module* const m = module_at(address);
  if (!m) return;  // what an export leads to without code: one instruction, of no module
  const Lock lock(changing_operations(), std::try_to_lock);
  if (!lock) return;
  HotCode& hot = *hot_now.load(std::memory_order_relaxed);
  if (hot.codes.wake(f) || hot.refused.contains(f) || hot.requests.holds(f)) return;
  have_compiled(hot, *f, *m);
}

}  // namespace

void look_for_heat(const Process& p, const Word* at) {
  const unsigned enough =
      hot_now.load(std::memory_order_relaxed) ? hot_after.load(std::memory_order_relaxed) : 0;
  if (!enough) return;
  see(at, enough);
  unsigned frames = 1;
  for (const Term* t = p.heap.stop; t < p.heap.end && frames < kFrames; ++t) {
    if (!is_return_address(*t)) continue;
    see(reinterpret_cast<const Word*>(t->raw()) - 1, enough);
    ++frames;
  }
}

void cool(const Word* at) {
  HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  if (!hot) return;
  const EpochGuard guard;
  hot->requests.changed(at);
  hot->codes.remove(function_header_at(at));
}

bool forget_heat(Module& m) {
  const std::lock_guard lock(changing_operations());
  HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  if (!hot) return true;
  for (const std::uint32_t at : m.functions) {
    const auto* const f = reinterpret_cast<const FunctionHeader*>(m.begin() + at);
    hot->refused.erase(f);
    hot->codes.forget(f);
  }
  hot->codes.reclaim();
  const auto erase_own = [&](auto& known) {
    known.erase(known.lower_bound(m.begin()), known.lower_bound(m.end()));
  };
  erase_own(hot->guesses);
  erase_own(hot->called_funs);
  for (auto& [at, called] : hot->called_funs)
    if (std::erase_if(called.functions, [&](const auto& c) { return c.module == &m; })) called.others = false;
  return hot->requests.forget(m);
}

namespace {

/// The instruction has called a fun that was not expected there. Returns false if nothing is to be
/// guessed otherwise than before.
bool is_called_there(HotCode& hot, const Word* at, Term fun) {
  if (!fun.is_fun() || fun_of(fun)->is_external) return false;
  const Word* const code = fun_of(fun)->entry->address.load(std::memory_order_acquire);
  const Module* const m = code ? module_at(code) : nullptr;
  if (!m) return false;
  CalledFuns& known = hot.called_funs[at];
  const FunctionHeader* const f = header_of_entry(code);
  if (known.others ||
      std::ranges::find(known.functions, f, &CalledFuns::Function::function) != known.functions.end())
    return false;
  if (known.functions.size() == CalledFuns::kMost ||
      !jit::may_be_inlined(*jit::read_function(*f, end_of(*m, f))))
    known.others = true;
  else known.functions.push_back({f, m});
  return true;
}

/// A number was of another kind. Likewise.
bool is_of_other_kind(HotCode& hot, const FunctionHeader* f, const jit::FunctionCode& code, const Word* at,
                      const Term* x, const Term* y) {
  const auto known = hot.guesses.find(at);
  if (known != hot.guesses.end() && known->second == jit::Guess::kNothing) return false;
  if (known == hot.guesses.end() && jit::computes_with_floats(code, at, x, y)) {
    hot.guesses[at] = jit::Guess::kFloat;
    hot.guesses[reinterpret_cast<const Word*>(f)] = jit::Guess::kFloat;
  } else {
    hot.guesses[at] = jit::Guess::kNothing;
  }
  return true;
}

}  // namespace

void guessed_wrong(const Word* at, const Term* x, const Term* y) {
  // Each wrong guess costs less than compiling the function, but not by much.
  constexpr std::int32_t kMostWrong = 100;
  guesses_left.store(compiled == Compiled::kAll ? 1 : kMostWrong, std::memory_order_relaxed);
  const Lock lock(changing_operations(), std::try_to_lock);
  HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  if (!lock || !hot) return;
  const EpochGuard guard;
  const FunctionHeader* const f = function_header_at(at);
  const Module* const m = module_at(at);
  if (!f || !m) return;
  const Read code = jit::read_function(*f, end_of(*m, f));
  const Term fun = jit::called_fun(*code, at, x, y);
  // Inlined functions guess no funs.
  std::vector<const FunctionHeader*> with_it;
  if (!fun.is_value()) with_it = hot->codes.inlined_in(f);
  if (hot->codes.contains(f)) with_it.push_back(f);
  // It is noticed again if it cannot be dealt with now.
  if (hot->requests.waiting() + with_it.size() > Requests::kMost ||
      std::ranges::any_of(with_it, [&](const FunctionHeader* g) { return hot->requests.holds(g); }))
    return;
  if (fun.is_value() ? !is_called_there(*hot, at, fun) : !is_of_other_kind(*hot, f, *code, at, x, y)) return;
  for (const FunctionHeader* const g : with_it)
    if (const Module* const of = module_at(g->entry())) have_compiled(*hot, *g, *of);
}

PlaceInHotCode place_in_hot_code(const void* pc) {
  const HotCode* const hot = hot_now.load(std::memory_order_acquire);
  return hot ? hot->codes.place_at(pc) : PlaceInHotCode{};
}

void compile_all(const Module& m) {
  if (compiled != Compiled::kAll) return;
  const std::lock_guard lock(changing_operations());
  const EpochGuard guard;
  HotCode& hot = *hot_now.load(std::memory_order_relaxed);
  for (const std::uint32_t at : m.functions)
    if (const auto* f = reinterpret_cast<const FunctionHeader*>(m.begin() + at); !hot.codes.contains(f))
      have_compiled(hot, *f, m);
}

void await_compiler() {
  HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  if (!hot) return;
  Lock lock(changing_operations());
  hot->idle.wait(lock, [&] { return hot->requests.idle(); });
}

bool enable_compiler(Compiled which, std::uint64_t exits_seed, unsigned megabytes) {
  if (which == Compiled::kNone) return true;
  jit::leave_more_often(exits_seed);
  if (!kInThisBuild) return false;
  auto hot = std::make_unique<HotCode>();
  if (!hot->codes.ok()) return false;
  std::vector<std::uint32_t> offsets;
  HotFunction made = jit::emit_stubs(&offsets);
  add_unwinding(&made);
  const std::uint8_t* const at = hot->codes.add_stubs(made);
  if (!at) return false;
  hot->codes.set_limit(std::size_t{megabytes} << 20);
  tell_perf("enter, leave and call", at, made);
  tell_gdb(hot->codes.area(), at, made);
  static_assert(sizeof stubs % sizeof(void*) == 0);
  const void* parts[sizeof stubs / sizeof(void*)];
  for (std::size_t n = 0; n < std::size(parts); ++n) parts[n] = at + offsets.at(n);
  std::memcpy(&stubs, parts, sizeof stubs);
  for (Word* const own : {end_of_process, ends_of_calls, line_breakpoint_end})
    own[-1] = reinterpret_cast<Word>(stubs.at_return);
  hot_now.store(hot.release(), std::memory_order_release);
  compiled = which;
  return true;
}

void tell_debuggers_of_machine_code() {
  if (const HotCode* const hot = hot_now.load(std::memory_order_relaxed)) hot->codes.tell_debuggers();
}

void set_hot_after(unsigned times) { hot_after.store(times, std::memory_order_relaxed); }

bool hot_code_is_made() {
  return hot_now.load(std::memory_order_relaxed) &&
         (compiled == Compiled::kAll || hot_after.load(std::memory_order_relaxed) > 0);
}

HotCodeUse hot_code_use() {
  const std::lock_guard lock(changing_operations());
  const HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  if (!hot) return {};
  HotCodeUse use;
  use.codes = hot->codes.use();
  use.limit = hot->codes.limit();
  use.compiled_again = hot->compiled_again;
  use.waiting = hot->requests.waiting();
  use.refused = hot->refusals.counts();
  use.last_refused.assign(hot->refusals.last().begin(), hot->refusals.last().end());
  return use;
}

}  // namespace vmrun
