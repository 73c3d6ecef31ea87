// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/call_pattern.hpp"

#include <algorithm>
#include <map>
#include <shared_mutex>
#include <unordered_set>

#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/term/big.hpp"
#include "vm/trace/trace.hpp"

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
std::unordered_map<FunctionName, std::shared_ptr<const CallPatterns>, NameHash, SameName> patterns;
// The functions for which a session has patterns; without the default session.
std::map<Word, std::unordered_set<FunctionName, NameHash, SameName>> functions_of_sessions;
// How many functions of a module have breakpoints. Modules without breakpoints are not in the map.
std::unordered_map<Term, std::size_t, TermHash> breakpoints;
// The patterns of functions that are loaded later, by session.
std::map<Word, CallPattern> on_load;

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
    if (on) p = CallPattern(p.session);
    if (on || p.traced == Traced::kGlobal) change_calls(p, c, Traced::kGlobal);
    return;
  }
  if (on && p.traced == Traced::kGlobal) p = CallPattern(p.session);
  if (c.kinds & kLocalCalls && (on || p.traced == Traced::kLocal)) change_calls(p, c, Traced::kLocal);
  if (c.kinds & kMetaCalls) change_meta(p, c);
  if (c.kinds & kCountCalls) change_kept(p.count, p.counts, c.action);
  // A thread that has found the former pattern may still add a call: that goes to the former count,
  // not to the one that is reported.
  if (p.count && !p.counts) p.count = std::make_shared<CallCount>(*p.count);
  if (c.kinds & kTimeCalls) change_kept(p.times, p.takes_times, c.action);
  if (c.kinds & kMemoryCalls) change_kept(p.memory, p.takes_memory, c.action);
}

/// Returns a function's patterns with `next` as its session's pattern, or without one for that
/// session if it says nothing.
std::shared_ptr<const CallPatterns> with_pattern(const CallPatterns* before, CallPattern&& next) {
  auto all = std::make_shared<CallPatterns>();
  const auto add = [&](std::shared_ptr<const CallPattern> p) {
    all->any_traced |= p->traced != CallPattern::Traced::kNo;
    all->any_breakpoint |= p->is_breakpoint();
    all->of_sessions.push_back(std::move(p));
  };
  if (before) {
    all->of_sessions.reserve(before->of_sessions.size() + 1);
    for (const auto& p : before->of_sessions)
      if (p->session != next.session) add(p);
  }
  if (!next.says_nothing()) add(std::make_shared<const CallPattern>(std::move(next)));
  return all;
}

/// The caller holds the lock.
void replace(const FunctionName& f, CallPattern&& next) {
  note_change();
  const auto it = patterns.find(f);
  const CallPatterns* before = it == patterns.end() ? nullptr : it->second.get();
  if (const Word session = next.session->number) {
    if (!next.says_nothing()) functions_of_sessions[session].insert(f);
    else if (const auto own = functions_of_sessions.find(session); own != functions_of_sessions.end())
      own->second.erase(f);
  }
  auto all = with_pattern(before, std::move(next));
  count_breakpoint(f.module, before && before->any_breakpoint, all->any_breakpoint);
  if (!all->of_sessions.empty()) patterns[f] = std::move(all);
  else if (before) patterns.erase(it);
}

/// Returns the session's pattern among a function's; nullptr when it has none.
const std::shared_ptr<const CallPattern>* pattern_in(const CallPatterns* all, const TraceSession& session) {
  if (!all) return nullptr;
  for (const auto& p : all->of_sessions)
    if (p->session.get() == &session) return &p;
  return nullptr;
}

Term traced_term(CallPattern::Traced traced) {
  static constexpr Term kNames[] = {atoms::false_, atoms::global, atoms::local};
  return kNames[static_cast<unsigned>(traced)];
}

