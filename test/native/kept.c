/* SPDX-License-Identifier: Apache-2.0 */
/* A library that keeps an object in its own data, with a lock that it makes when it is loaded and
   destroys when it is unloaded: so does mqtree of ejabberd. */
#include <erl_nif.h>

static ErlNifRWLock* lock;
static void* object;
static ErlNifResourceType* objects;

static void destroy(ErlNifEnv* env, void* of) {
  (void)env;
  (void)of;
}

static int load(ErlNifEnv* env, void** data, ERL_NIF_TERM info) {
  (void)data;
  (void)info;
  lock = enif_rwlock_create("kept");
  objects = enif_open_resource_type(env, NULL, "kept", destroy,
                                    (ErlNifResourceFlags)(ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER), NULL);
  return lock && objects ? 0 : 1;
}

static void unload(ErlNifEnv* env, void* data) {
  (void)env;
  (void)data;
  enif_rwlock_destroy(lock);
  lock = NULL;
}

static ERL_NIF_TERM keep(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  (void)argv;
  object = enif_alloc_resource(objects, 8);
  return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM is_there(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ERL_NIF_TERM found;
  (void)argc;
  (void)argv;
  if (!lock) return enif_make_atom(env, "unloaded");
  enif_rwlock_rlock(lock);
  found = object ? enif_make_resource(env, object) : enif_make_atom(env, "nothing");
  enif_rwlock_runlock(lock);
  return enif_make_atom(env, enif_is_ref(env, found) ? "there" : "forgotten");
}

static ERL_NIF_TERM let_go(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  (void)argv;
  enif_release_resource(object);
  object = NULL;
  return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {
    {"keep", 0, keep, 0}, {"is_there", 0, is_there, 0}, {"let_go", 0, let_go, 0}};
ERL_NIF_INIT(kept, functions, load, NULL, NULL, unload)
