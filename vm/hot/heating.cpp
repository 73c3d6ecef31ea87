// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/heating.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <sys/mman.h>

#include "vm/base/retired.hpp"
#include "vm/code/hot_code.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/machine_code.hpp"
#include "vm/code/module.hpp"
#include "vm/code/patches.hpp"
#include "vm/code/walk.hpp"
#include "vm/hot/area.hpp"
#include "vm/hot/perf.hpp"
#include "vm/hot/place_in_code.hpp"
#include "vm/jit/compile_function.hpp"
#include "vm/jit/emit_code.hpp"
#include "vm/jit/processor.hpp"
#include "vm/process/process.hpp"
#include "vm/process/return_address.hpp"

namespace vmrun {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool kInThisBuild = true;
#else
constexpr bool kInThisBuild = false;
#endif

using jit::kAreaBytes;
constexpr std::size_t kRoomWanted = std::size_t{1} << 20;  // else nothing is made until some is given back
constexpr unsigned kFrames = 3;                            // that are looked at, the one at work included
constexpr unsigned kSeen = 1 << 14;

std::atomic<unsigned> hot_after{kHotAfter};
Compiled compiled = Compiled::kNone;  // written before processes run

/// How often functions have been seen, by a hash of their address: others may be counted with them.
std::atomic<std::uint8_t> seen[kSeen];
std::atomic<std::uint8_t>& seen_of(const FunctionHeader* f) {
  return seen[(reinterpret_cast<Word>(f) * 0x9E3779B97F4A7C15) >> 50];
}

struct Code {
  const std::uint8_t* code;
  std::size_t bytes;
  std::vector<const Word*> entries;
  // Which instruction is whose, in the order of offsets: each counts from the one before on.
  struct Place {
    std::uint32_t offset;
    std::int32_t words;  // from the function's header on; another function's if a call of it is inlined
  };
  const FunctionHeader* function;
  FunEntry* fun;  // whose code it is, or nullptr
  std::vector<Place> places;
  std::vector<Place> inlined_calls;  // from there on, in a call that returns there; 0: in none
  std::vector<const FunctionHeader*> inlined;
  Code* next_retired = nullptr;
};

/// The code that each piece of the area belongs to, for who is interrupted in it: that thread is in
/// the middle of the code, so it is not freed. Pages that are not used take no memory.
class Owners {
 public:
  void open() {
    void* const m = mmap(nullptr, kAreaBytes / kPiece * sizeof(Code*), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m != MAP_FAILED) pieces_.store(static_cast<std::atomic<const Code*>*>(m), std::memory_order_release);
  }
  void set(std::size_t offset, std::size_t bytes, const Code* to) {
    auto* const pieces = pieces_.load(std::memory_order_relaxed);
    for (std::size_t i = offset / kPiece; pieces && i * kPiece < offset + bytes; ++i)
      pieces[i].store(to, std::memory_order_release);
  }
  /// offset: below kAreaBytes.
  const Code* at(std::size_t offset) const {
    const auto* const pieces = pieces_.load(std::memory_order_acquire);
    return pieces ? pieces[offset / kPiece].load(std::memory_order_acquire) : nullptr;
  }

 private:
  static constexpr std::size_t kPiece = 64;  // no two codes share one (area.cpp)
  std::atomic<std::atomic<const Code*>*> pieces_{nullptr};
};
constinit Owners owners;

/// All of it under the lock of patches.cpp.
struct HotCode {
  Area area{reinterpret_cast<const void*>(&look_for_heat), kAreaBytes};
  std::unordered_map<const FunctionHeader*, Code*> functions;
  std::unordered_multimap<const FunctionHeader*, Code*> inlined_in;  // a function is part of that code
  std::unordered_set<const FunctionHeader*> refused;                 // by the compiler
  std::unordered_set<const Word*> wrong;  // instructions about which the compiler guesses nothing
  Retired<Code, &Code::next_retired, epoch_passed_by_code> retired;