Term pattern_term(const CallPattern& p, Term count, Term times, Term memory, Heap& out) {
  const Term specification = p.specification ? copy_to(out, p.specification->term) : atoms::false_;
  const Term meta_specification = p.meta ? copy_to(out, p.meta->specification.term) : atoms::false_;
  const Term meta = p.meta ? tracer_term(p.meta->is_gone ? nullptr : &p.meta->tracer, out) : atoms::false_;
  return new_tuple(out, traced_term(p.traced), specification, meta, meta_specification, count, times, memory);
}

}  // namespace

CallSpecification::CallSpecification(Term t) : term(copy_to(arena, t, Literals::kCopied)) {}

void CallCosts::add(Term pid, Word calls, Word cost) {
  const std::lock_guard guard(mutex_);
  if (pid != last_) {
    last_ = pid;
    last_item_ = &items_[pid.raw()];  // nodes of the map do not move and are never removed
  }
  Item& item = *last_item_;
  item.calls += calls;
  item.cost += cost;
}

Term CallCosts::times_term(Heap& out) const {
  constexpr Word kPerSecond = 1'000'000;
  const std::lock_guard guard(mutex_);
  ListBuilder list(out);
  for (const auto& [pid, item] : items_) {
    const Word us = item.cost / 1000;
    list.add(new_tuple(out, Term::from_raw(pid), Term::small(static_cast<SWord>(item.calls)),
                       Term::small(static_cast<SWord>(us / kPerSecond)),
                       Term::small(static_cast<SWord>(us % kPerSecond))));
  }
  return list.finish();
}

Term CallCosts::memory_term(Heap& out) const {
  const std::lock_guard guard(mutex_);
  ListBuilder list(out);
  for (const auto& [pid, item] : items_)
    list.add(new_tuple(out, Term::from_raw(pid), Term::small(static_cast<SWord>(item.calls)),
                       Term::small(static_cast<SWord>(item.cost))));
  return list.finish();
}

namespace {

/// The patterns that this thread has found last, as long as nothing changes. They serve functions
/// that are called again and again.
struct FoundPatterns {
  Word change = 0;
  FunctionName f;
  std::shared_ptr<const CallPatterns> patterns;
};
constexpr std::size_t kFoundPatterns = 16;
thread_local FoundPatterns found_patterns[kFoundPatterns];

}  // namespace

const std::shared_ptr<const CallPatterns>& find_call_patterns(const FunctionName& f) {
  const Word now = changes.load(std::memory_order_acquire);
  FoundPatterns& found = found_patterns[NameHash()(f) % kFoundPatterns];
  if (found.change == now && SameName()(found.f, f)) return found.patterns;
  const std::shared_lock guard(patterns_mutex);
  const auto it = patterns.find(f);
  // Patterns do not change while the lock is held.
  found = {changes.load(std::memory_order_relaxed), f, it == patterns.end() ? nullptr : it->second};
  return found.patterns;
}

void change_call_pattern(const SessionRef& session, const FunctionName& f, const CallPatternChange& wish) {
  const std::unique_lock guard(patterns_mutex);
  // Its patterns are removed under this lock after it has ended.
  if (!session->is_alive.load(std::memory_order_acquire)) return;
  const auto it = patterns.find(f);
  const auto* before = pattern_in(it == patterns.end() ? nullptr : it->second.get(), *session);
  if (!before && wish.action == Action::kOff) return;
  CallPattern next = before ? **before : CallPattern(session);
  change(next, wish);
  replace(f, std::move(next));
}

void change_on_load_pattern(const SessionRef& session, const CallPatternChange& wish) {
  const std::unique_lock guard(patterns_mutex);
  if (!session->is_alive.load(std::memory_order_acquire)) return;
  CallPattern& pattern = on_load.try_emplace(session->number, session).first->second;
  change(pattern, wish);
  if (pattern.says_nothing()) on_load.erase(session->number);
}

