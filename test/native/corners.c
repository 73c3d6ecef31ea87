/* SPDX-License-Identifier: Apache-2.0 */
/* Corners of the native interface: what resources keep alive, who has a descriptor, commands to
   ports, clocks, arguments under matching. Says what happens to `witness`. */
#include <erl_nif.h>

#include <string.h>
#include <unistd.h>

typedef struct {
  int fd; /* or -1 */
} Thing;

typedef struct {
  ErlNifResourceType* things;
  int missing_tried, taken_tried; /* what enif_open_resource_type said it did */
} Data;

static void say(ErlNifEnv* env, const char* what) {
  ErlNifPid pid;
  if (enif_whereis_pid(env, enif_make_atom(env, "witness"), &pid))
    enif_send(env, &pid, NULL, enif_make_atom(env, what));
}

static void gone(ErlNifEnv* env, void* object) {
  Data* data = enif_priv_data(env);
  (void)object;
  say(env, data->things ? "gone" : "gone_without_data");
}

static void stopped(ErlNifEnv* env, void* object, ErlNifEvent fd, int direct) {
  (void)object, (void)direct;
  close(fd);
  say(env, "stopped");
}

static ERL_NIF_TERM make_thing(ErlNifEnv* env, int fd) {
  Thing* t = enif_alloc_resource(((Data*)enif_priv_data(env))->things, sizeof *t);
  ERL_NIF_TERM term = enif_make_resource(env, t);
  t->fd = fd;
  enif_release_resource(t);
  return term;
}

static int get_thing(ErlNifEnv* env, ERL_NIF_TERM term, Thing** t) {
  return enif_get_resource(env, term, ((Data*)enif_priv_data(env))->things, (void**)t);
}

static ERL_NIF_TERM thing(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int fd = -1;
  (void)argc;
  enif_get_int(env, argv[0], &fd);
  return make_thing(env, fd);
}

static ERL_NIF_TERM open_pipe(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int fds[2];
  (void)argc, (void)argv;
  if (pipe(fds)) return enif_make_badarg(env);
  return enif_make_tuple2(env, enif_make_int(env, fds[0]), enif_make_int(env, fds[1]));
}

static ERL_NIF_TERM put(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int fd;
  (void)argc;
  if (!enif_get_int(env, argv[0], &fd)) return enif_make_badarg(env);
  return enif_make_int(env, (int)write(fd, "x", 1));
}

static ERL_NIF_TERM await(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Thing* t;
  (void)argc;
  if (!get_thing(env, argv[0], &t)) return enif_make_badarg(env);
  return enif_make_int(env, enif_select(env, t->fd, ERL_NIF_SELECT_READ, t, NULL, argv[1]));
}

static ERL_NIF_TERM stop(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Thing* t;
  (void)argc;
  if (!get_thing(env, argv[0], &t)) return enif_make_badarg(env);
  return enif_make_int(env, enif_select(env, t->fd, ERL_NIF_SELECT_STOP, t, NULL, argv[0]) < 0);
}

/* The thing's memory as a binary, and what that leads back to. */
static ERL_NIF_TERM through_binary(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Thing *t, *again = NULL;
  ERL_NIF_TERM binary;
  (void)argc;
  if (!get_thing(env, argv[0], &t)) return enif_make_badarg(env);
  binary = enif_make_resource_binary(env, t, t, sizeof *t);
  return enif_make_atom(env, get_thing(env, binary, &again) && again == t ? "same" : "other");
}

static ERL_NIF_TERM tried(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Data* data = enif_priv_data(env);
  (void)argc, (void)argv;
  return enif_make_tuple2(env, enif_make_int(env, data->missing_tried),
                          enif_make_int(env, data->taken_tried));
}

static ERL_NIF_TERM command(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifPort port;
  (void)argc;
  if (!enif_get_local_port(env, argv[0], &port)) return enif_make_badarg(env);
  return enif_make_int(env, enif_port_command(env, &port, NULL, argv[1]));
}

