/* Returns what is no term. */
#include <erl_nif.h>
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
static ErlNifFunc functions[] = {{"nothing", 0, nothing, 0}, {"crash", 0, crash, 0}};
ERL_NIF_INIT(bad_term, functions, NULL, NULL, NULL, NULL)
