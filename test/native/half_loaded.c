/* SPDX-License-Identifier: Apache-2.0 */
/* For a module whose on_load function changes its mind after it has loaded this. Tells `witness`
   when it is unloaded. */
#include <erl_nif.h>

static ERL_NIF_TERM f(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc, (void)argv;
  return enif_make_atom(env, "native");
}

static int load(ErlNifEnv* env, void** data, ERL_NIF_TERM info) {
  (void)env, (void)data, (void)info;
  return 0;
}

static void unload(ErlNifEnv* env, void* data) {
  ErlNifPid pid;
  (void)data;
  if (enif_whereis_pid(env, enif_make_atom(env, "witness"), &pid))
    enif_send(env, &pid, NULL, enif_make_atom(env, "unloaded"));
}

static ErlNifFunc functions[] = {{"f", 0, f, 0}};

ERL_NIF_INIT(half_loaded, functions, load, NULL, NULL, unload)
