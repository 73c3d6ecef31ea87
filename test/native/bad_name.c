/* SPDX-License-Identifier: Apache-2.0 */
/* For another module. */
#include <erl_nif.h>
static ERL_NIF_TERM f(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  (void)argv;
  return enif_make_int(env, 1);
}
static ErlNifFunc functions[] = {{"f", 0, f, 0}};
ERL_NIF_INIT(another_module, functions, NULL, NULL, NULL, NULL)
