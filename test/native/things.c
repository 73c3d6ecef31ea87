/* SPDX-License-Identifier: Apache-2.0 */
/* Resources with all four callbacks: monitors they hold, calls into them, who keeps them; ports by
   name, and terms and vectors made in the ways that are seldom used. */
#include <erl_nif.h>

#include <string.h>
#include <unistd.h>

typedef struct {
  ErlNifMonitor monitor;
  int fds[2];
} Thing;

typedef struct {
  ErlNifPid pid;
  int known; /* the monitor is the one that was set last */
} Gone;

static ErlNifResourceType *things, *plain;

static void say(ErlNifEnv* env, ERL_NIF_TERM what) {
  ErlNifPid witness;
  if (enif_whereis_pid(env, enif_make_atom(env, "witness"), &witness)) enif_send(env, &witness, NULL, what);
}

static ERL_NIF_TERM truth(ErlNifEnv* env, int value) { return enif_make_atom(env, value ? "true" : "false"); }

static Thing* kept; /* by keep(), until it is destroyed; nobody hears of the others */

static void destroyed(ErlNifEnv* env, void* object) {
  if (object != kept) return;
  kept = NULL;
  say(env, enif_make_atom(env, "destroyed"));
}

static void stopped(ErlNifEnv* env, void* object, ErlNifEvent fd, int direct) {
  Thing* t = object;
  (void)fd, (void)direct;
  close(t->fds[0]);
  close(t->fds[1]);
  say(env, enif_make_atom(env, "stopped"));
}

static void down(ErlNifEnv* env, void* object, ErlNifPid* pid, ErlNifMonitor* monitor) {
  Thing* t = object;
  say(env, enif_make_tuple4(env, enif_make_atom(env, "down"), enif_make_pid(env, pid),
                            truth(env, enif_compare_monitors(monitor, &t->monitor) == 0),
                            enif_make_monitor_term(env, monitor)));
}

/* The data of a call: a number that is added to. */
static void called(ErlNifEnv* env, void* object, void* call_data) {
  *(int*)call_data += (int)enif_sizeof_resource(object);
  say(env, enif_make_atom(env, "called"));
}

static int load(ErlNifEnv* env, void** priv_data, ERL_NIF_TERM info) {
  ErlNifResourceTypeInit all = {destroyed, stopped, down, 4, called}, none = {NULL, NULL, NULL, 0, NULL};
  (void)priv_data, (void)info;
  things = enif_init_resource_type(env, "thing", &all, ERL_NIF_RT_CREATE, NULL);
  plain = enif_init_resource_type(env, "plain", &none, ERL_NIF_RT_CREATE, NULL);
  return !things || !plain;
}

static ERL_NIF_TERM make(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int is_plain = enif_is_identical(argv[0], enif_make_atom(env, "plain"));
  Thing* t = enif_alloc_resource(is_plain ? plain : things, sizeof *t);
  ERL_NIF_TERM term = enif_make_resource(env, t);
  (void)argc;
  memset(t, 0, sizeof *t);
  enif_release_resource(t);
  return term;
}

static Thing* thing_of(ErlNifEnv* env, ERL_NIF_TERM term) {
  void* object;
  return enif_get_resource(env, term, things, &object) || enif_get_resource(env, term, plain, &object)
             ? object
             : NULL;
}

/* watch(Thing, Pid): {what enif_monitor_process said, as a sign, the monitor as a term} */
static ERL_NIF_TERM watch(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Thing* t = thing_of(env, argv[0]);
  ErlNifPid pid;
  int result;
  (void)argc;
  if (!t || !enif_get_local_pid(env, argv[1], &pid)) return enif_make_badarg(env);
  result = enif_monitor_process(env, t, &pid, &t->monitor);
  if (result) return enif_make_int(env, result < 0 ? -1 : 1);
  return enif_make_monitor_term(env, &t->monitor);
}

static ERL_NIF_TERM unwatch(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Thing* t = thing_of(env, argv[0]);
  (void)argc;
  return t ? enif_make_int(env, enif_demonitor_process(env, t, &t->monitor) != 0) : enif_make_badarg(env);
}

static ERL_NIF_TERM same_monitor(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Thing *a = thing_of(env, argv[0]), *b = thing_of(env, argv[1]);
  int there, back;
  (void)argc;
  if (!a || !b) return enif_make_badarg(env);
  there = enif_compare_monitors(&a->monitor, &b->monitor);
  back = enif_compare_monitors(&b->monitor, &a->monitor);
  return enif_make_tuple2(env, truth(env, there == 0), truth(env, (there < 0) == (back > 0)));
}

