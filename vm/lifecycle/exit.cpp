// SPDX-License-Identifier: Apache-2.0
#include "vm/lifecycle/exit.hpp"
#include "vm/base/halt.hpp"
#include "vm/base/small_limits.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "vm/base/allocate.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/lifecycle_upcalls.hpp"
#include "vm/message/abandoned_spawns.hpp"
#include "vm/message/deferred_decoding.hpp"
#include "vm/message/handle.hpp"
#include "vm/message/receiver.hpp"
#include "vm/message/request.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/dirty_state.hpp"
#include "vm/process/fiber.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/sampled.hpp"
#include "vm/process/timer_wheel.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

namespace {

constexpr int kPiece = usual_or_small<int>(1000, 2);  // signals sent, or messages freed, at a time

/// Tells links and monitors in both directions, oldest first. Returns false if there are more.
bool tell_relations(Process& p, int* left) {
  Extra& extra = *p.extra;
  if (extra.holds_flags) [[unlikely]] {  // before any process hears that it has ended
    lifecycle_upcalls.release_flags(p);
    extra.holds_flags = false;
  }
  const Term reason = p.exit_reason;
  const auto exit = [&](Term other) {
    receiver_of(other).exit(other, {.from = p.id, .reason = reason, .by_link = true, .carrier = &p});
  };
  while (*left > 0 && extra.links.take_oldest(exit)) --*left;
  const auto down = [&](const RefKey& key, const MonitorIn& m) {
    receiver_of(m.watcher).down(m.watcher, {.key = key, .object = p.id, .name = m.name, .reason = reason});
  };
  while (*left > 0 && extra.monitored_by.take_oldest(down)) --*left;
  decltype(extra.monitors)::Entry out;
  for (; *left > 0 && extra.monitors.take_oldest(&out); --*left) {
    const Term target = out.value.target;
    receiver_of(target).demonitor(target, p.id, out.key);
    out.value.release();
  }
  return *left > 0;
}

void answer_questions(Process& p) {
  Extra& extra = *p.extra;
  if (extra.until_collected) [[unlikely]]
    defer_until_collected(extra);
  for (Fragment* question : std::exchange(extra.deferred, {})) {
    answer_request_dead(question->message);
    Fragment::destroy(question);
  }
  extra.suspending.for_each([&](Term other, const Suspending& suspending) {
    for (std::uint32_t times = suspending.times; times; --times)
      ask_async(p, other, RequestKind::kResume, Term::nil(), Term::nil(), Term::nil(), Term::nil());
  });
  extra.suspending.clear();
}

/// Without init the machine is useless, and no process is left to write a report.
[[gnu::cold, gnu::noinline]] void system_process_ended(const Process& p, Term reason) {
  request_halt({.status = 1,
                .dump = true,
                .slogan = "System process " + pid_text(p.id) + " terminated: " + term_text(reason, 255)});
}

/// Releases what the process has elsewhere, its tables for example, and then its name. So a process
/// that finds the name free finds all that gone too. For the order relative to `exiting` see
/// registry.cpp. Returns false if not all of it is done.
[[gnu::always_inline]] inline bool let_go(Process& p) {
  const LifecycleUpcalls& up = lifecycle_upcalls;
  if (!up.leave_distribution(p) || (up.give_up_tables && !up.give_up_tables(p)) || !up.end_connections(p))
    return false;
  if (p.registered_name.load(std::memory_order_seq_cst)) [[unlikely]]
    give_up_name(p.registered_name);
  return true;
}

/// A process that has a name lets go before other processes find that it is gone, unless that takes
/// several pieces. It lets go again afterwards, since other processes may give it something until
/// then.
[[gnu::cold, gnu::noinline]] void let_go_early(Process& p) { (void)let_go(p); }

/// Returns false when there are more.
bool give_back_timers(Process& p, int* left) {
  for (;;) {
    if (p.extra && p.extra->timers && !p.extra->timers->give_back(p.id, left)) return false;
    std::unique_ptr<OwnTimers> more = take_timers_of_others(p.id);
    if (!more) return true;
    extra_of(p).timers = std::move(more);
  }
}

/// Links the deferred fragments, and those that arrived behind the signal that ends the process, so
/// that they are answered.
[[gnu::noinline]] void link_what_was_kept(Process& p) {
  drop_undecodable(p);
  for (Fragment* first : {take_deferred_decoding(p), take_left_to_end(p)})
    for (Fragment *f = first, *next; f; f = next) {
      next = f->next;
      p.mailbox.link(f);
    }
}

}  // namespace

void exit_process(Process& p, Term reason, bool report) {
  deliver_waiting_samples(p);
  // Before the name is given up: see registry.cpp.
  p.exiting.store(true, std::memory_order_seq_cst);
  if (probe::process_exit_enabled()) [[unlikely]]
    probe::fire_process_exit(p.id, reason);
  if (is_traced(p, kTraceProcs)) [[unlikely]]
    trace_exit(p, reason);
  if (report && lifecycle_upcalls.report_crash) lifecycle_upcalls.report_crash(p, reason);
  if (p.receive_timer) {
    TimerWheel::cancel_receive(p.receive_timer);
    p.receive_timer = nullptr;
  }
  if (is_with_dirty(p)) [[unlikely]] {  // no request can find it any more
    p.extra->holds_reclaim = true;
    process_upcalls.hold_reclaim();
  }
  abandon_spawns_at_exit(p, reason);
  // A thread that finds no such process may register another one by its name.
  if (p.registered_name.load(std::memory_order_relaxed)) [[unlikely]]
    let_go_early(p);
  process_table.remove(p);
  // What had arrived is answered as by a dead process, after the messages before it are gone.
  if (p.extra) link_what_was_kept(p);
  *p.mailbox.last = p.mailbox.close();
  p.exit_reason = reason;
  abandon_fiber(p);
  if (p.extra && !is_with_dirty(p)) abandon_dirty_job(p);
  end_more(p);
}

/// Until the last piece is done, p.extra or a message in the mailbox remains: see is_ending.
void end_more(Process& p) {
  if (!let_go(p)) return (void)extra_of(p);
  int left = kPiece;
  if (p.extra && !tell_relations(p, &left)) return;
  if (!give_back_timers(p, &left)) return;
  Fragment*& first = inner_queue(p);
  for (; first && left > 0; --left) {
    Fragment* next = first->next;
    answer_dead(p.id, first);
    first = next;
  }
  if (first) return;
  if (p.extra) {
    answer_questions(p);
    if (is_with_dirty(p)) [[unlikely]]
      return (void)(p.extra->only_native_left = true);
    if (p.extra->holds_reclaim) [[unlikely]]
      process_upcalls.release_reclaim();
    if (p.extra->system_process) [[unlikely]]
      system_process_ended(p, p.exit_reason);
  }
  if (p.observed) [[unlikely]] {
    trace_exiting(p, atoms::out_exited);
    p.observed = 0;
  }
  if (p.extra) {
    abandon_dirty_job(p);
    delete p.extra;
    p.extra = nullptr;
  }
  if (p.saved_regs && p.saved_regs != p.inline_regs) free_bytes(p.saved_regs);
  p.saved_regs = p.inline_regs;
  p.live_saved = 0;
  free_heap(p.heap);
}

}  // namespace vmrun
