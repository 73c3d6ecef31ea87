/* SPDX-License-Identifier: Apache-2.0 */
/* Recurses without end. */
#include <erl_nif.h>
static int deeper(volatile int* above) {
  volatile int here[16] = {*above};
  if (here[0]) return 0; /* never */
  return deeper(here) + here[1];
}
static ERL_NIF_TERM recurse(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  (void)argv;
  volatile int start = 0;
  return enif_make_int(env, deeper(&start));
}
static ErlNifFunc functions[] = {{"recurse", 0, recurse, 0},
                                 {"recurse_dirty", 0, recurse, ERL_NIF_DIRTY_JOB_CPU_BOUND}};
ERL_NIF_INIT(deep, functions, NULL, NULL, NULL, NULL)
