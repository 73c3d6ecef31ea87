// SPDX-License-Identifier: Apache-2.0
#include "vm/port/callbacks.hpp"

#include "vm/port/driver.hpp"
#include "vm/port/port.hpp"
#include "vm/port/task.hpp"
#include "vm/probes/fire.hpp"
#include "vm/term/node.hpp"

namespace vmrun {

thread_local Port* current_port = nullptr;

namespace {

// Ports that the driver has created in the callback that this thread is in; they are still held.
constinit thread_local RunnablePort* created = nullptr;

void release_created() {
  while (RunnablePort* p = created) {
    created = p->next_in_queue;
    p->next_in_queue = nullptr;
    release_port(static_cast<Port&>(*p));
  }
}

/// Surrounds a callback.
class Inside {
 public:
  explicit Inside(Port& p) : outer_(current_port), driver_(*p.driver), runs_(p.driver->activity) {
    if (!driver_.locks_per_port()) driver_.callback_lock.lock();
    current_port = &p;
  }
  ~Inside() {
    current_port = outer_;
    if (created && !outer_) [[unlikely]]
      release_created();
    if (!driver_.locks_per_port()) driver_.callback_lock.unlock();
  }
  Inside(const Inside&) = delete;

 private:
  Port* outer_;
  Driver& driver_;
  const InKnownActivity runs_;
};

/// Sets the caller of the operation, for driver_caller. A callback inside a callback (stop after a
/// failure) restores the former caller.
class CallerScope {
 public:
  CallerScope(Port& p, Term caller) : port_(p), outer_(p.caller) { p.caller = caller; }
  ~CallerScope() { port_.caller = outer_; }
  CallerScope(const CallerScope&) = delete;

 private:
  Port& port_;
  Term outer_;
};

/// A callback that tracing reports by its name.
class RunningIn {
 public:
  RunningIn(Port& p, Term where) : port_(p), where_(where) {
    trace_port_running(p.tracing, p.id, true, where);
  }
  ~RunningIn() { trace_port_running(port_.tracing, port_.id, false, where_); }
  RunningIn(const RunningIn&) = delete;

