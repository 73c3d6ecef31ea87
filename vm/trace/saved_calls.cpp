// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/saved_calls.hpp"

#include <vector>

#include "vm/process/trace_state.hpp"

namespace vmrun {

/// The latest calls. When there is no more room, the oldest call is at `next`.
struct SavedCalls {
  std::vector<FunctionName> calls;  // an event: a function without a module
  std::size_t room, next = 0;
};

namespace {

SavedCalls* calls_of(const Process& p) {
  return p.extra && p.extra->trace_state ? p.extra->trace_state->saved_calls : nullptr;
}

void save(Process& p, const FunctionName& f) {
  if (is_sensitive(p)) return;
  SavedCalls& saved = *calls_of(p);
  if (saved.calls.size() < saved.room) {
    saved.calls.push_back(f);
    return;
  }
  saved.calls[saved.next] = f;
  saved.next = (saved.next + 1) % saved.room;
}

}  // namespace

unsigned save_calls(Process& p, unsigned most) {
  SavedCalls* const before = calls_of(p);
  const auto room = before ? static_cast<unsigned>(before->room) : 0;
  free_saved_calls(before);
  if (most) {
    trace_state_of(p).saved_calls = new SavedCalls{{}, most};
    p.observed |= kSavesCalls;
  } else if (before) {
    trace_state_of(p).saved_calls = nullptr;
    p.observed &= ~kSavesCalls;
  }
  return room;
}

void save_call(Process& p, const FunctionName& f) { save(p, f); }
void save_event(Process& p, Term what) { save(p, {kNonValue, what}); }

Term saved_calls(const Process& p, Heap& out) {
  const SavedCalls* const saved = calls_of(p);
  if (!saved) return atoms::false_;
  Term list = Term::nil();
  const std::size_t count = saved->calls.size();
  for (std::size_t i = count; i-- > 0;) {
    const FunctionName& f = saved->calls[(saved->next + i) % count];
    Term what = f.function;
    if (f.module) {
      Term* hp = out.alloc(4);
      what = make_tuple(hp, f.module, f.function, Term::small(f.arity));
    }
    Term* hp = out.alloc(2);
    list = make_cons(hp, what, list);
  }
  return list;
}

void free_saved_calls(SavedCalls* calls) { delete calls; }

}  // namespace vmrun
