/* SPDX-License-Identifier: Apache-2.0 */
/* Native functions for the benchmarks: next to nothing, so that what is measured is the call, and a
   few that build or read terms. */
#include <erl_nif.h>

static ERL_NIF_TERM identity(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)env;
  (void)argc;
  return argv[0];
}

static ERL_NIF_TERM add(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  long a, b;
  (void)argc;
  if (!enif_get_long(env, argv[0], &a) || !enif_get_long(env, argv[1], &b)) return enif_make_badarg(env);
  return enif_make_long(env, a + b);
}

/* {Size, FirstByte, [a, b]} of a binary */
static ERL_NIF_TERM look(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifBinary bin;
  (void)argc;
  if (!enif_inspect_binary(env, argv[0], &bin)) return enif_make_badarg(env);
  return enif_make_tuple3(env, enif_make_ulong(env, bin.size),
                          enif_make_uint(env, bin.size ? bin.data[0] : 0),
                          enif_make_list2(env, argv[0], argv[0]));
}

static ErlNifResourceType* type;
static int load(ErlNifEnv* env, void** priv_data, ERL_NIF_TERM info) {
  (void)priv_data;
  (void)info;
  type = enif_open_resource_type(env, NULL, "cell", NULL, ERL_NIF_RT_CREATE, NULL);
  return type ? 0 : 1;
}
static ERL_NIF_TERM cell(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  long* object = enif_alloc_resource(type, sizeof(long));
  ERL_NIF_TERM term = enif_make_resource(env, object);
  (void)argc;
  (void)argv;
  enif_release_resource(object);
  return enif_get_long(env, argv[0], object) ? term : enif_make_badarg(env);
}
static ERL_NIF_TERM value(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  void* object;
  (void)argc;
  if (!enif_get_resource(env, argv[0], type, &object)) return enif_make_badarg(env);
  return enif_make_long(env, *(long*)object);
}

static ErlNifFunc functions[] = {
    {"identity", 1, identity, 0}, {"add", 2, add, 0},     {"look", 1, look, 0},
    {"cell", 1, cell, 0},         {"value", 1, value, 0}, {"dirty", 1, identity, ERL_NIF_DIRTY_JOB_CPU_BOUND},
};

ERL_NIF_INIT(calls, functions, load, NULL, NULL, NULL)
