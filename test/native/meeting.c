/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that return when as many calls of them are under way as there are to be: each holds a
   thread until then. */
#include <erl_nif.h>

static ErlNifMutex* lock;
static ErlNifCond* complete;
static int there[3];

static ERL_NIF_TERM meet(ErlNifEnv* env, const ERL_NIF_TERM argv[], int kind) {
  int expected;
  if (!enif_get_int(env, argv[0], &expected)) return enif_make_badarg(env);
  enif_mutex_lock(lock);
  if (++there[kind] == expected) enif_cond_broadcast(complete);
  while (there[kind] < expected) enif_cond_wait(complete, lock);
  enif_mutex_unlock(lock);
  return enif_make_copy(env, argv[1]);
}

static ERL_NIF_TERM meet_on_scheduler(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  return meet(env, argv, 0);
}

static ERL_NIF_TERM meet_dirty_cpu(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  return meet(env, argv, 1);
}

static ERL_NIF_TERM meet_dirty_io(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  return meet(env, argv, 2);
}

static ERL_NIF_TERM count_of_kind(ErlNifEnv* env, ERL_NIF_TERM name, int more) {
  const char* const kinds[] = {"on_scheduler", "dirty_cpu", "dirty_io"};
  int kind, n;
  for (kind = 0; kind < 3; ++kind) {
    if (!enif_is_identical(name, enif_make_atom(env, kinds[kind]))) continue;
    enif_mutex_lock(lock);
    n = there[kind] += more;
    if (more) enif_cond_broadcast(complete);
    enif_mutex_unlock(lock);
    return enif_make_int(env, n);
  }
  return enif_make_badarg(env);
}

/* How many calls of a kind have come. */
static ERL_NIF_TERM count(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  return count_of_kind(env, argv[0], 0);
}

/* Counts as a call of the kind, but does not wait. */
static ERL_NIF_TERM come(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  return count_of_kind(env, argv[0], 1);
}

static int load(ErlNifEnv* env, void** priv, ERL_NIF_TERM info) {
  (void)env, (void)priv, (void)info;
  lock = enif_mutex_create("meeting");
  complete = enif_cond_create("meeting");
  return !lock || !complete;
}

static ErlNifFunc functions[] = {
    {"on_scheduler", 2, meet_on_scheduler, 0},
    {"dirty_cpu", 2, meet_dirty_cpu, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"dirty_io", 2, meet_dirty_io, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"there", 1, count, 0},
    {"come", 1, come, 0},
};

ERL_NIF_INIT(meeting, functions, load, NULL, NULL, NULL)