  void give_back() {
    retired.stamp();
    retired.reclaim([this](Code& c) {
      owners.set(area.offset(c.code), c.bytes, nullptr);
      area.free(c.code, c.bytes);
      delete &c;
    });
  }
};
std::atomic<HotCode*> hot_now{nullptr};  // made once, before processes run, if code is made

bool is_hot(const FunctionHeader* f) {
  return operation_word(f->entry()).load(std::memory_order_relaxed) == op::machine_code;
}

const Word* end_of(const Module& m, const FunctionHeader* f) {
  const auto at = static_cast<std::uint32_t>(reinterpret_cast<const Word*>(f) - m.begin());
  return m.end_of_function(
      static_cast<std::size_t>(std::ranges::lower_bound(m.functions, at) - m.functions.begin()));
}

/// The first one whose code the function is, or nullptr.
FunEntry* fun_of_function(const Module& m, const FunctionHeader* f) {
  const auto it = std::ranges::find(m.fun_addresses, f->entry());
  return it == m.fun_addresses.end() ? nullptr
                                     : m.funs[static_cast<std::size_t>(it - m.fun_addresses.begin())];
}

/// Somebody watches it, or a native function or a debugger has taken its place.
bool is_changed(const FunctionHeader* f, const Word* end) {
  if (f->nif) return true;
  const std::uint16_t first = operation_word(f->entry()).load(std::memory_order_relaxed);
  if (first == op::call_nif || first == op::call_dirty_nif || first == op::call_debugger) return true;
  bool patched = false;
  each_instruction(f->entry(), end,
                   [&](const Word* at, const InstructionRow&) { patched |= is_patched(at); });
  return patched;
}

void heat(HotCode* hot, const FunctionHeader* f, const Module& m) {
  const Word* const end = end_of(m, f);
  if (is_changed(f, end)) return;
  hot->give_back();
  if (hot->area.used() + kRoomWanted > kAreaBytes) return;
  HotFunction made;
  FunEntry* const fun = fun_of_function(m, f);
  const jit::Surroundings around{hot->wrong,
                                 [&](const FunctionHeader& g) {
                                   const Word* const g_end = end_of(m, &g);
                                   return is_changed(&g, g_end) ? nullptr : g_end;
                                 },
                                 fun};
  if (!jit::compile(*f, end, around, &made)) {
    hot->refused.insert(f);
    return;
  }
  const std::uint8_t* const at = hot->area.allocate(made.code.size());
  if (!at) return;
  jit::lead_outward(&made, at);
  if (!hot->area.install(at, made.code.data(), made.code.size())) return;
  auto* code = new Code{at, made.code.size(), {}, f, fun, {}, {}, std::move(made.inlined)};
  const auto place_of = [&](const HotFunction::Place& p) {
    return Code::Place{p.offset,
                       p.at ? static_cast<std::int32_t>(p.at - reinterpret_cast<const Word*>(f)) : 0};
  };
  std::ranges::transform(made.places, std::back_inserter(code->places), place_of);
  std::ranges::transform(made.inlined_calls, std::back_inserter(code->inlined_calls), place_of);
  for (const FunctionHeader* const g : code->inlined) hot->inlined_in.emplace(g, code);
  owners.set(hot->area.offset(at), code->bytes, code);
  for (const HotFunction::Place& e : made.entries) {
    code->entries.push_back(e.at);
    __atomic_store_n(const_cast<Word*>(e.at - 1), reinterpret_cast<Word>(at + e.offset), __ATOMIC_RELEASE);
  }
  if (fun) fun->hot.store(at + made.fun_entry, std::memory_order_release);
  for (const Word* e : code->entries) operation_word(e).store(op::machine_code, std::memory_order_release);
  hot->functions.emplace(f, code);
  tell_perf(*f, at, made);
}

/// Frees the code when every scheduler has been between two slices.
void forget(HotCode* hot, Code* code) {
  if (code->fun) code->fun->hot.store(nullptr, std::memory_order_release);
  hot->functions.erase(code->function);
  for (const FunctionHeader* const g : code->inlined)
    for (auto [it, end] = hot->inlined_in.equal_range(g); it != end; ++it)
      if (it->second == code) {
        hot->inlined_in.erase(it);
        break;
      }
  hot->retired.retire(*code);
}

void take_away(HotCode* hot, Code* code) {
  const Word* const entry = code->function->entry();
  for (const Word* e : code->entries) {
    operation_word(e).store(operation_as_it_was(hot_code(e)), std::memory_order_release);
    const void* const to = e == entry ? stubs.at_entry : stubs.at_return;
    __atomic_store_n(const_cast<Word*>(e - 1), reinterpret_cast<Word>(to), __ATOMIC_RELEASE);
  }
  forget(hot, code);
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
  const std::unique_lock lock(changing_operations(), std::try_to_lock);
  if (!lock) return;
  HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  if (hot->functions.contains(f) || hot->refused.contains(f)) return;
  heat(hot, f, *m);
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
  const FunctionHeader* const f = function_header_at(at);
  if (const auto it = hot->functions.find(f); it != hot->functions.end()) take_away(hot, it->second);
  for (;;) {
    const auto it = hot->inlined_in.find(f);
    if (it == hot->inlined_in.end()) break;
    take_away(hot, it->second);
  }
  hot->give_back();
}

void forget_heat(const Module& m) {
  const std::lock_guard lock(changing_operations());
  HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  if (!hot) return;
  for (const std::uint32_t at : m.functions) {
    const auto* const f = reinterpret_cast<const FunctionHeader*>(m.begin() + at);
    hot->refused.erase(f);
    if (const auto it = hot->functions.find(f); it != hot->functions.end()) {
      forget(hot, it->second);
    }
  }
  std::erase_if(hot->wrong, [&](const Word* at) { return at >= m.begin() && at < m.end(); });
  hot->give_back();
}

void guessed_wrong(const Word* at) {
  // Each wrong guess costs less than compiling the function, but not by much.
  constexpr std::int32_t kMostWrong = 1000;
  guesses_left.store(compiled == Compiled::kAll ? 1 : kMostWrong, std::memory_order_relaxed);
  const std::unique_lock lock(changing_operations(), std::try_to_lock);
  HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  if (!lock || !hot || !hot->wrong.insert(at).second) return;
  const EpochGuard guard;
  const FunctionHeader* const f = function_header_at(at);
  const Module* const m = module_at(at);
  if (!f || !m) return;
  std::vector<const FunctionHeader*> with_it;
  if (hot->functions.contains(f)) with_it.push_back(f);
  for (auto [it, end] = hot->inlined_in.equal_range(f); it != end; ++it)
    with_it.push_back(it->second->function);
  cool(at);
  for (const FunctionHeader* const g : with_it)
    if (!hot->functions.contains(g)) heat(hot, g, *m);
}

PlaceInHotCode place_in_hot_code(const void* pc) {
  const HotCode* const hot = hot_now.load(std::memory_order_acquire);
  if (!hot) return {};
  const std::size_t offset = hot->area.offset(pc);
  const Code* const code = offset < kAreaBytes ? owners.at(offset) : nullptr;
  if (!code) return {};
  const auto in_code = static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(pc) - code->code);
  const auto words_in = [&](const std::vector<Code::Place>& places) {
    const auto next =
        std::ranges::upper_bound(places, in_code, {}, [](const Code::Place& p) { return p.offset; });
    return next == places.begin() ? 0 : std::prev(next)->words;
  };
  const auto* const header = reinterpret_cast<const Word*>(code->function);
  const std::int32_t at = words_in(code->places), returns_to = words_in(code->inlined_calls);
  return {at ? header + at : code->function->entry(), returns_to ? header + returns_to : nullptr};
}

