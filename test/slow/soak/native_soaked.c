/* SPDX-License-Identifier: Apache-2.0 */
/* A library in two versions (VERSION), to be upgraded to and fro: a resource type that each takes
   over, data that each hands on, functions that are called at once, on a dirty scheduler, and
   through enif_schedule_nif. */
#include <erl_nif.h>

static ErlNifResourceType* type;

static void destroy(ErlNifEnv* env, void* object) {
  (void)env;
  enif_free(*(void**)object);
}

static int open_type(ErlNifEnv* env) {
  type = enif_open_resource_type(env, NULL, "thing", destroy, ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, NULL);
  return type ? 0 : 1;
}

static int load(ErlNifEnv* env, void** data, ERL_NIF_TERM info) {
  (void)info;
  *data = enif_alloc(1000);
  return open_type(env);
}

static int upgrade(ErlNifEnv* env, void** data, void** old_data, ERL_NIF_TERM info) {
  (void)info;
  *data = *old_data;
  *old_data = NULL;
  return open_type(env);
}

static void unload(ErlNifEnv* env, void* data) {
  (void)env;
  enif_free(data);
}

static ERL_NIF_TERM version(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc, (void)argv;
  return enif_make_int(env, VERSION);
}

static ERL_NIF_TERM later(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc, (void)argv;
  return enif_schedule_nif(env, "version", 0, version, 0, argv);
}

static ERL_NIF_TERM later_dirty(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc, (void)argv;
  return enif_schedule_nif(env, "version", ERL_NIF_DIRTY_JOB_CPU_BOUND, version, 0, argv);
}

static ERL_NIF_TERM make(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  void** object = enif_alloc_resource(type, sizeof(void*));
  ERL_NIF_TERM term;
  (void)argc, (void)argv;
  *object = enif_alloc(100);
  term = enif_make_resource(env, object);
  enif_release_resource(object);
  return term;
}

static ERL_NIF_TERM is_thing(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  void* object;
  (void)argc;
  return enif_make_atom(env, enif_get_resource(env, argv[0], type, &object) ? "true" : "false");
}

static ErlNifFunc functions[] = {
    {"version", 0, version, 0}, {"dirty", 0, version, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"later", 0, later, 0},     {"later_dirty", 0, later_dirty, 0},
    {"make", 0, make, 0},       {"is_thing", 1, is_thing, 0}};

ERL_NIF_INIT(native_soaked, functions, load, NULL, upgrade, unload)
