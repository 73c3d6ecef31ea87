// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/tracer.hpp"

#include "vm/base/clock.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/fragment.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/big.hpp"
#include "vm/term/external.hpp"
#include "vm/trace/trace_upcalls.hpp"

namespace vmrun {

std::atomic<bool> cpu_stamps{false};

Term make_trace_stamp(Heap& heap, TraceStamp stamp) {
  if (stamp == TraceStamp::kNow) {
    const Word us = cpu_stamps.load(std::memory_order_relaxed) ? process_cpu_ns() / 1000 : unique_now_us();
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

bool tracer_is_there(Term to) {
  return to.is_local_port() ? trace_upcalls.port_is_there(to) : process_table.find(to) != nullptr;
}

bool deliver_trace_event(Term to, Term event) {
  if (to.is_local_port()) return trace_upcalls.send_event_to_port(to, encode_external(event));
  Fragment* f = new_fragment(copy_size_words(event));
  Term* hp = f->words;
  f->message = copy_term(event, hp, f->off_heap);
  f->used_words = static_cast<std::uint32_t>(hp - f->words);
  return trace_upcalls.send_event(to, f);
}

}  // namespace vmrun
