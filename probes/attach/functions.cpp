// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/functions.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "probes/attach/firing.hpp"
#include "probes/engine/pattern.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/probes/arguments.hpp"
#include "vm/process/process.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::attach {
namespace {

constexpr std::size_t kMostFilters = 1024;
constexpr std::uint32_t kMostFunctions = 1u << 16;  // that all filters know together

bool matches(const std::string& pattern, Term atom) { return d::matches(pattern, atom_text(atom)); }
bool matches(const d::FunctionPattern& pattern, Term function, unsigned arity) {
  return (pattern.arity < 0 || static_cast<unsigned>(pattern.arity) == arity) &&
         matches(pattern.function, function);
}

using FunctionKey = std::tuple<Word, Word, unsigned>;  // module, name, arity

struct Filter {
  d::FunctionPattern pattern;
  d::FunctionEvent event = d::FunctionEvent::kEntry;
  bool enabled = false;
  // The first watch in which it takes part (function_probes.hpp), or kNever while it does not.
  static constexpr std::uint32_t kNever = ~0u;
  std::atomic<std::uint32_t> since{kNever};
  // Functions for which no number was left. `changing` protects it.
  std::set<FunctionKey> unwatched;
  // A bit for each function. It is set before the function fires for the first time.
  std::array<std::atomic<std::uint64_t>, kMostFunctions / 64> known{};

  bool knows(std::uint32_t function) const {
    return known[function / 64].load(std::memory_order_relaxed) >> function % 64 & 1;
  }
  /// Whether it wants the events of a call of the function that began during that watch.
  bool wants(std::uint32_t function, std::uint32_t watch) const {
    return since.load(std::memory_order_relaxed) <= watch && knows(function);
  }
  void learn(std::uint32_t function) {
    known[function / 64].fetch_or(std::uint64_t{1} << function % 64, std::memory_order_relaxed);
  }
};

std::atomic<Filter*> filters[kMostFilters];

/// The functions that the filters know, by number. A number that is given back is the last to be
/// used again.
class Numbers {
 public:
  /// Returns false when no number is left.
  bool number_of(Term module, Term function, unsigned arity, std::uint32_t& number) {
    const FunctionKey key{module.raw(), function.raw(), arity};
    if (const auto it = by_name_.find(key); it != by_name_.end()) return number = it->second, true;
    if (!names_) names_ = std::make_unique<probe::FunctionArgument[]>(kMostFunctions);
    const std::uint32_t used = used_.load(std::memory_order_relaxed);
    if (used < kMostFunctions) number = used;
    else if (spare_.empty()) return false;
    else {
      number = spare_.front();
      spare_.pop_front();
    }
    by_name_[key] = number;
    names_[number] = {module, function, arity};
    if (number == used) used_.store(used + 1, std::memory_order_release);
    return true;
  }
  bool has(std::uint32_t number) const { return number < used_.load(std::memory_order_acquire); }
  const probe::FunctionArgument& name(std::uint32_t number) const { return names_[number]; }
  template <class IsKnown>
  void forget_unknown(IsKnown is_known) {
    std::erase_if(by_name_, [&](const auto& entry) {
      if (is_known(entry.second)) return false;
      spare_.push_back(entry.second);
      return true;
    });
  }

