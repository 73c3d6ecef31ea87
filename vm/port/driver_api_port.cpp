// SPDX-License-Identifier: Apache-2.0
// Functions for drivers: the port itself, its timer, locks, monitors; the list of drivers.

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "vm/message/links.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/select.hpp"
#include "vm/port/signals.hpp"
#include "vm/port/task.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun {

struct PortDataLock {
  std::mutex mutex;
  std::atomic<SWord> references{1};
  Port* port;  // its memory stays as long as the lock, since other threads use the queue
};

void release_data_lock(Port& p) {
  PortDataLock* lock = std::exchange(p.data_lock, nullptr);
  {
    std::lock_guard guard(lock->mutex);
    p.queue.clear();
  }
  driver_pdl_dec_refc(reinterpret_cast<ErlDrvPDL>(lock));
}

}  // namespace vmrun

using namespace vmrun;

namespace {

PortDataLock& lock_of(ErlDrvPDL lock) { return *reinterpret_cast<PortDataLock*>(lock); }

/// An ErlDrvMonitor begins with the key of the monitor's reference.
RefKey monitor_key(const ErlDrvMonitor* monitor) {
  RefKey key;
  std::memcpy(static_cast<void*>(&key), monitor, sizeof key);
  return key;
}

}  // namespace

extern "C" {

// ---- Failures -----------------------------------------------------------------------------------

int driver_failure_eof(ErlDrvPort port) {
  if (!port) return -1;
  close_at_eof(port_of(port));
  return 0;
}

int driver_failure_atom(ErlDrvPort port, char* string) {
  if (!port) return -1;
  fail_port(port_of(port), text_atom(string));
  return 0;
}

int driver_failure_posix(ErlDrvPort port, int error) {
  return driver_failure_atom(port, erl_errno_id(error));
}

/// 0 is not a failure but the end of the file, as in OTP.
int driver_failure(ErlDrvPort port, int error) {
  if (error == 0) return driver_failure_eof(port);
  if (!port) return -1;
  fail_port(port_of(port), Term::small(error));
  return 0;
}

/// The owner is not told, since its link is removed first.
int driver_exit(ErlDrvPort port, int error) {
  if (!port) return -1;
  Port& p = port_of(port);
  const Term owner = p.owner_now();
  LinkSettings known;
  if (p.links.give_up(owner, &known)) receiver_of(owner).unlink(owner, p.id, known);
  fail_port(port_of(port), error ? text_atom(errno_name(error)) : atoms::normal);
  return 0;
}

// ---- Busy, flags --------------------------------------------------------------------------------

void set_busy_port(ErlDrvPort port, int on) {
  if (port) set_port_busy(port_of(port), on != 0);
}

void erl_drv_busy_msgq_limits(ErlDrvPort port, ErlDrvSizeT* low, ErlDrvSizeT* high) {
  if (!port) return;
  Port& p = port_of(port);
  const auto report = [](ErlDrvSizeT* out, Word value, Word limit) {
    if (out) *out = limit ? value : ERL_DRV_BUSY_MSGQ_DISABLED;
  };
  Word high_now = p.inbox_high.load(std::memory_order_relaxed);
  if ((low && *low == ERL_DRV_BUSY_MSGQ_DISABLED) || (high && *high == ERL_DRV_BUSY_MSGQ_DISABLED))
    high_now = 0;
  // Once disabled, it stays disabled.
  if (high_now) {
    Word new_low = low && *low != ERL_DRV_BUSY_MSGQ_READ_ONLY ? *low : p.inbox_low;
    Word new_high = high && *high != ERL_DRV_BUSY_MSGQ_READ_ONLY ? *high : high_now;
    if (new_high < new_low) {
      // The limit that was set counts.
      if (high && *high != ERL_DRV_BUSY_MSGQ_READ_ONLY) new_low = new_high;
      else new_high = new_low;
    }
    p.inbox_low = new_low;
    high_now = new_high;
  }
  p.inbox_high.store(high_now, std::memory_order_relaxed);
  report(low, p.inbox_low, high_now);
  report(high, high_now, high_now);
}

void set_port_control_flags(ErlDrvPort port, int flags) {
  if (port) port_of(port).control_binary = flags & PORT_CONTROL_FLAG_BINARY;
}

int get_port_flags(ErlDrvPort port) {
  if (!port) return 0;
  const Port& p = port_of(port);
  return (p.binary ? PORT_FLAG_BINARY : 0) | (p.line_length ? PORT_FLAG_LINE : 0);
}

int erl_drv_consume_timeslice(ErlDrvPort port, int percent) {
  if (!port) return 0;
  const int bounded = percent < 1 ? 1 : percent > 100 ? 100 : percent;
  return consume_port_turn(bounded) ? 1 : 0;
}

void erl_drv_set_os_pid(ErlDrvPort port, ErlDrvSInt pid) {
  if (port) port_of(port).os_pid = pid;
}

/// Creates another instance of the creator's driver: open, and linked to its owner. The creator is
/// not changed.
ErlDrvPort driver_create_port(ErlDrvPort creator, ErlDrvTermData connected, char* name, ErlDrvData drv_data) {
  const auto failed = reinterpret_cast<ErlDrvPort>(SWord{-1});
  const Term owner = term_of(connected);
  if (!creator || !owner.is_local_pid() || !this_scheduler()) return failed;
  Port& from = port_of(creator);
  Process* process = process_table.find(owner);
  if (!process) return failed;
  retain_driver(*from.driver);
  Port& p = *create_port(*from.driver, owner, name ? name : from.driver->name);
  p.scheduler = this_scheduler();
  if (!port_table.add(p)) {
    release_reference(p);
    return failed;
  }
  close_if_all_are(p);
  trace_new_port(p.tracing, p.id);
  profile_new_port(p);
  p.instance = drv_data;
  const std::uint32_t link = p.links.set(owner);
  p.state.store(Port::State::kOpen, std::memory_order_release);
  if (receiver_of(owner).link(owner, p.id, link) != Reached::kYes) link_failed(p.id, owner);
  keep_created(p);
  return driver_port(p);
}

// ---- Timer --------------------------------------------------------------------------------------

int driver_set_timer(ErlDrvPort port, unsigned long time_ms) {
  if (!port || !port_of(port).driver->entry->timeout || !this_scheduler()) return -1;
  set_port_timer(port_of(port), time_ms);
  return 0;
}

int driver_cancel_timer(ErlDrvPort port) {
  if (!port) return -1;
  cancel_port_timer(port_of(port));
  return 0;
}

int driver_read_timer(ErlDrvPort port, unsigned long* time_left_ms) {
  if (!port || !time_left_ms) return -1;
  const SWord left = read_port_timer(port_of(port));
  *time_left_ms = left > 0 ? static_cast<unsigned long>(left) : 0;
  return 0;
}

// ---- Descriptors --------------------------------------------------------------------------------

int driver_select(ErlDrvPort port, ErlDrvEvent event, int mode, int on) {
  return port ? select_descriptor(port_of(port), event, mode, on != 0) : -1;
}

int driver_event(ErlDrvPort port, ErlDrvEvent event, ErlDrvEventData event_data) {
  return port ? select_event(port_of(port), event, event_data) : -1;
}

// ---- Port data lock -----------------------------------------------------------------------------

ErlDrvPDL driver_pdl_create(ErlDrvPort port) {
  if (!port) return nullptr;
  Port& p = port_of(port);
  if (p.data_lock) return nullptr;
  auto* lock = new (std::nothrow) PortDataLock;
  if (!lock) return nullptr;
  lock->port = &p;
  retain_port(p);
  p.data_lock = lock;
  return reinterpret_cast<ErlDrvPDL>(lock);
}

void driver_pdl_lock(ErlDrvPDL lock) { lock_of(lock).mutex.lock(); }
void driver_pdl_unlock(ErlDrvPDL lock) { lock_of(lock).mutex.unlock(); }
ErlDrvSInt driver_pdl_get_refc(ErlDrvPDL lock) {
  return lock_of(lock).references.load(std::memory_order_acquire);
}
ErlDrvSInt driver_pdl_inc_refc(ErlDrvPDL lock) {
  return lock_of(lock).references.fetch_add(1, std::memory_order_relaxed) + 1;
}

ErlDrvSInt driver_pdl_dec_refc(ErlDrvPDL lock) {
  PortDataLock& pdl = lock_of(lock);
  const SWord left = pdl.references.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if (left == 0) {
    release_reference(*pdl.port);
    delete &pdl;
  }
  return left;
}

// ---- Monitors -----------------------------------------------------------------------------------

int driver_monitor_process(ErlDrvPort port, ErlDrvTermData process, ErlDrvMonitor* monitor) {
  if (!port || !port_of(port).driver->entry->process_exit) return -1;
  const Term pid = term_of(process);
  if (!pid.is_local_pid()) return 1;
  RefKey key;
  if (!start_driver_monitor(port_of(port), pid, &key)) return 1;
  *monitor = {};
  std::memcpy(monitor, &key, sizeof key);
  return 0;
}

int driver_demonitor_process(ErlDrvPort port, const ErlDrvMonitor* monitor) {
  if (!port) return -1;
  return stop_driver_monitor(port_of(port), monitor_key(monitor)) ? 0 : 1;
}

ErlDrvTermData driver_get_monitored_process(ErlDrvPort port, const ErlDrvMonitor* monitor) {
  if (!port) return driver_term_nil;
  const Term* pid = port_of(port).driver_monitors.find(monitor_key(monitor));
  return pid ? driver_term(*pid) : driver_term_nil;
}

int driver_compare_monitors(const ErlDrvMonitor* monitor1, const ErlDrvMonitor* monitor2) {
  const RefKey a = monitor_key(monitor1), b = monitor_key(monitor2);
  if (a.low != b.low) return a.low < b.low ? -1 : 1;
  return a.high < b.high ? -1 : a.high > b.high;
}

// ---- Drivers ------------------------------------------------------------------------------------

void add_driver_entry(ErlDrvEntry* de) { register_driver(de); }
int remove_driver_entry(ErlDrvEntry* de) { return remove_driver(de) ? 0 : -1; }

int driver_lock_driver(ErlDrvPort port) {
  if (!port) return -1;
  make_driver_permanent(*port_of(port).driver);
  return 0;
}

}  // extern "C"
