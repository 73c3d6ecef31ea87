/* SPDX-License-Identifier: Apache-2.0 */
/* Its load function says no, after it has opened a type. */
#include <erl_nif.h>
static ERL_NIF_TERM f(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  (void)argv;
  return enif_make_int(env, 1);
}
static int load(ErlNifEnv* env, void** priv_data, ERL_NIF_TERM info) {
  int n = 0;
  (void)priv_data;
  enif_open_resource_type(env, NULL, "type", NULL, ERL_NIF_RT_CREATE, NULL);
  enif_get_int(env, info, &n);
  return n;
}
static ErlNifFunc functions[] = {{"f", 0, f, 0}};
ERL_NIF_INIT(bad_libraries, functions, load, NULL, NULL, NULL)