/* keep(Thing), let_go(): a reference that no term has is taken and given back. */
static ERL_NIF_TERM keep(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  if (!(kept = thing_of(env, argv[0]))) return enif_make_badarg(env);
  enif_keep_resource(kept);
  return enif_make_uint64(env, enif_sizeof_resource(kept));
}

static ERL_NIF_TERM let_go(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ERL_NIF_TERM again = enif_make_resource(env, kept);
  (void)argc, (void)argv;
  enif_release_resource(kept);
  return truth(env, thing_of(env, again) == kept);
}

/* call(Module, Type, Thing): {what was said, the number} */
static ERL_NIF_TERM call(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int number = 1000;
  int said = enif_dynamic_resource_call(env, argv[0], argv[1], argv[2], &number);
  (void)argc;
  return enif_make_tuple2(env, enif_make_int(env, said != 0), enif_make_int(env, number));
}

/* selected(Thing, Message): told by that message that a pipe has something to read */
static ERL_NIF_TERM selected(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Thing* t = thing_of(env, argv[0]);
  ErlNifEnv* message_env = enif_alloc_env();
  ERL_NIF_TERM message = enif_make_copy(message_env, argv[1]);
  int said, written;
  (void)argc;
  if (!t || pipe(t->fds)) return enif_make_badarg(env);
  said = enif_select_x(env, t->fds[0], ERL_NIF_SELECT_READ | ERL_NIF_SELECT_CUSTOM_MSG, t, NULL, message,
                       message_env);
  enif_free_env(message_env);
  written = (int)write(t->fds[1], "x", 1);
  return enif_make_tuple2(env, enif_make_int(env, said), enif_make_int(env, written));
}

static ERL_NIF_TERM unselected(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Thing* t = thing_of(env, argv[0]);
  (void)argc;
  if (!t) return enif_make_badarg(env);
  return truth(env, enif_select(env, t->fds[0], ERL_NIF_SELECT_STOP, t, NULL, argv[0]) >= 0);
}

/* port(Name or Port): {the port of that name, or none, whether it is alive} */
static ERL_NIF_TERM port(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifPort p;
  (void)argc;
  if (!enif_get_local_port(env, argv[0], &p) && !enif_whereis_port(env, argv[0], &p))
    return enif_make_atom(env, "none");
  return enif_make_tuple2(env, p.port_id, truth(env, enif_is_port_alive(env, &p)));
}

/* bytes(Binary): as a string, as an atom if there is one, twice in a tuple */
static ERL_NIF_TERM bytes(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifBinary b;
  ERL_NIF_TERM text, atom;
  (void)argc;
  if (!enif_inspect_binary(env, argv[0], &b)) return enif_make_badarg(env);
  text = enif_make_string_len(env, (const char*)b.data, b.size, ERL_NIF_LATIN1);
  if (!enif_make_existing_atom_len(env, (const char*)b.data, b.size, &atom, ERL_NIF_LATIN1))
    atom = enif_make_tuple(env, 0);
  return enif_make_tuple(env, 3, text, atom, enif_make_tuple(env, 2, argv[0], argv[0]));
}

/* vector(Binaries, Most): {parts, bytes, what is left} of a vector that needs no environment */
static ERL_NIF_TERM vector(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifIOVec* v = NULL;
  ERL_NIF_TERM tail, result;
  unsigned most;
  (void)argc;
  if (!enif_get_uint(env, argv[1], &most)) return enif_make_badarg(env);
  if (!enif_inspect_iovec(NULL, most, argv[0], &tail, &v)) return enif_make_atom(env, "false");
  result = enif_make_tuple(env, 3, enif_make_int(env, v->iovcnt), enif_make_uint64(env, v->size), tail);
  enif_free_iovec(v);
  return result;
}

static ErlNifFunc functions[] = {{"make", 1, make, 0},
                                 {"watch", 2, watch, 0},
                                 {"unwatch", 1, unwatch, 0},
                                 {"keep", 1, keep, 0},
                                 {"same_monitor", 2, same_monitor, 0},
                                 {"let_go", 0, let_go, 0},
                                 {"call", 3, call, 0},
                                 {"selected", 2, selected, 0},
                                 {"unselected", 1, unselected, 0},
                                 {"port", 1, port, 0},
                                 {"bytes", 1, bytes, 0},
                                 {"vector", 2, vector, 0}};

ERL_NIF_INIT(things, functions, load, NULL, NULL, NULL)