 private:
  std::map<FunctionKey, std::uint32_t> by_name_;
  std::unique_ptr<probe::FunctionArgument[]> names_;
  std::deque<std::uint32_t> spare_;
  std::atomic<std::uint32_t> used_{0};
};

// This lock protects what the controlling thread changes and threads that load code read. Firing
// threads need no lock, because what they read was there before they could fire. It is taken after
// the lock of function_probes.cpp.
std::mutex changing;
Numbers& numbers() {
  static auto& n = *new Numbers;
  return n;
}

constexpr d::ArgumentKind kKinds[] = {d::ArgumentKind::kPid, d::ArgumentKind::kFunction,
                                      d::ArgumentKind::kInt64};
// The words of a firing that follow its arguments.
enum : unsigned { kTerms = std::size(kKinds), kTermCount, kPlace, kWatch, kWords };
constexpr d::FunctionEvent kEvents[] = {d::FunctionEvent::kEntry, d::FunctionEvent::kReturn,
                                        d::FunctionEvent::kException};  // by FunctionFiring::Event

class Watcher final : public FunctionWatcher {
 public:
  bool begin_module(Term name) override {
    const std::lock_guard lock(changing);
    module_ = name;
    of_module_.clear();
    for (auto& place : filters)
      if (Filter* f = place.load(std::memory_order_relaxed);
          f && f->enabled && matches(f->pattern.module, name))
        of_module_.push_back(f);
    return !of_module_.empty();
  }

  FunctionWatch watch(Term function, unsigned arity) override {
    const std::lock_guard lock(changing);
    FunctionWatch watch;
    for (Filter* f : of_module_) {
      if (!f->enabled || !matches(f->pattern, function, arity)) continue;
      if (!numbers().number_of(module_, function, arity, watch.function)) {
        if (f->unwatched.size() < kMostFunctions) f->unwatched.insert({module_.raw(), function.raw(), arity});
        continue;
      }
      f->learn(watch.function);
      (f->event == d::FunctionEvent::kEntry ? watch.entry : watch.end) = true;
    }
    return watch;
  }

  void fire(const FunctionFiring& f) override {
    const std::uint64_t words[kWords] = {
        f.process.raw(), reinterpret_cast<std::uintptr_t>(&numbers().name(f.function)),
        f.depth,         reinterpret_cast<std::uintptr_t>(f.terms),
        f.count,         reinterpret_cast<std::uintptr_t>(f.inside),
        f.watch};
    const auto event = kEvents[static_cast<unsigned>(f.event)];
    fire_at({d::function_probe(f.function, event), std::size(kKinds), words, kKinds});
  }

  bool awaits_end(std::uint32_t function, std::uint32_t watch) override {
    const std::lock_guard lock(changing);
    return std::ranges::any_of(filters, [&](const std::atomic<Filter*>& place) {
      const Filter* f = place.load(std::memory_order_relaxed);
      return f && f->event != d::FunctionEvent::kEntry && f->wants(function, watch);
    });
  }

 private:
  Term module_;
  std::vector<Filter*> of_module_;
};

void start_watching() {
  static Watcher& watcher = *new Watcher;
  set_function_watcher(watcher);
}

/// Returns false when there are more than `most`.
bool each_match(const d::FunctionPattern& pattern, std::size_t most, std::set<FunctionKey>& found) {
  bool all = true;
  each_probed_function([&](Term module) { return all && matches(pattern.module, module); },
                       [&](Term module, Term function, unsigned arity) {
                         if (!matches(pattern, function, arity)) return;
                         const FunctionKey key{module.raw(), function.raw(), arity};
                         if (found.size() < most) found.insert(key);
                         else all &= found.contains(key);  // it may be in another version of the module
                       });
  return all;
}

Filter* filter(std::uint32_t number) { return filters[number - 1].load(std::memory_order_acquire); }

/// The caller holds `changing`.
void forget_unknown_numbers() {
  numbers().forget_unknown([](std::uint32_t function) {
    return std::ranges::any_of(filters, [&](const std::atomic<Filter*>& f) {
      const Filter* there = f.load(std::memory_order_relaxed);
      return there && there->knows(function);
    });
  });
}

d::FunctionName named(Term module, Term function, unsigned arity) {
  return {atom_text(module), atom_text(function), arity};
}

}  // namespace

