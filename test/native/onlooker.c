/* SPDX-License-Identifier: Apache-2.0 */
/* A tracer module. Its state is {To, Wishes}: what it wants of each event is in a map, discard if
   it is not there; To is sent {Function, Event, Tracee, What, Options}. */
#include <erl_nif.h>

static ERL_NIF_TERM wish(ErlNifEnv* env, const ERL_NIF_TERM argv[]) {
  const ERL_NIF_TERM* state;
  int arity;
  ERL_NIF_TERM value;
  if (enif_get_tuple(env, argv[1], &arity, &state) && arity == 2 &&
      enif_get_map_value(env, state[1], argv[0], &value))
    return value;
  return enif_make_atom(env, "discard");
}

static ERL_NIF_TERM tell(ErlNifEnv* env, const char* function, const ERL_NIF_TERM argv[]) {
  const ERL_NIF_TERM* state;
  int arity;
  ErlNifPid to;
  if (enif_get_tuple(env, argv[1], &arity, &state) && enif_get_local_pid(env, state[0], &to))
    enif_send(env, &to, NULL,
              enif_make_tuple5(env, enif_make_atom(env, function), argv[0], argv[2], argv[3], argv[4]));
  return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM enabled(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  return wish(env, argv);
}

static ERL_NIF_TERM trace(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  return tell(env, "trace", argv);
}

static ERL_NIF_TERM enabled_send(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc, (void)argv;
  return enif_make_atom(env, "trace");
}

static ERL_NIF_TERM trace_send(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  return tell(env, "trace_send", argv);
}

static ErlNifFunc functions[] = {
    {"enabled", 3, enabled, 0},
    {"trace", 5, trace, 0},
    {"enabled_send", 3, enabled_send, 0},
    {"trace_send", 5, trace_send, 0},
};

static int load(ErlNifEnv* env, void** data, ERL_NIF_TERM info) {
  (void)env, (void)data, (void)info;
  return 0;
}

ERL_NIF_INIT(onlooker, functions, load, NULL, NULL, NULL)