bool forget_call_patterns(const TraceSession& session) {
  const std::unique_lock guard(patterns_mutex);
  on_load.erase(session.number);
  const auto own = functions_of_sessions.find(session.number);
  if (own == functions_of_sessions.end()) return false;
  const auto functions = std::move(own->second);
  functions_of_sessions.erase(own);
  bool had_breakpoints = false;
  for (const FunctionName& f : functions) {
    const auto it = patterns.find(f);
    const auto* pattern = pattern_in(it == patterns.end() ? nullptr : it->second.get(), session);
    if (!pattern) continue;
    had_breakpoints |= (*pattern)->is_breakpoint();
    replace(f, CallPattern((*pattern)->session));
  }
  functions_of_sessions.erase(session.number);
  return had_breakpoints;
}

Term call_pattern_term(const TraceSession& session, const FunctionName& f, Heap& out) {
  const auto all = find_call_patterns(f);
  const auto* found = pattern_in(all.get(), session);
  if (!found) return atoms::undefined;
  const CallPattern& p = **found;
  const Term count = p.count ? make_integer(out, static_cast<SWord>(p.count->calls.load())) : atoms::false_;
  const Term times = p.times ? p.times->times_term(out) : atoms::false_;
  const Term memory = p.memory ? p.memory->memory_term(out) : atoms::false_;
  return pattern_term(p, count, times, memory, out);
}

Term on_load_pattern_term(const TraceSession& session, Heap& out) {
  const std::shared_lock guard(patterns_mutex);
  const auto it = on_load.find(session.number);
  if (it == on_load.end()) return atoms::undefined;
  const CallPattern& p = it->second;
  const auto is_set = [](const auto& kept) { return kept ? atoms::true_ : atoms::false_; };
  return pattern_term(p, is_set(p.count), is_set(p.times), is_set(p.memory), out);
}

namespace {

/// Returns those that have not ended, the default session last.
std::vector<SessionRef> in_order(std::vector<SessionRef> sessions) {
  std::erase_if(sessions, [](const SessionRef& s) { return !s->is_alive.load(std::memory_order_acquire); });
  std::ranges::sort(sessions, {}, [](const SessionRef& s) { return s->number - 1; });
  return sessions;
}

}  // namespace

std::vector<SessionRef> sessions_with_pattern(const FunctionName& f) {
  std::vector<SessionRef> sessions;
  if (const auto all = find_call_patterns(f))
    for (const auto& p : all->of_sessions) sessions.push_back(p->session);
  return in_order(std::move(sessions));
}

std::vector<SessionRef> sessions_with_on_load_pattern() {
  const std::shared_lock guard(patterns_mutex);
  std::vector<SessionRef> sessions;
  for (const auto& [number, pattern] : on_load) sessions.push_back(pattern.session);
  return in_order(std::move(sessions));
}

bool has_breakpoints(Term module) {
  const std::shared_lock guard(patterns_mutex);
  return breakpoints.contains(module);
}

bool has_breakpoint(const FunctionName& f) {
  const auto& all = find_call_patterns(f);
  return all && all->any_breakpoint;
}

bool any_breakpoints() {
  const std::shared_lock guard(patterns_mutex);
  return !breakpoints.empty();
}

bool forget_call_patterns(Term module) {
  const std::unique_lock guard(patterns_mutex);
  note_change();
  for (auto& [session, functions] : functions_of_sessions)
    std::erase_if(functions, [&](const FunctionName& f) { return f.module == module; });
  std::erase_if(patterns, [&](const auto& entry) { return entry.first.module == module; });
  return breakpoints.erase(module) != 0;
}

bool is_on_load_pattern_set() {
  const std::shared_lock guard(patterns_mutex);
  return !on_load.empty();
}

void apply_on_load_patterns(const std::vector<FunctionName>& functions,
                            const std::vector<FunctionName>& exported) {
  const std::unique_lock guard(patterns_mutex);
  for (const auto& [session, pattern] : on_load) {
    const bool global = pattern.traced == CallPattern::Traced::kGlobal;
    for (const FunctionName& f : global ? exported : functions) {
      CallPattern own = pattern;
      if (own.count) own.count = std::make_shared<CallCount>();
      if (own.times) own.times = std::make_shared<CallCosts>();
      if (own.memory) own.memory = std::make_shared<CallCosts>();
      replace(f, std::move(own));
    }
  }
}

}  // namespace vmrun