static ERL_NIF_TERM compare_pids(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifPid a, b;
  int order;
  (void)argc;
  if (!enif_get_local_pid(env, argv[0], &a) || !enif_get_local_pid(env, argv[1], &b))
    return enif_make_badarg(env);
  order = enif_compare_pids(&a, &b);
  return enif_make_int(env, order < 0 ? -1 : order > 0);
}

static ERL_NIF_TERM now(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc, (void)argv;
  return enif_now_time(env);
}

static ERL_NIF_TERM later(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  if (enif_is_number(env, argv[0])) return enif_raise_exception(env, enif_make_atom(env, "refused"));
  return enif_make_tuple2(env, enif_make_atom(env, "later"), argv[0]);
}

/* A number says on which kind of scheduler the second step is to fail. */
static ERL_NIF_TERM in_two_steps(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int flags = 0;
  const int fails = enif_get_int(env, argv[0], &flags);
  ERL_NIF_TERM argument = fails ? enif_make_int(env, flags + 100) : argv[0];
  ERL_NIF_TERM scheduled = enif_schedule_nif(env, "later", flags, later, argc, &argument);
  return enif_is_exception(env, scheduled) ? enif_make_badarg(env) : scheduled;
}

/* (Percent, Times): what enif_consume_timeslice has said in the end. */
static ERL_NIF_TERM consume(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int percent = 0, times = 0, used_up = 0;
  (void)argc;
  enif_get_int(env, argv[0], &percent);
  enif_get_int(env, argv[1], &times);
  while (times-- > 0) used_up = enif_consume_timeslice(env, percent);
  return enif_make_int(env, used_up);
}

static ERL_NIF_TERM rest(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifBinary bytes;
  (void)argc;
  return enif_inspect_binary(env, argv[0], &bytes) ? enif_make_uint64(env, bytes.size)
                                                   : enif_make_atom(env, "no_binary");
}

static ErlNifResourceType* open_type(ErlNifEnv* env, const char* name, int flags, int* tried) {
  ErlNifResourceTypeInit callbacks = {gone, stopped, NULL, 0, NULL};
  ErlNifResourceFlags said = 0;
  ErlNifResourceType* type =
      enif_open_resource_type_x(env, name, &callbacks, (ErlNifResourceFlags)flags, &said);
  *tried = (int)said;
  return type;
}

static int load(ErlNifEnv* env, void** priv_data, ERL_NIF_TERM info) {
  Data* data = enif_alloc(sizeof *data);
  (void)info;
  if (open_type(env, "nowhere", ERL_NIF_RT_TAKEOVER, &data->missing_tried)) return 1;
  data->things = open_type(env, "thing", ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, &data->taken_tried);
  *priv_data = data;
  say(env, "loaded");
  return data->things == NULL;
}

static int upgrade(ErlNifEnv* env, void** priv_data, void** old_data, ERL_NIF_TERM info) {
  (void)old_data;
  return load(env, priv_data, info);
}

static void unload(ErlNifEnv* env, void* priv_data) {
  Data* data = priv_data;
  say(env, "unloaded");
  data->things = NULL;
  enif_free(data);
}

static ErlNifFunc functions[] = {{"thing", 1, thing, 0},
                                 {"open_pipe", 0, open_pipe, 0},
                                 {"put", 1, put, 0},
                                 {"await", 2, await, 0},
                                 {"stop", 1, stop, 0},
                                 {"through_binary", 1, through_binary, 0},
                                 {"tried", 0, tried, 0},
                                 {"command", 2, command, 0},
                                 {"compare_pids", 2, compare_pids, 0},
                                 {"now", 0, now, 0},
                                 {"in_two_steps", 1, in_two_steps, 0},
                                 {"consume", 2, consume, 0},
                                 {"rest", 1, rest, 0}};

ERL_NIF_INIT_GLOB
ERL_NIF_INIT(corners, functions, load, NULL, upgrade, unload)
