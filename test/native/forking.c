/* SPDX-License-Identifier: Apache-2.0 */
/* Children that native code forks, and that end by themselves. */
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

/* left_child(Code) -> Pid: nobody waits for it. */
static ERL_NIF_TERM left_child(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int code;
  pid_t child;
  if (argc != 1 || !enif_get_int(env, argv[0], &code)) return enif_make_badarg(env);
  child = fork();
  if (child == 0) _exit(code);
  return enif_make_int(env, (int)child);
}

/* status_of(Pid) -> what the child that was left has ended with */
static ERL_NIF_TERM status_of(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int pid, status = 0;
  if (argc != 1 || !enif_get_int(env, argv[0], &pid)) return enif_make_badarg(env);
  if (waitpid((pid_t)pid, &status, 0) != (pid_t)pid || !WIFEXITED(status)) return enif_make_int(env, -1);
  return enif_make_int(env, WEXITSTATUS(status));
}

static ErlNifFunc functions[] = {{"status_of_child", 1, status_of_child, ERL_NIF_DIRTY_JOB_IO_BOUND},
                                 {"left_child", 1, left_child, ERL_NIF_DIRTY_JOB_IO_BOUND},
                                 {"status_of", 1, status_of, ERL_NIF_DIRTY_JOB_IO_BOUND}};

ERL_NIF_INIT(forking, functions, NULL, NULL, NULL, NULL)
