// SPDX-License-Identifier: Apache-2.0
#include "vm/port/port.hpp"
#include "runtime/bif/port_options.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_mode.hpp"
#include "vm/message/destination.hpp"
#include "vm/message/request.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/operations.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/registry.hpp"

/// Ports: opening, operations and information. Code that runs in a port is in vm/port.
namespace vmrun {
namespace {

/// Returns the identifier of the port, open or not; the non-value when the argument is neither a
/// port nor the name of one.
Term port_id(Term t) {
  if (t.is_local_port()) return t;
  if (!t.is_atom()) return kNonValue;
  const Term who = whereis(t);
  return who && who.is_local_port() ? who : kNonValue;
}

/// Returns the name of the port's driver. For a command line it is the driver named by the first
/// word, if there is one.
std::string driver_name(const PortOptions& o) {
  switch (o.kind) {
    case PortOptions::Kind::kFd: return "fd";
    case PortOptions::Kind::kFile: return "vanilla";
    case PortOptions::Kind::kSpawnExecutable: return "spawn";
    case PortOptions::Kind::kSpawn:
    case PortOptions::Kind::kSpawnDriver: break;
  }
  return o.command.substr(0, o.command.find_first_of(" \t"));
}

/// Some options are for certain drivers only: programs have an exit status, and only the machine's
/// own drivers use the limits of the queue.
bool suits_driver(const PortOptions& o) {
  using Kind = PortOptions::Kind;
  if (o.exit_status && (o.kind == Kind::kSpawnDriver || o.kind == Kind::kFd || o.kind == Kind::kFile))
    return false;
  return !o.queue_limits_given || o.kind != PortOptions::Kind::kSpawnDriver;
}

Port* open_port_of(Term t) {
  const Term id = port_id(t);
  return id ? port_table.find_open(id) : nullptr;
}

/// Runs the operation on an open port; raises badarg for others. A call that comes back for its
/// answer gets it, even if the port has been closed meanwhile.
template <class F>
Term on_port(Process& p, Term which, F operation) {
  if (has_asked(p)) return take_answer(p);
  Port* port = open_port_of(which);
  return port ? operation(*port) : raise_badarg(p);
}

/// Reads the number of an operation, which has 32 bits for drivers.
bool read_operation(Term t, unsigned* out) {
  SWord n;
  if (!small_in_range(t, 0, 0xFFFFFFFF, &n)) return false;
  *out = static_cast<unsigned>(n);
  return true;
}

Term port_command(Process& p, const Term* a, bool force, bool nosuspend) {
  return on_port(p, a[0], [&](Port& port) { return command_port(p, port, a[1], force, nosuspend); });
}

Term port_info_of(Process& p, Term which, Term item) {
  if (has_asked(p)) return take_answer(p);
  const Term id = port_id(which);
  if (id) return port_info(p, id, item);
  return which.is_atom() || (which.is_port() && is_of_former_self(which)) ? atoms::undefined
                                                                          : raise_badarg(p);
}

}  // namespace

Term open_port_cause(Process&, unsigned, const Term* a) {
  PortOptions options;
  return read_port_options(a[1], &options) ? kNonValue : atoms::badopt;
}

Term bif_erlang_open_port_2(Process& p, const Term* a) {
  PortOptions options;
  options.parallelism = system_mode.port_parallelism;
  if (!read_port_name(a[0], &options) || !read_port_options(a[1], &options)) return raise_badarg(p);
  const bool is_command = options.kind == PortOptions::Kind::kSpawn;
  Driver* driver = acquire_driver(driver_name(options));
  if (driver && is_command) options.kind = PortOptions::Kind::kSpawnDriver;
  if (!driver && is_command) driver = acquire_driver("spawn");
  if (driver && !suits_driver(options)) {
    release_driver(*driver);
    driver = nullptr;
  }
  return driver ? open_port(p, *driver, options) : raise_badarg(p);
}

Term bif_erlang_port_command_2(Process& p, const Term* a) { return port_command(p, a, false, false); }
Term bif_erlang_port_command_3(Process& p, const Term* a) {
  bool force = false, nosuspend = false;
  Term list = a[2];
  for (; list.is_list(); list = list.tail()) {
    if (list.head() == atoms::force) force = true;
    else if (list.head() == atoms::nosuspend) nosuspend = true;
    else return raise_badarg(p);
  }
  return list.is_nil() ? port_command(p, a, force, nosuspend) : raise_badarg(p);
}

Term bif_erlang_port_close_1(Process& p, const Term* a) {
  return on_port(p, a[0], [&](Port& port) { return close_port_of(p, port); });
}
Term bif_erlang_port_connect_2(Process& p, const Term* a) {
  return on_port(p, a[0], [&](Port& port) { return connect_port(p, port, a[1]); });
}
Term bif_erlang_port_control_3(Process& p, const Term* a) {
  return on_port(p, a[0], [&](Port& port) {
    unsigned operation;
    return read_operation(a[1], &operation) ? control_port(p, port, operation, a[2]) : raise_badarg(p);
  });
}
Term bif_erlang_port_call_3(Process& p, const Term* a) {
  return on_port(p, a[0], [&](Port& port) {
    unsigned operation;
    return read_operation(a[1], &operation) ? call_port(p, port, operation, a[2]) : raise_badarg(p);
  });
}
Term bif_erlang_port_call_2(Process& p, const Term* a) {
  const Term args[3] = {a[0], Term::small(0), a[1]};
  return bif_erlang_port_call_3(p, args);
}

Term bif_erlang_port_info_1(Process& p, const Term* a) { return port_info_of(p, a[0], kNonValue); }
Term bif_erlang_port_info_2(Process& p, const Term* a) {
  return a[1].is_atom() ? port_info_of(p, a[0], a[1]) : raise_badarg(p);
}

Term bif_erlang_port_set_data_2(Process& p, const Term* a) {
  return on_port(p, a[0], [&](Port& port) { return set_port_data(p, port, a[1]); });
}
Term bif_erlang_port_get_data_1(Process& p, const Term* a) {
  return on_port(p, a[0], [&](Port& port) { return get_port_data(p, port); });
}

Term bif_erlang_ports_0(Process& p, const Term* a) {
  if (came_back(p) || too_long(port_table.count())) return run_on_dirty(p, bif_erlang_ports_0, a, 0);
  return new_list(p.heap, port_table.seen_by_programs());
}

}  // namespace vmrun
