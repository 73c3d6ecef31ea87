// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/call_pattern.hpp"

#include <shared_mutex>

#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/term/big.hpp"

namespace vmrun {
namespace {

struct NameHash {
  std::size_t operator()(const FunctionName& f) const {
    return hash_key(f.module) * 31 + hash_key(f.function) * 7 + f.arity;
  }
};
struct SameName {
  bool operator()(const FunctionName& a, const FunctionName& b) const {
    return a.module == b.module && a.function == b.function && a.arity == b.arity;
  }
};
struct TermHash {
  std::size_t operator()(Term t) const { return hash_key(t); }
};

std::shared_mutex patterns_mutex;
// 1 + the number of changes of the data below. Written under the lock.
std::atomic<Word> changes{1};
void note_change() { changes.fetch_add(1, std::memory_order_release); }
std::unordered_map<FunctionName, std::shared_ptr<const CallPattern>, NameHash, SameName> patterns;
// How many functions of a module have breakpoints. Modules without breakpoints are not in the map.
std::unordered_map<Term, std::size_t, TermHash> breakpoints;
// The pattern of functions that are loaded later.
CallPattern on_load;

void count_breakpoint(Term module, bool before, bool after) {
  if (before == after) return;
  if (after) {
    ++breakpoints[module];
    return;
  }
  const auto it = breakpoints.find(module);
  if (--it->second == 0) breakpoints.erase(it);
}

using Action = CallPatternChange::Action;

void change_meta(CallPattern& p, const CallPatternChange& c) {
  p.meta = c.action == Action::kOff ? nullptr : std::make_shared<MetaTrace>(*c.meta, c.specification);
}

void change_calls(CallPattern& p, const CallPatternChange& c, CallPattern::Traced traced) {
  const bool on = c.action != Action::kOff;
  p.traced = on ? traced : CallPattern::Traced::kNo;
  p.specification = on ? std::make_shared<const CallSpecification>(c.specification) : nullptr;
}

template <class Kept>
void change_kept(std::shared_ptr<Kept>& kept, bool& active, Action action) {
  switch (action) {
    case Action::kOff:
      kept = nullptr;
      active = false;
      break;
    case Action::kPause: active = false; break;
    case Action::kRestart:
      if (!kept) return;
      [[fallthrough]];
    case Action::kOn:
      kept = std::make_shared<Kept>();
      active = true;
      break;
  }
}

/// Changes a pattern. Global tracing and the other kinds exclude each other.
void change(CallPattern& p, const CallPatternChange& c) {
  using Traced = CallPattern::Traced;
  const bool on = c.action != Action::kOff;
  if (c.kinds & kGlobalCalls) {
    if (on) p = CallPattern();
    if (on || p.traced == Traced::kGlobal) change_calls(p, c, Traced::kGlobal);
    return;
  }
  if (on && p.traced == Traced::kGlobal) p = CallPattern();
  if (c.kinds & kLocalCalls && (on || p.traced == Traced::kLocal)) change_calls(p, c, Traced::kLocal);
  if (c.kinds & kMetaCalls) change_meta(p, c);
  if (c.kinds & kCountCalls) change_kept(p.count, p.counts, c.action);
  // A thread that has found the former pattern may still add a call: that goes to the former count,
  // not to the one that is reported.
  if (p.count && !p.counts) p.count = std::make_shared<CallCount>(*p.count);
  if (c.kinds & kTimeCalls) change_kept(p.times, p.takes_times, c.action);
}

/// The caller holds the lock.
void replace(const FunctionName& f, CallPattern&& next) {
  note_change();
  const auto it = patterns.find(f);
  count_breakpoint(f.module, it != patterns.end() && it->second->is_breakpoint(), next.is_breakpoint());
  if (!next.says_nothing()) patterns[f] = std::make_shared<const CallPattern>(std::move(next));
  else if (it != patterns.end()) patterns.erase(it);
}

Term traced_term(CallPattern::Traced traced) {
  static constexpr Term kNames[] = {atoms::false_, atoms::global, atoms::local};
  return kNames[static_cast<unsigned>(traced)];
}

Term pattern_term(const CallPattern& p, Term count, Term times, Heap& out) {
  const Term specification = p.specification ? copy_to(out, p.specification->term) : atoms::false_;
  const Term meta_specification = p.meta ? copy_to(out, p.meta->specification.term) : atoms::false_;
  const Term meta = p.meta ? tracer_term(p.meta->is_gone ? nullptr : &p.meta->tracer, out) : atoms::false_;
  return new_tuple(out, traced_term(p.traced), specification, meta, meta_specification, count, times);
}

}  // namespace

CallSpecification::CallSpecification(Term t) : term(copy_to(arena, t, Literals::kCopied)) {}

void CallTimes::add(Term pid, Word calls, Word ns) {
  const std::lock_guard guard(mutex_);
  if (pid != last_) {
    last_ = pid;
    last_item_ = &items_[pid.raw()];  // nodes of the map do not move and are never removed
  }
  Item& item = *last_item_;
  item.calls += calls;
  item.ns += ns;
}

Term CallTimes::term(Heap& out) const {
  constexpr Word kPerSecond = 1'000'000;
  const std::lock_guard guard(mutex_);
  ListBuilder list(out);
  for (const auto& [pid, item] : items_) {
    const Word us = item.ns / 1000;
    list.add(new_tuple(out, Term::from_raw(pid), Term::small(static_cast<SWord>(item.calls)),
                       Term::small(static_cast<SWord>(us / kPerSecond)),
                       Term::small(static_cast<SWord>(us % kPerSecond))));
  }
  return list.finish();
}

namespace {

/// The patterns that this thread has found last, as long as nothing changes. They serve functions
/// that are called again and again.
struct FoundPattern {
  Word change = 0;
  FunctionName f;
  std::shared_ptr<const CallPattern> pattern;
};
constexpr std::size_t kFoundPatterns = 16;
thread_local FoundPattern found_patterns[kFoundPatterns];

}  // namespace

const std::shared_ptr<const CallPattern>& find_call_pattern(const FunctionName& f) {
  const Word now = changes.load(std::memory_order_acquire);
  FoundPattern& found = found_patterns[NameHash()(f) % kFoundPatterns];
  if (found.change == now && SameName()(found.f, f)) return found.pattern;
  const std::shared_lock guard(patterns_mutex);
  const auto it = patterns.find(f);
  // Patterns do not change while the lock is held.
  found = {changes.load(std::memory_order_relaxed), f, it == patterns.end() ? nullptr : it->second};
  return found.pattern;
}

void change_call_pattern(const FunctionName& f, const CallPatternChange& wish) {
  const std::unique_lock guard(patterns_mutex);
  const auto it = patterns.find(f);
  if (it == patterns.end() && wish.action == Action::kOff) return;
  CallPattern next = it == patterns.end() ? CallPattern() : *it->second;
  change(next, wish);
  replace(f, std::move(next));
}

void change_on_load_pattern(const CallPatternChange& wish) {
  const std::unique_lock guard(patterns_mutex);
  change(on_load, wish);
}

Term call_pattern_term(const FunctionName& f, Heap& out) {
  const auto p = find_call_pattern(f);
  if (!p) return atoms::undefined;
  const Term count = p->count ? make_integer(out, static_cast<SWord>(p->count->calls.load())) : atoms::false_;
  const Term times = p->times ? p->times->term(out) : atoms::false_;
  return pattern_term(*p, count, times, out);
}

Term on_load_pattern_term(Heap& out) {
  const std::shared_lock guard(patterns_mutex);
  if (on_load.says_nothing()) return atoms::undefined;
  return pattern_term(on_load, on_load.count ? atoms::true_ : atoms::false_,
                      on_load.times ? atoms::true_ : atoms::false_, out);
}

bool has_breakpoints(Term module) {
  const std::shared_lock guard(patterns_mutex);
  return breakpoints.contains(module);
}

bool has_breakpoint(const FunctionName& f) {
  const auto p = find_call_pattern(f);
  return p && p->is_breakpoint();
}

bool any_breakpoints() {
  const std::shared_lock guard(patterns_mutex);
  return !breakpoints.empty();
}

bool forget_call_patterns(Term module) {
  const std::unique_lock guard(patterns_mutex);
  note_change();
  std::erase_if(patterns, [&](const auto& entry) { return entry.first.module == module; });
  return breakpoints.erase(module) != 0;
}

bool is_on_load_pattern_set() {
  const std::shared_lock guard(patterns_mutex);
  return !on_load.says_nothing();
}

void apply_on_load_pattern(const std::vector<FunctionName>& functions,
                           const std::vector<FunctionName>& exported) {
  const std::unique_lock guard(patterns_mutex);
  const bool global = on_load.traced == CallPattern::Traced::kGlobal;
  for (const FunctionName& f : global ? exported : functions) {
    CallPattern own = on_load;
    if (own.count) own.count = std::make_shared<CallCount>();
    if (own.times) own.times = std::make_shared<CallTimes>();
    replace(f, std::move(own));
  }
}

}  // namespace vmrun
