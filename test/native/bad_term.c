/* SPDX-License-Identifier: Apache-2.0 */
/* Returns what is no term. */
#include <erl_nif.h>
#include <stdio.h>
static ERL_NIF_TERM nothing(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)env;
  (void)argc;
  (void)argv;
  return 0;
}
static ERL_NIF_TERM crash(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  (void)argv;
  *(volatile int*)8 = 1;
  return enif_make_int(env, 1);
}
/* Makes atoms until there is no room for more: native code cannot be told. */
static ERL_NIF_TERM atoms(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  (void)argv;
  for (unsigned i = 0; i < 1000000; ++i) {
    char name[32];
    snprintf(name, sizeof name, "native atom %u", i);
    enif_make_atom(env, name);
  }
  return 0;
}
static ErlNifFunc functions[] = {{"nothing", 0, nothing, 0}, {"crash", 0, crash, 0}, {"atoms", 0, atoms, 0}};
ERL_NIF_INIT(bad_term, functions, NULL, NULL, NULL, NULL)
