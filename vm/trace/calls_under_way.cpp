// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/calls_under_way.hpp"

#include <limits>
#include <mutex>
#include <utility>

#include "vm/process/as_new.hpp"
#include "vm/trace/trace_upcalls.hpp"

namespace vmrun {

/// The calls of all processes, so that these can be asked to drop them.
struct CallsOfAll {
  std::mutex lock;
  CallsUnderWay* first = nullptr;

  void add(CallsUnderWay& calls) {
    const std::lock_guard guard(lock);
    calls.next_ = first;
    calls.link_ = &first;
    if (first) first->link_ = &calls.next_;
    first = &calls;
  }
  void remove(CallsUnderWay& calls) {
    const std::lock_guard guard(lock);
    *calls.link_ = calls.next_;
    if (calls.next_) calls.next_->link_ = calls.link_;
  }
  std::vector<Term> processes() {
    const std::lock_guard guard(lock);
    std::vector<Term> all;
    for (const CallsUnderWay* calls = first; calls; calls = calls->next_) all.push_back(calls->process_);
    return all;
  }
};

namespace {

CallsOfAll& calls_of_all() {
  static auto& all = *new CallsOfAll;
  return all;
}

bool are_alike(const CallUnderWay& a, const CallUnderWay& b) {
  return a.depth == b.depth && a.function == b.function && a.watch == b.watch && !a.is_built_in &&
         !b.is_built_in;
}

/// Counts b with a. Returns false if the sum is too large.
bool count_with(CallUnderWay& a, const CallUnderWay& b) {
  if (a.times > std::numeric_limits<std::uint32_t>::max() - b.times) return false;
  a.times += b.times;
  return true;
}

/// Up to this many records of one depth keep the order of their calls.
constexpr std::size_t kOrdered = 64;
/// Room for this many records is kept while functions are watched.
constexpr std::size_t kKept = 64;

}  // namespace

CallsUnderWay::CallsUnderWay(const Process& p) : process_(p.id) { calls_of_all().add(*this); }
CallsUnderWay::~CallsUnderWay() { calls_of_all().remove(*this); }

void CallsUnderWay::begin(const CallUnderWay& call) {
  if (!calls_.empty() && are_alike(calls_.back(), call) && count_with(calls_.back(), call)) return;
  if (calls_.size() > kOrdered && calls_[calls_.size() - kOrdered].depth == call.depth)
    for (auto c = calls_.rbegin(); c != calls_.rend() && c->depth == call.depth; ++c)
      if (are_alike(*c, call) && count_with(*c, call)) return;
  calls_.push_back(call);
  calls_changed();
}

void CallsUnderWay::end_newest(std::uint32_t times) {
  if ((calls_.back().times -= times) == 0) calls_.pop_back();
  if (calls_.empty() && calls_.capacity() > kKept) calls_.shrink_to_fit();
  calls_changed();
}

void CallsUnderWay::built_in_is_over(Word depth) {
  CallUnderWay& newest = calls_.back();
  newest.is_built_in = false;
  newest.depth = depth;
  if (calls_.size() > 1 && are_alike(calls_.end()[-2], newest) && count_with(calls_.end()[-2], newest))
    calls_.pop_back();
  calls_changed();
}

void CallsUnderWay::forget_unawaited() {
  // Calls of one function usually stand together.
  std::pair<std::uint32_t, std::uint32_t> asked;
  bool is_known = false, is_awaited = false;
  std::erase_if(calls_, [&](const CallUnderWay& call) {
    const std::pair about{call.function, call.watch};
    if (!std::exchange(is_known, true) || asked != about)
      is_awaited = trace_upcalls.is_end_awaited(call.function, call.watch);
    asked = about;
    return !is_awaited;
  });
  calls_.shrink_to_fit();
  calls_changed();
}

CallsUnderWay& calls_of(Process& p) {
  TraceState& c = trace_state_of(p);
  if (!c.calls) c.calls = new CallsUnderWay(p);
  return *c.calls;
}

void end_newest_call(Process& p, std::uint32_t times) {
  CallsUnderWay& calls = known_calls_of(p);
  calls.end_newest(times);
  if (calls.empty()) p.observed &= ~kCallsUnderWay;
}

void drop_calls(Process& p) {
  TraceState* c = p.extra ? p.extra->trace_state : nullptr;
  if (!c) return;
  p.observed &= ~kCallsUnderWay;
  delete std::exchange(c->calls, nullptr);
}

// ---- Dropping calls -----------------------------------------------------------------------------

std::vector<Term> processes_with_calls() { return calls_of_all().processes(); }

void forget_unawaited_calls(Process& p) {
  TraceState* c = p.extra ? p.extra->trace_state : nullptr;
  if (!c) return;
  if (c->calls) {
    c->calls->forget_unawaited();
    if (c->calls->empty()) drop_calls(p);
  }
  if (!is_as_new(*c)) return;
  p.extra->trace_state = nullptr;
  delete c;
}

}  // namespace vmrun
