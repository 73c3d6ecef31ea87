// SPDX-License-Identifier: Apache-2.0
// The default tracer, for programs that name no module: events go to a process as messages, which
// the machine sends itself (vm/trace). These functions only answer programs that call erl_tracer
// directly.

#include "drivers/preloaded/modules.hpp"
#include "vm/nif/library.hpp"

namespace vmrun::preloaded {
namespace {

/// (Tag, Tracer, Tracee): whether an event is wanted; `remove` when the tracer is not alive.
ERL_NIF_TERM enabled(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  ErlNifPid pid;
  ErlNifPort port;
  const bool alive = enif_get_local_pid(env, a[1], &pid)     ? enif_is_process_alive(env, &pid) != 0
                     : enif_get_local_port(env, a[1], &port) ? enif_is_port_alive(env, &port) != 0
                                                             : false;
  if (!alive) return enif_make_atom(env, "remove");
  return enif_make_atom(env, enif_is_identical(a[1], a[2]) ? "discard" : "trace");
}

/// (Tag, Tracer, Tracee, Term, Options): {trace, Tracee, Tag, Term} to the tracer.
ERL_NIF_TERM trace(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  ErlNifPid pid;
  if (!enif_get_local_pid(env, a[1], &pid)) return enif_make_badarg(env);
  ERL_NIF_TERM extra;
  const ERL_NIF_TERM trace_atom = enif_make_atom(env, "trace");
  const bool has_extra = enif_get_map_value(env, a[4], enif_make_atom(env, "extra"), &extra);
  const ERL_NIF_TERM message = has_extra ? enif_make_tuple5(env, trace_atom, a[2], a[0], a[3], extra)
                                         : enif_make_tuple4(env, trace_atom, a[2], a[0], a[3]);
  enif_send(env, &pid, nullptr, message);
  return enif_make_atom(env, "ok");
}

int load(ErlNifEnv*, void**, ERL_NIF_TERM) { return 0; }
int upgrade(ErlNifEnv*, void**, void**, ERL_NIF_TERM) { return 0; }

ErlNifFunc functions[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};

}  // namespace

ErlNifEntry* erl_tracer() {
  static ErlNifEntry made = linked_in_entry("erl_tracer", functions, load, upgrade);
  return &made;
}

}  // namespace vmrun::preloaded