void compile_all(const Module& m) {
  if (compiled != Compiled::kAll) return;
  const std::lock_guard lock(changing_operations());
  const EpochGuard guard;
  HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  for (const std::uint32_t at : m.functions)
    if (const auto* f = reinterpret_cast<const FunctionHeader*>(m.begin() + at); !hot->functions.contains(f))
      heat(hot, f, m);
}

bool enable_compiler(Compiled which, std::uint64_t exits_seed) {
  if (which == Compiled::kNone) return true;
  jit::leave_more_often(exits_seed);
  if (!kInThisBuild) return false;
  auto* const hot = new HotCode;
  if (!hot->area.ok()) return false;
  owners.open();
  std::vector<std::uint32_t> offsets;
  HotFunction made;
  made.code = jit::emit_stubs(&offsets);
  const std::uint8_t* const at = hot->area.allocate(made.code.size());
  if (!at || !hot->area.install(at, made.code.data(), made.code.size())) return false;
  tell_perf("enter, leave and call", at, made);
  static_assert(sizeof stubs % sizeof(void*) == 0);
  const void* parts[sizeof stubs / sizeof(void*)];
  for (std::size_t n = 0; n < std::size(parts); ++n) parts[n] = at + offsets.at(n);
  std::memcpy(&stubs, parts, sizeof stubs);
  for (Word* const own : {end_of_process, ends_of_calls, line_breakpoint_end})
    own[-1] = reinterpret_cast<Word>(stubs.at_return);
  hot_now.store(hot, std::memory_order_release);
  compiled = which;
  return true;
}

void set_hot_after(unsigned times) { hot_after.store(times, std::memory_order_relaxed); }

HotCodeUse hot_code_use() {
  const std::lock_guard lock(changing_operations());
  const HotCode* const hot = hot_now.load(std::memory_order_relaxed);
  if (!hot) return {0, 0, false};
  return {hot->functions.size(), hot->area.used(),
          compiled == Compiled::kAll || hot_after.load(std::memory_order_relaxed) > 0};
}

}  // namespace vmrun
