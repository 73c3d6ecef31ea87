/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes as resources: a process gets a message when there is something to read, or room to write.
   */
#include <erl_nif.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  int fds[2]; /* -1: closed */
  ErlNifPid owner;
} Pipe;

static ErlNifResourceType* type;

static void stopped(ErlNifEnv* env, void* object, ErlNifEvent fd, int direct) {
  Pipe* pipe = object;
  ErlNifEnv* message = enif_alloc_env();
  int end = pipe->fds[0] == fd ? 0 : 1;
  (void)direct;
  close(fd);
  pipe->fds[end] = -1;
  enif_send(env, &pipe->owner, message,
            enif_make_tuple2(message, enif_make_atom(message, "closed"), enif_make_int(message, end)));
  enif_free_env(message);
}

static void destroy(ErlNifEnv* env, void* object) {
  Pipe* pipe = object;
  int i;
  for (i = 0; i < 2; ++i)
    if (pipe->fds[i] >= 0) close(pipe->fds[i]);
  (void)env;
}

static int load(ErlNifEnv* env, void** priv_data, ERL_NIF_TERM info) {
  ErlNifResourceTypeInit callbacks = {destroy, stopped, NULL, 2, NULL};
  (void)priv_data;
  (void)info;
  type = enif_init_resource_type(env, "pipe", &callbacks, ERL_NIF_RT_CREATE, NULL);
  return type ? 0 : 1;
}

static Pipe* pipe_of(ErlNifEnv* env, ERL_NIF_TERM term) {
  void* object;
  return enif_get_resource(env, term, type, &object) ? object : NULL;
}

static ERL_NIF_TERM open_pipe(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Pipe* p = enif_alloc_resource(type, sizeof(Pipe));
  ERL_NIF_TERM term = enif_make_resource(env, p);
  (void)argc;
  (void)argv;
  enif_release_resource(p);
  p->fds[0] = p->fds[1] = -1;
  if (pipe(p->fds) != 0) return enif_make_badarg(env);
  fcntl(p->fds[0], F_SETFL, O_NONBLOCK);
  fcntl(p->fds[1], F_SETFL, O_NONBLOCK);
  enif_self(env, &p->owner);
  return term;
}

/* await(Pipe, End, Ref | {custom, Message}) -> what enif_select said */
static ERL_NIF_TERM await(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Pipe* p = pipe_of(env, argv[0]);
  const ERL_NIF_TERM* custom;
  int end, arity;
  (void)argc;
  if (!p || !enif_get_int(env, argv[1], &end)) return enif_make_badarg(env);
  if (!enif_get_tuple(env, argv[2], &arity, &custom))
    return enif_make_int(env, enif_select(env, p->fds[end], end ? ERL_NIF_SELECT_WRITE : ERL_NIF_SELECT_READ,
                                          p, NULL, argv[2]));
  if (end) return enif_make_int(env, enif_select_write(env, p->fds[end], p, NULL, custom[1], NULL));
  return enif_make_int(env, enif_select_read(env, p->fds[end], p, NULL, custom[1], NULL));
}

static ERL_NIF_TERM cancel(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Pipe* p = pipe_of(env, argv[0]);
  int end;
  (void)argc;
  if (!p || !enif_get_int(env, argv[1], &end)) return enif_make_badarg(env);
  return enif_make_int(
      env, enif_select(env, p->fds[end],
                       (enum ErlNifSelectFlags)(ERL_NIF_SELECT_CANCEL |
                                                (end ? ERL_NIF_SELECT_WRITE : ERL_NIF_SELECT_READ)),
                       p, NULL, enif_make_atom(env, "undefined")));
}

static ERL_NIF_TERM stop(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Pipe* p = pipe_of(env, argv[0]);
  int end, result;
  (void)argc;
  if (!p || !enif_get_int(env, argv[1], &end)) return enif_make_badarg(env);
  result = enif_select(env, p->fds[end], ERL_NIF_SELECT_STOP, p, NULL, enif_make_atom(env, "undefined"));
  return enif_make_atom(
      env, result >= 0 && result & (ERL_NIF_SELECT_STOP_CALLED | ERL_NIF_SELECT_STOP_SCHEDULED) ? "stops"
                                                                                                : "failed");
}

static ERL_NIF_TERM put(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Pipe* p = pipe_of(env, argv[0]);
  ErlNifBinary bin;
  ssize_t n;
  (void)argc;
  if (!p || !enif_inspect_iolist_as_binary(env, argv[1], &bin)) return enif_make_badarg(env);
  n = write(p->fds[1], bin.data, bin.size);
  return n < 0 ? enif_make_atom(env, errno == EAGAIN ? "eagain" : "error") : enif_make_long(env, n);
}

static ERL_NIF_TERM take(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Pipe* p = pipe_of(env, argv[0]);
  char buffer[1 << 16];
  ERL_NIF_TERM term;
  ssize_t n;
  (void)argc;
  if (!p) return enif_make_badarg(env);
  n = read(p->fds[0], buffer, sizeof buffer);
  if (n < 0) return enif_make_atom(env, errno == EAGAIN ? "eagain" : "error");
  memcpy(enif_make_new_binary(env, (size_t)n, &term), buffer, (size_t)n);
  return term;
}

/* await_repeatedly(Pipe, N) -> ok. Selects the end to be read and cancels that, N times, and
   selects it; on a dirty scheduler. The schedulers have time to fall asleep meanwhile. */
static ERL_NIF_TERM await_repeatedly(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  const ERL_NIF_TERM undefined = enif_make_atom(env, "undefined");
  Pipe* p = pipe_of(env, argv[0]);
  int n;
  (void)argc;
  if (!p || !enif_get_int(env, argv[1], &n)) return enif_make_badarg(env);
  for (; n; --n) {
    enif_select(env, p->fds[0], ERL_NIF_SELECT_READ, p, NULL, undefined);
    enif_select(env, p->fds[0], (enum ErlNifSelectFlags)(ERL_NIF_SELECT_CANCEL | ERL_NIF_SELECT_READ), p,
                NULL, undefined);
  }
  enif_select(env, p->fds[0], ERL_NIF_SELECT_READ, p, NULL, undefined);
  return enif_make_atom(env, "ok");
}

/* number(Pipe, End) -> its descriptor */
static ERL_NIF_TERM number(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Pipe* p = pipe_of(env, argv[0]);
  int end;
  (void)argc;
  if (!p || !enif_get_int(env, argv[1], &end)) return enif_make_badarg(env);
  return enif_make_int(env, p->fds[end]);
}

static ErlNifFunc functions[] = {
    {"open", 0, open_pipe, 0}, {"await", 3, await, 0},
    {"cancel", 2, cancel, 0},  {"stop", 2, stop, 0},
    {"put", 2, put, 0},        {"take", 1, take, 0},
    {"number", 2, number, 0},  {"await_repeatedly", 2, await_repeatedly, ERL_NIF_DIRTY_JOB_IO_BOUND},
};

ERL_NIF_INIT(pipes, functions, load, NULL, NULL, NULL)