std::uint32_t add_function_filter(const d::FunctionPattern& pattern, d::FunctionEvent event,
                                  std::string& why) {
  start_watching();
  std::set<FunctionKey> found;
  if (!each_match(pattern, kMostFunctions, found)) {
    why = fmt::format("{}:{} names more than {} functions", pattern.module, pattern.function, kMostFunctions);
    return 0;
  }
  const std::lock_guard lock(changing);
  std::uint32_t number = 0;
  for (const auto& [module, function, arity] : found)
    if (!numbers().number_of(Term::from_raw(module), Term::from_raw(function), arity, number)) {
      why = fmt::format("{}:{} names {} functions: with those watched already more than {}", pattern.module,
                        pattern.function, found.size(), kMostFunctions);
      forget_unknown_numbers();
      return 0;
    }
  for (std::uint32_t i = 0; i < kMostFilters; ++i) {
    if (filters[i].load(std::memory_order_relaxed)) continue;
    auto* made = new Filter;
    made->pattern = pattern;
    made->event = event;
    for (const auto& [module, function, arity] : found)
      if (numbers().number_of(Term::from_raw(module), Term::from_raw(function), arity, number))
        made->learn(number);
    filters[i].store(made, std::memory_order_release);
    return i + 1;
  }
  why = fmt::format("more than {} patterns of functions", kMostFilters);
  forget_unknown_numbers();
  return 0;
}

void enable_function_filters(const std::vector<std::uint32_t>& which, bool on) {
  bool changes = false;
  {
    const std::lock_guard lock(changing);
    for (const auto n : which) {
      if (std::exchange(filter(n)->enabled, on) == on) continue;
      changes = true;
      filter(n)->since.store(Filter::kNever, std::memory_order_relaxed);
    }
  }
  if (!changes) return;
  refresh_function_probes();
  if (!on) forget_unawaited_calls();
}

void start_function_filters(const std::vector<std::uint32_t>& which) {
  if (which.empty()) return;
  const std::lock_guard lock(changing);
  const std::uint32_t watch = newest_watch() + 1;
  for (const auto n : which) filter(n)->since.store(watch, std::memory_order_relaxed);
  begin_watch(watch);
}

void remove_function_filters(const std::vector<std::uint32_t>& which) {
  if (which.empty()) return;
  enable_function_filters(which, false);
  std::vector<std::unique_ptr<Filter>> gone;
  {
    const std::lock_guard lock(changing);
    for (const auto n : which) gone.emplace_back(filters[n - 1].exchange(nullptr, std::memory_order_seq_cst));
    forget_unknown_numbers();
  }
  wait_for_firings();  // firings look at filters
}

std::uint64_t untraced_functions(const std::vector<std::uint32_t>& which) {
  const std::lock_guard lock(changing);
  std::set<FunctionKey> all;
  for (const auto n : which) all.insert(filter(n)->unwatched.begin(), filter(n)->unwatched.end());
  return all.size();
}

std::vector<d::FunctionName> matching_functions(const d::FunctionPattern& pattern, std::size_t most) {
  std::set<FunctionKey> found;
  each_match(pattern, most, found);
  std::vector<d::FunctionName> out;
  for (const auto& [module, function, arity] : found)
    out.push_back(named(Term::from_raw(module), Term::from_raw(function), arity));
  std::ranges::sort(out, {},
                    [](const d::FunctionName& f) { return std::tie(f.module, f.function, f.arity); });
  return out;
}

bool function_filter_passes(std::uint32_t number, const d::Firing& firing) {
  const Filter* f = filter(number);
  return f &&
         f->wants(d::function_of_probe(firing.probe), static_cast<std::uint32_t>(firing.arguments[kWatch]));
}

d::FunctionName function_name(std::uint32_t function) {
  if (!numbers().has(function)) return {};
  const probe::FunctionArgument& f = numbers().name(function);
  return named(f.module, f.function, f.arity);
}

bool function_term(const d::Firing& f, unsigned n, std::uint64_t& term) {
  if (n >= f.arguments[kTermCount]) return false;
  term = reinterpret_cast<const Term*>(f.arguments[kTerms])[n].raw();
  return true;
}

const std::uint64_t* function_place(const d::Firing& f) {
  return reinterpret_cast<const std::uint64_t*>(f.arguments[kPlace]);
}

}  // namespace vmrun::attach
