/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that return how many calls of any of them were under way when they began, and give
   others time to begin meanwhile. */
#include <erl_nif.h>
#include <unistd.h>

static int under_way;

static ERL_NIF_TERM stay(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int n;
  (void)argc, (void)argv;
  n = __atomic_add_fetch(&under_way, 1, __ATOMIC_SEQ_CST);
  usleep(500);
  __atomic_sub_fetch(&under_way, 1, __ATOMIC_SEQ_CST);
  return enif_make_int(env, n);
}

static ErlNifFunc functions[] = {
    {"on_scheduler", 0, stay, 0},
    {"dirty_cpu", 0, stay, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"dirty_io", 0, stay, ERL_NIF_DIRTY_JOB_IO_BOUND},
};

ERL_NIF_INIT(apart, functions, NULL, NULL, NULL, NULL)
