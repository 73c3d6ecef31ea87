// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>

#include "vm/message/deliver.hpp"
#include "vm/message/receiver.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/port.hpp"
#include "vm/port/signals.hpp"
#include "vm/port/task.hpp"
#include "vm/port/term_input.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/timer_wheel.hpp"
#include "vm/trace/system_monitor.hpp"

/// How a port ends (closing rules: docs/internals/ports.md), and when it makes senders wait.
namespace vmrun {
namespace {

// The traffic of ports that are gone. The lock is taken once in a port's life.
SpinLock gone_traffic_lock;
PortTraffic gone_traffic{0, 0};

/// Wakes the waiting processes. The probe reports each one before it can run.
void let_go(Port& p, std::vector<Term>& waiters) {
  std::sort(waiters.begin(), waiters.end(), [](Term a, Term b) { return a.raw() < b.raw(); });
  waiters.erase(std::unique(waiters.begin(), waiters.end()), waiters.end());
  for (const Term pid : waiters) {
    Process* q = process_table.find(pid);
    if (!q) continue;
    if (probe::process_port_unblocked_enabled()) [[unlikely]]
      probe::fire_process_port_unblocked(pid, p.id);
    wake_up(*q);
  }
}

bool takes_commands(const Port& p) {
  return !p.is_open() ||
         (!p.busy.load(std::memory_order_relaxed) && !p.inbox_full.load(std::memory_order_relaxed));
}

/// Called after a change that may let waiting processes go on.
void let_waiters_go(Port& p) {
  std::vector<Term> waiters;
  {
    std::lock_guard guard(p.waiters_lock);
    if (takes_commands(p)) waiters.swap(p.waiters);
  }
  let_go(p, waiters);
}

void tell_relations(Port& p, Term reason) {
  p.links.for_each([&](Term pid) {
    receiver_of(pid).exit(pid, {.from = p.id, .reason = reason, .by_link = true, .fires_probe = false});
  });
  p.monitored_by.for_each([&](const RefKey& key, const MonitorIn& m) {
    receiver_of(m.watcher).down(
        m.watcher, {.key = key, .object = p.id, .name = m.name, .reason = reason, .of_port = true});
  });
}

void drop_driver_monitors(Port& p) {
  std::vector<RefKey> keys;
  p.driver_monitors.for_each([&](const RefKey& key, Term) { keys.push_back(key); });
  for (const RefKey& key : keys) stop_driver_monitor(p, key);
}

/// Ends the port: nothing of the driver's is needed any more.
void terminate(Port& p) {
  cancel_port_timer(p);
  if (p.peer) (void)p.peer->is_closing(p, true);
  // Before stop: what the driver causes there (an async job that is done at once, a failure) finds
  // that the port is gone.
  p.state.store(Port::State::kClosed, std::memory_order_release);
  call_stop(p);
  p.says_last = false;
  if (p.notify_closed && p.tracing.is_on(kTraceSend)) [[unlikely]]
    tell_port_send(p.tracing, p.id, p.owner_now(), atoms::closed);
  remove_port(p);
  let_waiters_go(p);
  if (p.notify_closed) deliver_news(p, atoms::closed);
}

}  // namespace

// ---- Busy ---------------------------------------------------------------------------------------

bool wait_until_not_busy(Port& p, Process& sender) {
  {
    std::lock_guard guard(p.waiters_lock);
    if (takes_commands(p)) return false;
    p.waiters.push_back(sender.id);
  }
  monitor_busy_port(sender, p.id);
  return true;
}

void set_port_busy(Port& p, bool busy) {
  {
    std::lock_guard guard(p.waiters_lock);
    if (p.busy.load(std::memory_order_relaxed) == busy) return;
    p.busy.store(busy, std::memory_order_release);
    // A process that sees the flag takes the lock before it waits, so the probe has fired by then.
    if (busy) {
      if (probe::port_busy_enabled()) [[unlikely]]
        probe::fire_port_busy(p.id);
      return;
    }
    if (probe::port_not_busy_enabled()) [[unlikely]]
      probe::fire_port_not_busy(p.id);
  }
  if (p.peer) p.peer->not_busy(p);
  let_waiters_go(p);
}

void set_inbox_full(Port& p, bool full) {
  if (p.inbox_full.exchange(full, std::memory_order_acq_rel) != full && !full) let_waiters_go(p);
}

// ---- Closing ------------------------------------------------------------------------------------

void close_port(Port& p, Term who, Term reason) {
  switch (p.state.load(std::memory_order_relaxed)) {
    case Port::State::kClosed: return;
    case Port::State::kClosing:
      if (who == p.id || reason == atoms::kill) terminate(p);
      return;
    case Port::State::kStarting:
      p.state.store(Port::State::kClosed, std::memory_order_release);  // open_port takes it from here
      return;
    case Port::State::kOpen: break;
  }
  const Term reported = reason == atoms::kill ? atoms::killed : reason;
  if (probe::port_exit_enabled()) [[unlikely]]
    probe::fire_port_exit(who, p.id, p.name.c_str(), reported);
  trace_port(p.tracing, p.id, atoms::closed, reason);
  set_port_busy(p, false);
  p.state.store(Port::State::kClosing,
                std::memory_order_seq_cst);  // before the name is given up: see registry.cpp
  let_waiters_go(p);
  if (const std::uint32_t name = p.registered_name.load(std::memory_order_relaxed))
    trace_port(p.tracing, p.id, atoms::unregister, Term::atom(name - 1));
  give_up_name(p.registered_name);
  if (p.peer) p.peer->closing(p, reported);
  tell_relations(p, reported);
  p.links.clear();
  p.monitored_by.clear();
  const bool flushes = reason != atoms::kill && !p.queue.empty();
  if (flushes) {
    call_flush(p);
    if (p.state.load(std::memory_order_relaxed) == Port::State::kClosed || !p.queue.empty())
      return;  // the driver goes on sending
  }
  if (p.peer && p.peer->is_closing(p, false)) return;
  p.says_last = !flushes;
  terminate(p);
}

namespace {

void add_traffic(PortTraffic& sum, const Port& p) {
  if (p.driver->is_for_files()) return;
  sum.input += p.input_bytes.load(std::memory_order_relaxed);
  sum.output += p.output_bytes.load(std::memory_order_relaxed);
}

}  // namespace

void remove_port(Port& p) {
  cancel_port_timer(p);
  drop_driver_monitors(p);
  p.leaves_table = true;
  {
    std::lock_guard guard(gone_traffic_lock);
    add_traffic(gone_traffic, p);
    port_table.remove(p);
  }
  close_inbox(p);
  if (p.data_lock)
    release_data_lock(p);  // a thread may use the queue; the next that locks it finds the inbox closed
  else p.queue.clear();
}

PortTraffic port_traffic() {
  // A port counts either here or in the table: it changes sides under the lock.
  std::lock_guard guard(gone_traffic_lock);
  PortTraffic sum = gone_traffic;
  sum.input += term_input();
  port_table.for_each([&](const Port& p) { add_traffic(sum, p); });
  return sum;
}

void finish_closing(Port& p) {
  if (p.state.load(std::memory_order_relaxed) == Port::State::kClosing && p.queue.empty() &&
      (!p.peer || !p.peer->is_closing(p, false)))
    terminate(p);
}

void close_at_eof(Port& p) {
  deliver_rest_of_line(p);
  if (p.state.load(std::memory_order_relaxed) == Port::State::kClosing) return terminate(p);
  if (!p.send_eof) return fail_port(p, atoms::normal);
  deliver_news(p, atoms::eof);
}

void fail_port(Port& p, Term reason) {
  p.queue.clear();
  close_port(p, p.id, reason);
}

}  // namespace vmrun
