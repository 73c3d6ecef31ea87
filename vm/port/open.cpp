// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/operation.hpp"
#include "vm/port/operations.hpp"
#include "vm/port/signals.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/process_state.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"

/// open_port: starts a driver.
namespace vmrun {
namespace {

/// Returns the reason that start has returned instead of an instance; the non-value if it is an
/// instance.
Term start_failure(ErlDrvData data, int error) {
  if (data == ERL_DRV_ERROR_GENERAL) return atoms::einval;
  if (data == ERL_DRV_ERROR_ERRNO) return intern_atom(errno_name(error));
  if (data == ERL_DRV_ERROR_BADARG) return atoms::badarg;
  return kNonValue;
}

void apply_options(Port& port, const PortOptions& options) {
  port.binary = options.binary;
  port.send_eof = options.eof;
  port.parallelism = options.parallelism;
  port.line_length = options.line_length;
  port.inbox_low = options.inbox_low;
  port.inbox_high = port.driver->flags & ERL_DRV_FLAG_NO_BUSY_MSGQ ? 0 : options.inbox_high;
  port.queue_low = options.queue_low;
  port.queue_high = options.queue_high;
}

/// The port's name as an atom, cut to an atom's length.
Term name_atom(const Port& port) {
  std::string name;
  for (const char c : port.name.substr(0, kAtomMaxCharacters))
    append_utf8(name, static_cast<std::uint8_t>(c));
  return intern_atom(name);
}

/// Removes a port that has never been open. No process is told.
void abandon(Port& port) {
  port.state.store(Port::State::kClosed, std::memory_order_release);
  remove_port(port);
  release_port(port);
}

}  // namespace

Term open_port(Process& p, Driver& driver, const PortOptions& options) {
  Port& port = *create_port(driver, p.id, options.command);
  apply_options(port, options);
  port.scheduler.store(this_scheduler(), std::memory_order_relaxed);
  if (!port_table.add(port)) {
    release_reference(port);
    return raise_system_limit(p);
  }
  close_if_all_are(port);
  trace_running(p, false, kTraceRunningProcs);
  if (!driver.is_for_files()) trace_new_port(port.tracing, port.id);
  if (port.tracing.is_on(kTracePorts)) [[unlikely]]
    tell_of_port(port.tracing, port.id, kTracePorts, atoms::open, p.id, name_atom(port));
  errno = 0;
  const ErlDrvData data = call_start(port, p.id, options);
  const int error = errno;
  Term reason = start_failure(data, error);
  if (!reason && port.state.load(std::memory_order_relaxed) == Port::State::kClosed)
    reason = atoms::einval;  // start called driver_failure
  if (reason) {
    abandon(port);
    trace_running(p, true, kTraceRunningProcs);
    return raise_error(p, reason);
  }
  port.instance = data;
  set_on_both_sides(port.links, port.id, extra_of(p).links, p.id);
  trace_port(port.tracing, port.id, atoms::getting_linked, p.id);
  trace_running(p, true, kTraceRunningProcs);
  trace_procs(p, atoms::link, port.id);
  const Term id = port.id;
  if (probe::port_open_enabled()) [[unlikely]]
    probe::fire_port_open(p.id, port.name.c_str(), id);
  port.state.store(Port::State::kOpen, std::memory_order_release);
  bump_reductions(p, kCallbackReductions);
  release_port(port);
  profile_new_port(port);
  return id;
}

}  // namespace vmrun
