#include "vm/process/exit.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "probes/probes.hpp"
#include "vm/base/allocate.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/gc.hpp"
#include "vm/message/request.hpp"
#include "vm/message/signal.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/table.hpp"
#include "vm/sched/fiber.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

std::vector<void (*)(Process&)>& hooks() {
  static auto& list = *new std::vector<void (*)(Process&)>;
  return list;
}
void (*report_crash)(Process& p, Term reason) = nullptr;

/// Links and monitors in both directions.
void tell_relations(Process& p, Term reason) {
  Extra& extra = *p.extra;
  extra.links.for_each(
      [&](Term other, NoValue) { send_link_exit(p.id, other, reason, SignalKind::kLinkExit, true, &p); });
  extra.monitored_by.for_each(
      [&](const RefKey& key, const MonitorIn& m) { send_down(m.watcher, key, p.id, m.name, reason); });
  extra.monitors.for_each([&](const RefKey& key, const MonitorOut& m) { send_demonitor(m.target, key); });
  for (Fragment* question : extra.deferred) answer_request_dead(question->message);
  extra.suspending.for_each([&](Term other, std::uint32_t times) {
    for (; times; --times)
      ask_async(p, other, RequestKind::kResume, Term::nil(), Term::nil(), Term::nil(), Term::nil());
  });
}

/// The VM is of no use without init. Nobody is left to write a report but this thread.
[[gnu::cold, gnu::noinline]] void system_process_ended(const Process& p, Term reason) {
  std::fprintf(stderr, "System process %s terminated: %s\n", pid_text(p.id).c_str(),
               term_text(reason, 255).c_str());
  request_halt(1, false);
}

void destroy_list(Fragment* f) {
  while (f) {
    Fragment* next = f->next;
    Fragment::destroy(f);
    f = next;
  }
}

}  // namespace

void add_exit_hook(void (*hook)(Process& p)) { hooks().push_back(hook); }
void set_crash_reporter(void (*reporter)(Process& p, Term reason)) { report_crash = reporter; }

void exit_process(Process& p, Term reason, bool report) {
  // Before the name is given up: see registry.cpp.
  p.exiting.store(true, std::memory_order_seq_cst);
  if (probe::process_exit_enabled()) [[unlikely]]
    probe::process_exit(PidText(p.id), TermText<255>(reason));
  if (is_traced(p, kTraceProcs)) [[unlikely]]
    trace_exit(p, reason);
  if (report && report_crash) report_crash(p, reason);
  unregister_process(p);
  if (p.receive_timer) {
    TimerWheel::cancel_receive(p.receive_timer);
    p.receive_timer = nullptr;
  }
  process_table.remove(p);
  Fragment* arrived = p.mailbox.close();
  if (p.extra) {
    tell_relations(p, reason);
    if (p.extra->system_process) [[unlikely]]
      system_process_ended(p, reason);
  }
  for (auto hook : hooks()) hook(p);
  while (arrived) {
    Fragment* next = arrived->next;
    // A link, monitor or question that was under way finds a dead process.
    answer_dead(p.id, arrived);
    arrived = next;
  }
  abandon_fiber(p);
  abandon_dirty_job(p);
  destroy_list(p.mailbox.first);
  p.mailbox.first = nullptr;
  if (p.observed) [[unlikely]] {
    trace_running(p, false, true);
    p.observed = 0;
  }
  delete p.extra;
  p.extra = nullptr;
  if (p.saved_regs && p.saved_regs != p.inline_regs) free_bytes(p.saved_regs);
  p.saved_regs = p.inline_regs;
  p.live_saved = 0;
  free_heap(p.heap);
}

}  // namespace vmrun
