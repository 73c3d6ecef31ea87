/* SPDX-License-Identifier: Apache-2.0 */
/* A native function that returns its argument, for operations/native_function.act; -DLONGER
   makes it do something before, for a test of what is said then. */
#include <erl_nif.h>

static ERL_NIF_TERM same_1(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)env;
#ifdef LONGER
  for (volatile int i = 0; i < 10 * argc; ++i) {}
#endif
  (void)argc;
  return argv[0];
}

static ErlNifFunc functions[] = {{"same", 1, same_1, 0}};

ERL_NIF_INIT(same, functions, NULL, NULL, NULL, NULL)
