#include "vm/trace/tracer.hpp"

#include "vm/base/clock.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/fragment.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/big.hpp"

namespace vmrun {

constinit SendTraceEvent send_trace_event = nullptr;

Term make_trace_stamp(Heap& heap, TraceStamp stamp) {
  if (stamp == TraceStamp::kNow) {
    const Word us = unique_now_us();
    Term* hp = heap.alloc(4);
    return make_tuple(hp, Term::small(static_cast<SWord>(us / 1'000'000'000'000)),
                      Term::small(static_cast<SWord>(us / 1'000'000 % 1'000'000)),
                      Term::small(static_cast<SWord>(us % 1'000'000)));
  }
  const Term time = make_integer(heap, static_cast<SWord>(monotonic_ns()));
  if (stamp == TraceStamp::kMonotonic) return time;
  const Term unique = make_integer(heap, Term::kSmallMin + static_cast<SWord>(next_monotonic_integer()));
  Term* hp = heap.alloc(3);
  return make_tuple(hp, time, unique);
}

bool deliver_trace_event(Term pid, Term event) {
  Fragment* f = new_fragment(copy_size_words(event));
  Term* hp = f->words;
  f->message = copy_term(event, hp, f->off_heap);
  f->used_words = static_cast<std::uint32_t>(hp - f->words);
  return send_trace_event(pid, f);
}

}  // namespace vmrun