 private:
  Port& port_;
  const Term where_;
};

ErlDrvData instance(Port& p) { return static_cast<ErlDrvData>(p.instance); }

/// Calls back for an event of the port. The probe gets owner, port and name.
template <class Enabled, class Fire, class Call>
void call_event_callback(Port& p, Enabled enabled, Fire fire, Call call) {
  if (enabled()) [[unlikely]]
    fire(p.owner_now(), p.id, p.name.c_str());
  Inside inside(p);
  CallerScope calling(p, kNonValue);
  call();
}

}  // namespace

void keep_created(Port& p) {
  p.next_in_queue = created;
  created = &p;
  if (!current_port) release_created();
}

ErlDrvData call_start(Port& p, Term caller, const PortOptions& options) {
  if (probe::driver_start_enabled()) [[unlikely]]
    probe::fire_driver_start(caller, p.driver->name.c_str(), p.id);
  const auto port = reinterpret_cast<ErlDrvPort>(&p);
  if (!p.driver->start_with_options && !p.driver->entry->start) return reinterpret_cast<ErlDrvData>(port);
  const RunningIn running(p, atoms::open);
  Inside inside(p);
  CallerScope calling(p, caller);
  std::string command = options.command;  // the driver may write to it
  if (p.driver->start_with_options) return p.driver->start_with_options(port, command.data(), options);
  return p.driver->entry->start(port, command.data());
}

void call_stop(Port& p) {
  if (probe::driver_stop_enabled()) [[unlikely]]
    probe::fire_driver_stop(p.owner_now(), p.driver->name.c_str(), p.id);
  if (!p.driver->entry->stop) return;
  Inside inside(p);
  p.driver->entry->stop(instance(p));
}

void call_flush(Port& p) {
  if (!p.driver->entry->flush) return;
  const RunningIn running(p, atoms::flush);
  call_event_callback(p, probe::driver_flush_enabled, probe::fire_driver_flush,
                      [&] { p.driver->entry->flush(instance(p)); });
}

[[gnu::no_stack_protector]] void call_output(Port& p, Term caller, char* bytes, std::size_t size) {
  if (!p.driver->entry->output) return;
  if (probe::driver_output_enabled()) [[unlikely]]
    probe::fire_driver_output(caller, p.id, p.name.c_str(), size);
  Inside inside(p);
  CallerScope calling(p, caller);
  p.driver->entry->output(instance(p), bytes, size);
}

[[gnu::no_stack_protector]] void call_outputv(Port& p, Term caller, ErlIOVec* vector) {
  if (probe::driver_outputv_enabled()) [[unlikely]]
    probe::fire_driver_outputv(caller, p.id, p.name.c_str(), vector->size);
  Inside inside(p);
  CallerScope calling(p, caller);
  p.driver->entry->outputv(instance(p), vector);
}

void call_output_to(Port& p, Term node, char* bytes, std::size_t size) {
  if (probe::dist_output_enabled()) [[unlikely]]
    probe::fire_dist_output(local_node_name(), p.id, node, size);
  Inside inside(p);
  CallerScope calling(p, kRawCaller);
  p.driver->entry->output(instance(p), bytes, size);
}

void call_outputv_to(Port& p, Term node, ErlIOVec* vector) {
  if (probe::dist_outputv_enabled()) [[unlikely]]
    probe::fire_dist_outputv(local_node_name(), p.id, node, vector->size);
  Inside inside(p);
  CallerScope calling(p, kRawCaller);
  p.driver->entry->outputv(instance(p), vector);
}

[[gnu::no_stack_protector]] ErlDrvSSizeT call_control(Port& p, Term caller, unsigned command, char* bytes,
                                                      std::size_t size, char** answer,
                                                      std::size_t answer_size) {
  if (probe::port_control_enabled()) [[unlikely]]
    probe::fire_port_control(caller, p.id, p.name.c_str(), command);
  if (probe::driver_control_enabled()) [[unlikely]]
    probe::fire_driver_control(caller, p.id, p.name.c_str(), command, size);
  Inside inside(p);
  CallerScope calling(p, caller);
  return p.driver->entry->control(instance(p), command, bytes, size, answer, answer_size);
}

ErlDrvSSizeT call_call(Port& p, Term caller, unsigned command, char* bytes, std::size_t size, char** answer,
                       std::size_t answer_size, unsigned* flags) {
  if (probe::driver_call_enabled()) [[unlikely]]
    probe::fire_driver_call(caller, p.id, p.name.c_str(), command, size);
  Inside inside(p);
  CallerScope calling(p, caller);
  return p.driver->entry->call(instance(p), command, bytes, size, answer, answer_size, flags);
}

void call_ready_input(Port& p, ErlDrvEvent event) {
  if (!p.driver->entry->ready_input) return;
  call_event_callback(p, probe::driver_ready_input_enabled, probe::fire_driver_ready_input,
                      [&] { p.driver->entry->ready_input(instance(p), event); });
}

void call_ready_output(Port& p, ErlDrvEvent event) {
  if (!p.driver->entry->ready_output) return;
  call_event_callback(p, probe::driver_ready_output_enabled, probe::fire_driver_ready_output,
                      [&] { p.driver->entry->ready_output(instance(p), event); });
}

void call_event(Port& p, ErlDrvEvent event, ErlDrvEventData data) {
  if (!p.driver->entry->event) return;
  call_event_callback(p, probe::driver_event_enabled, probe::fire_driver_event,
                      [&] { p.driver->entry->event(instance(p), event, data); });
}

void call_timeout(Port& p) {
  if (!p.driver->entry->timeout) return;
  call_event_callback(p, probe::driver_timeout_enabled, probe::fire_driver_timeout,
                      [&] { p.driver->entry->timeout(instance(p)); });
}

void call_ready_async(Port& p, void* data) {
  if (!p.driver->entry->ready_async) return;
  call_event_callback(p, probe::driver_ready_async_enabled, probe::fire_driver_ready_async, [&] {
    p.driver->entry->ready_async(instance(p), static_cast<ErlDrvThreadData>(data));
  });
}

void call_process_exit(Port& p, ErlDrvMonitor* monitor) {
  if (!p.driver->entry->process_exit) return;
  call_event_callback(p, probe::driver_process_exit_enabled, probe::fire_driver_process_exit,
                      [&] { p.driver->entry->process_exit(instance(p), monitor); });
}

bool call_init(Driver& d) {
  if (!d.entry->init) return true;
  if (probe::driver_init_enabled()) [[unlikely]]
    probe::fire_driver_init(d.name.c_str(), d.major, d.minor, d.flags);
  return d.entry->init() == 0;
}

void call_finish(Driver& d) {
  if (!d.entry->finish) return;
  if (probe::driver_finish_enabled()) [[unlikely]]
    probe::fire_driver_finish(d.name.c_str());
  d.entry->finish();
}

void call_stop_select(Driver& d, ErlDrvEvent event) {
  if (!d.entry->stop_select) return;
  if (probe::driver_stop_select_enabled()) [[unlikely]]
    probe::fire_driver_stop_select(d.name.c_str());
  if (!d.locks_per_port()) d.callback_lock.lock();
  d.entry->stop_select(event, nullptr);
  if (!d.locks_per_port()) d.callback_lock.unlock();
}

}  // namespace vmrun
