// SPDX-License-Identifier: Apache-2.0
#include "vm/port/signals.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "vm/base/clock.hpp"
#include "vm/base/epoch.hpp"
#include "vm/heap/copy.hpp"
#include "vm/include/erl_driver.h"
#include "vm/message/links.hpp"
#include "vm/message/receiver.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/operations.hpp"
#include "vm/port/task.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/timer_wheel.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun {
namespace {

struct LinkTask final : PortTask {
  LinkTask(Term pid, std::uint32_t setting) : PortTask(pid), setting(setting) {}
  void run(Port& p) override {
    if (!p.is_open()) return drop(p.id);
    if (!p.links.contains(from)) trace_port(p.tracing, p.id, atoms::getting_linked, from);
    p.links.set_by_other(from, setting);
  }
  void drop(Term port) override { link_failed(from, port); }
  std::uint32_t setting;
};

struct UnlinkTask final : PortTask {
  UnlinkTask(Term pid, LinkSettings known) : PortTask(pid), known(known) {}
  void run(Port& p) override {
    if (p.tracing.is_on(kTracePorts) && p.links.contains(from)) [[unlikely]]
      trace_port(p.tracing, p.id, atoms::getting_unlinked, from);
    p.links.given_up_by_other(from, known);
  }
  LinkSettings known;
};

struct MonitorTask final : PortTask {
  MonitorTask(Term watcher, RefKey key, Term name) : PortTask(watcher), key(key), name(name) {}
  void run(Port& p) override {
    if (!p.is_open()) return drop(p.id);
    p.monitored_by.insert(key, from, name);
  }
  void drop(Term port) override {
    receiver_of(from).down(
        from, {.key = key, .object = port, .name = name, .reason = atoms::noproc, .of_port = true});
  }
  RefKey key;
  Term name;
};

struct DemonitorTask final : PortTask {
  explicit DemonitorTask(RefKey key) : key(key) {}
  void run(Port& p) override { p.monitored_by.erase(key); }
  RefKey key;
};

struct ExitTask final : PortTask {
  ExitTask(Term from, Term reason, bool by_link) : PortTask(from), by_link(by_link) {
    when_busy = WhenBusy::kRuns;
    copy = new_fragment(copy_size_words(reason, Literals::kCopied));
    copy->message = copy_into(*copy, reason, Literals::kCopied);
  }
  ~ExitTask() override { Fragment::destroy(copy); }
  void run(Port& p) override {
    if (by_link) {
      if (!p.links.erase(from)) return;
    }
    if (p.tracing.is_on(kTraceReceive) && p.is_open()) [[unlikely]]
      tell_port_receive(p.tracing, p.id, from, atoms::close);
    if (by_link && copy->message == atoms::normal && from != p.owner_now()) return;
    close_port(p, from, copy->message);
  }
  Fragment* copy;
  bool by_link;
};

struct ProcessDownTask final : PortTask {
  explicit ProcessDownTask(RefKey key) : key(key) {}
  void run(Port& p) override {
    if (!p.driver_monitors.find(key)) return;  // removed meanwhile
    ErlDrvMonitor monitor{};
    std::memcpy(&monitor, &key, sizeof key);
    call_process_exit(p, &monitor);
    p.driver_monitors.erase(key);
  }
  RefKey key;
};

struct TimeoutTask final : PortTask {
  void run(Port& p) override {
    // It may have been cancelled or restarted meanwhile.
    if (!p.timer || !p.timer->fired.load(std::memory_order_acquire)) return;
    cancel_port_timer(p);
    if (p.tracing.is_on(kTraceReceive)) [[unlikely]]
      tell_of_port(p.tracing, p.id, kTraceReceive, atoms::receive, atoms::timeout);
    call_timeout(p);
  }
  Term kind() const override { return atoms::timeout; }
};

struct HaltTask final : PortTask {
  void run(Port& p) override {
    if (p.is_open()) close_port(p, p.id, atoms::killed);  // a port that is closing already goes on flushing
  }
};

std::atomic<bool> all_are_closed{false};  // close_all_ports has begun

}  // namespace

