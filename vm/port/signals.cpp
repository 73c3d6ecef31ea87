#include "vm/port/signals.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "vm/base/clock.hpp"
#include "vm/base/epoch.hpp"
#include "vm/heap/copy.hpp"
#include "vm/include/erl_driver.h"
#include "vm/message/other_receivers.hpp"
#include "vm/message/signal.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/operations.hpp"
#include "vm/port/task.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/table.hpp"
#include "vm/process/timer_wheel.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun {
namespace {

struct LinkTask final : PortTask {
  explicit LinkTask(Term pid) : PortTask(pid) {}
  void run(Port& p) override {
    if (!p.is_open()) return drop(p.id);
    p.links.insert(from, {});
  }
  void drop(Term port) override { send_link_exit(port, from, atoms::noproc, SignalKind::kLinkExit, false); }
};

struct UnlinkTask final : PortTask {
  explicit UnlinkTask(Term pid) : PortTask(pid) {}
  void run(Port& p) override { p.links.erase(from); }
};

struct MonitorTask final : PortTask {
  MonitorTask(Term watcher, RefKey key, Term name) : PortTask(watcher), key(key), name(name) {}
  void run(Port& p) override {
    if (!p.is_open()) return drop(p.id);
    p.monitored_by.insert(key, {from, name});
  }
  void drop(Term port) override { send_down(from, key, port, name, atoms::noproc); }
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
    copy = new_fragment(copy_size_words(reason, Literals::kCopied));
    copy->message = copy_into(*copy, reason, Literals::kCopied);
  }
  ~ExitTask() override { Fragment::destroy(copy); }
  void run(Port& p) override {
    if (by_link) {
      if (!p.links.erase(from)) return;
      if (copy->message == atoms::normal && from != p.owner_now()) return;
    }
    close_port(p, from, copy->message);
  }
  Fragment* copy;
  bool by_link;
};

struct ProcessDownTask final : PortTask {
  explicit ProcessDownTask(RefKey key) : key(key) {}
  void run(Port& p) override {
    if (!p.driver_monitors.find(key)) return;  // taken back meanwhile
    ErlDrvMonitor monitor{};
    std::memcpy(&monitor, &key, sizeof key);
    call_process_exit(p, &monitor);
    p.driver_monitors.erase(key);
  }
  RefKey key;
};

struct TimeoutTask final : PortTask {
  void run(Port& p) override {
    // Cancelled, or started anew, meanwhile?
    if (!p.timer || !p.timer->fired.load(std::memory_order_acquire)) return;
    cancel_port_timer(p);
    call_timeout(p);
  }
};

struct HaltTask final : PortTask {
  void run(Port& p) override {
    if (p.is_open()) close_port(p, p.id, atoms::killed);  // one that is closing already goes on flushing
  }
};

std::atomic<bool> all_are_closed{false};  // close_all_ports has begun

}  // namespace

void link_port(Term port, Term pid) { queue_task(port, new LinkTask(pid)); }
void unlink_port(Term port, Term pid) { queue_task(port, new UnlinkTask(pid)); }
void monitor_port(Term port, Term watcher, RefKey key, Term name) {
  queue_task(port, new MonitorTask(watcher, key, name));
}
void demonitor_port(Term port, RefKey key) { queue_task(port, new DemonitorTask(key)); }
void send_exit_to_port(Term from, Term port, Term reason, bool by_link) {
  queue_task(port, new ExitTask(from, reason, by_link));
}
void send_down_to_port(Term port, RefKey key) { queue_task(port, new ProcessDownTask(key)); }
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
  Process* q = process_table.find(pid);
  if (!q) return false;
  *key = next_ref_key();
  Fragment* f = new_signal(SignalKind::kMonitor, 3 + kRefWords);
  Term* hp = fragment_alloc(*f, kRefWords);
  const Term ref = make_ref(hp, *key);
  hp = fragment_alloc(*f, 3);
  f->message = make_tuple(hp, p.id, ref);
  p.driver_monitors.insert(*key, pid);
  if (push_signal(*q, f)) return true;
  Fragment::destroy(f);
  p.driver_monitors.erase(*key);
  return false;
}

bool stop_driver_monitor(Port& p, RefKey key) {
  const Term* target = p.driver_monitors.find(key);
  if (!target) return false;
  const Term pid = *target;
  p.driver_monitors.erase(key);
  send_demonitor(pid, key);
  return true;
}

// ---- What those below ask for -------------------------------------------------------------------

namespace {

bool send_and_tell(Process& from, Term port, Term message) {
  return send_to_port(from, port, message) == PortSend::kDone;
}

std::atomic<std::uint32_t>* name_of(Term port) {
  Port* p = port_table.find(port);
  return p ? &p->registered_name : nullptr;
}
bool takes_name(Term port) {
  Port* p = port_table.find(port);
  return p && p->state.load(std::memory_order_seq_cst) == Port::State::kOpen;
}

[[maybe_unused]] const bool filled_in = [] {
  port_signals = {send_and_tell, send_exit_to_port, monitor_port, demonitor_port, send_down_to_port};
  named_ports = {name_of, takes_name};
  other_work.port_timer_fired = port_timer_fired;
  return true;
}();

}  // namespace

}  // namespace vmrun
