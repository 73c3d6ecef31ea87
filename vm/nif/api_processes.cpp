// SPDX-License-Identifier: Apache-2.0
#include "vm/code/module.hpp"
#include "vm/code/native_call.hpp"
#include "vm/message/send.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/nif/guard.hpp"
#include "vm/nif/nif_library.hpp"
#include "vm/port/operations.hpp"
#include "vm/port/port.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"

// The native interface: processes, messages, scheduling.

using namespace vmrun;

// ---- Processes ----------------------------------------------------------------------------------

ErlNifPid* enif_self(ErlNifEnv* env, ErlNifPid* pid) {
  const Term self = env->process ? env->process->id : env->tracee;
  if (!self) return nullptr;
  pid->pid = from_term(self);
  return pid;
}

void enif_set_pid_undefined(ErlNifPid* pid) { pid->pid = from_term(atoms::undefined); }
int enif_is_pid_undefined(const ErlNifPid* pid) { return pid->pid == from_term(atoms::undefined); }

int enif_whereis_pid(ErlNifEnv*, ERL_NIF_TERM name, ErlNifPid* pid) {
  if (!to_term(name).is_atom()) return 0;
  const Term found = whereis(to_term(name));
  if (!found.is_local_pid()) return 0;
  pid->pid = from_term(found);
  return 1;
}

int enif_whereis_port(ErlNifEnv*, ERL_NIF_TERM name, ErlNifPort* port) {
  if (!to_term(name).is_atom()) return 0;
  const Term found = whereis(to_term(name));
  if (!found.is_local_port()) return 0;
  port->port_id = from_term(found);
  return 1;
}

int enif_is_process_alive(ErlNifEnv*, ErlNifPid* pid) {
  ProcessPointers guard;
  return to_term(pid->pid).is_local_pid() && process_table.find(to_term(pid->pid)) != nullptr;
}

int enif_is_port_alive(ErlNifEnv*, ErlNifPort* port) {
  ProcessPointers guard;
  return to_term(port->port_id).is_local_port() && port_table.find_open(to_term(port->port_id)) != nullptr;
}

int enif_is_current_process_alive(ErlNifEnv* env) {
  if (!env->process) return 0;
  if (!env->dirty) return 1;  // exit signals wait for the end of the slice
  return !env->process->exiting.load(std::memory_order_relaxed);  // a scheduler handles its signals
}

int enif_send(ErlNifEnv* env, const ErlNifPid* to, ErlNifEnv* message_env, ERL_NIF_TERM message) {
  if (!to_term(to->pid).is_local_pid()) return 0;
  if (env && env->dirty && !enif_is_current_process_alive(env)) return 0;
  ProcessPointers guard;
  if (!send_from_native(env ? env->process : nullptr, to_term(to->pid), to_term(message))) return 0;
  if (message_env) enif_clear_env(message_env);
  return 1;
}

int enif_port_command(ErlNifEnv* env, const ErlNifPort* to, ErlNifEnv*, ERL_NIF_TERM message) {
  if (!to_term(to->port_id).is_local_port()) return 0;
  ProcessPointers guard;
  Port* port = port_table.find_open(to_term(to->port_id));
  return port && queue_command_of(env->process, *port, to_term(message));
}

// ---- Scheduling ---------------------------------------------------------------------------------

int enif_consume_timeslice(ErlNifEnv* env, int percent) {
  if (percent < 1) percent = 1;
  if (percent > 100) percent = 100;
  std::int32_t& left = env->process->reductions;
  if (left > 0) left = std::max(0, left - kSliceReductions * percent / 100);  // it makes no slice longer
  return left <= 0;
}

ERL_NIF_TERM enif_schedule_nif(ErlNifEnv* env, const char* name, int flags,
                               ERL_NIF_TERM (*fn)(ErlNifEnv*, int, const ERL_NIF_TERM[]), int argc,
                               const ERL_NIF_TERM argv[]) {
  if (!env->process || argc < 0 || argc > 255 || flags < 0 || flags > ERL_NIF_DIRTY_JOB_IO_BOUND)
    return enif_make_badarg(env);
  auto* arguments =
      static_cast<Term*>(temporary_memory(*env, sizeof(Term) * static_cast<std::size_t>(argc) + 1));
  Export* next = arguments ? scheduled_nif(env->library, env->library->module, intern_atom(name),
                                           static_cast<unsigned>(argc), static_cast<unsigned>(flags),
                                           env->library->delays_halt, fn)
                           : nullptr;
  if (!next) return enif_raise_exception(env, from_term(atoms::system_limit));
  for (int i = 0; i < argc; ++i) arguments[i] = to_term(argv[i]);
  env->next_call = next;
  env->next_arguments = arguments;
  env->unfinished = true;
  return from_term(kNonValue);
}

int enif_thread_type(void) {
  if (this_scheduler()) return ERL_NIF_THR_NORMAL_SCHEDULER;
  switch (dirty_thread_kind()) {
    case DirtyKind::kCpu: return ERL_NIF_THR_DIRTY_CPU_SCHEDULER;
    case DirtyKind::kIo: return ERL_NIF_THR_DIRTY_IO_SCHEDULER;
    case DirtyKind::kNone: break;
  }
  return ERL_NIF_THR_UNDEFINED;
}
