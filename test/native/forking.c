/* A child that native code forks, and that ends by itself. */
#include <erl_nif.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static ERL_NIF_TERM status_of_child(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int code, status = 0;
  pid_t child;
  if (argc != 1 || !enif_get_int(env, argv[0], &code)) return enif_make_badarg(env);
  child = fork();
  if (child == 0) exit(code);
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return enif_make_int(env, -1);
  return enif_make_int(env, WEXITSTATUS(status));
}

static ErlNifFunc functions[] = {{"status_of_child", 1, status_of_child, ERL_NIF_DIRTY_JOB_IO_BOUND}};

ERL_NIF_INIT(forking, functions, NULL, NULL, NULL, NULL)