void port_timer_fired(Term port) { queue_task(port, new TimeoutTask); }
void close_if_all_are(Port& p) {
  std::atomic_thread_fence(
      std::memory_order_seq_cst);  // either this sees the flag, or close_all_ports sees the port
  if (all_are_closed.load(std::memory_order_relaxed)) [[unlikely]]
    queue_task(p, new HaltTask);
}
void close_all_ports() {
  {
    EpochGuard guard;
    all_are_closed.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    port_table.for_each([](Port& p) { queue_task(p, new HaltTask); });
  }
  port_table.wait_until_empty();
}

// ---- Timers -------------------------------------------------------------------------------------

void set_port_timer(Port& p, Word milliseconds) {
  cancel_port_timer(p);
  constexpr Word kLongest = Word{1} << 48;  // more would not fit behind the present
  const Word now = monotonic_tick(), wait = std::min(milliseconds, kLongest);
  p.timer = this_scheduler()->timers.start_receive(p.id, now, now + wait + (wait ? 1 : 0));
}

void cancel_port_timer(Port& p) {
  if (!p.timer) return;
  TimerWheel::cancel_receive(p.timer);
  p.timer = nullptr;
}

SWord read_port_timer(const Port& p) {
  if (!p.timer || p.timer->fired.load(std::memory_order_acquire)) return -1;
  const Word now = monotonic_tick();
  return p.timer->tick > now ? static_cast<SWord>(p.timer->tick - now) : 0;
}

// ---- Processes that drivers monitor -------------------------------------------------------------

bool start_driver_monitor(Port& p, Term pid, RefKey* key) {
  *key = next_ref_key();
  p.driver_monitors.insert(*key, pid);
  if (receiver_of(pid).monitor(pid, p.id, *key, Term::nil()) == Reached::kYes) return true;
  p.driver_monitors.erase(*key);
  return false;
}

bool stop_driver_monitor(Port& p, RefKey key) {
  const Term* target = p.driver_monitors.find(key);
  if (!target) return false;
  const Term pid = *target;
  p.driver_monitors.erase(key);
  receiver_of(pid).demonitor(pid, p.id, key);
  return true;
}

// ---- Interfaces for lower layers ----------------------------------------------------------------

namespace {

/// Ports as receivers. Each function becomes a task of the port; a port that is gone answers as
/// dead receivers do.
class PortReceiver final : public Receiver {
 public:
  SendResult send(Process& from, const Destination& to, Term message, SendOptions options) override {
    return send_to_port(from, to.who, message, options.nosuspend);
  }
  Reached link(Term port, Term from, std::uint32_t setting) override {
    Port* p = port_table.find_open(port);
    if (!p) return Reached::kNobody;
    run_or_queue(*p, new LinkTask(from, setting), atoms::link);
    return Reached::kYes;
  }
  void unlink(Term port, Term from, LinkSettings known) override {
    if (Port* p = port_table.find(port)) run_or_queue(*p, new UnlinkTask(from, known), atoms::unlink);
  }
  bool exit(Term port, const ExitSignal& signal) override {
    auto* task = new ExitTask(signal.from, signal.reason, signal.by_link);
    Port* p = signal.by_link ? nullptr : port_table.find(port);
    if (p) run_or_queue(*p, task, atoms::close);
    else queue_task(port, task);
    return true;
  }
  Reached monitor(Term port, Term watcher, RefKey key, Term name) override {
    queue_task(port, new MonitorTask(watcher, key, name));
    return Reached::kYes;
  }
  void demonitor(Term port, Term, RefKey key) override { queue_task(port, new DemonitorTask(key)); }
  void down(Term port, const DownSignal& signal) override {
    queue_task(port, new ProcessDownTask(signal.key));
  }
  bool is_there(Term port) override { return port_table.find_open(port) != nullptr; }
};
constinit PortReceiver receiver;

}  // namespace

Receiver& port_receiver() { return receiver; }

std::atomic<std::uint32_t>* port_name(Term port) {
  Port* p = port_table.find(port);
  return p ? &p->registered_name : nullptr;
}
bool port_takes_name(Term port) {
  Port* p = port_table.find(port);
  return p && p->state.load(std::memory_order_seq_cst) == Port::State::kOpen;
}

}  // namespace vmrun
