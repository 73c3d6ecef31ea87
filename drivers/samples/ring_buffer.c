/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of native functions: byte queues of a fixed capacity, shared by the processes that
   have the reference. Shows resources with a destructor, a lock, a process monitor, binaries made
   and read, atoms kept in priv_data, messages sent, and an upgrade that takes over the rings of the
   older code. drivers/samples/ring_buffer.erl is its module. */
#include <erl_nif.h>
#include <string.h>

typedef struct {
  ErlNifMutex* lock;
  unsigned char* bytes;
  size_t capacity, first, used;
  int watching; /* watcher gets a message when the watched process ends */
  ErlNifPid watcher;
} Ring;

typedef struct {
  ErlNifResourceType* ring_type;
  ErlNifMutex* lock;
  int alive;                                 /* rings */
  ERL_NIF_TERM ok, full, empty, ring_closed; /* atoms are good everywhere */
} Data;

/* The destructor cannot reach it otherwise. */
static Data* data;

static void destroy_ring(ErlNifEnv* env, void* object) {
  Ring* ring = object;
  (void)env;
  enif_mutex_destroy(ring->lock);
  enif_free(ring->bytes);
  enif_mutex_lock(data->lock);
  --data->alive;
  enif_mutex_unlock(data->lock);
}

/* The watched process has ended: the ring is emptied, and the watcher gets a message. */
static void process_down(ErlNifEnv* env, void* object, ErlNifPid* pid, ErlNifMonitor* monitor) {
  Ring* ring = object;
  ErlNifPid watcher;
  int watching;
  (void)monitor;
  enif_mutex_lock(ring->lock);
  ring->used = ring->first = 0;
  watching = ring->watching;
  watcher = ring->watcher;
  ring->watching = 0;
  enif_mutex_unlock(ring->lock);
  if (watching) {
    ErlNifEnv* message = enif_alloc_env();
    enif_send(env, &watcher, message,
              enif_make_tuple2(message, data->ring_closed, enif_make_pid(message, pid)));
    enif_free_env(message);
  }
}

static int open_types(ErlNifEnv* env) {
  ErlNifResourceTypeInit callbacks = {destroy_ring, NULL, process_down, 3, NULL};
  data->ring_type =
      enif_open_resource_type_x(env, "ring", &callbacks, ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, NULL);
  return data->ring_type ? 0 : 1;
}

static int load(ErlNifEnv* env, void** priv_data, ERL_NIF_TERM info) {
  (void)info;
  data = enif_alloc(sizeof(Data));
  data->lock = enif_mutex_create("ring_buffer.alive");
  data->alive = 0;
  data->ok = enif_make_atom(env, "ok");
  data->full = enif_make_atom(env, "full");
  data->empty = enif_make_atom(env, "empty");
  data->ring_closed = enif_make_atom(env, "ring_closed");
  *priv_data = data;
  return open_types(env);
}

static int upgrade(ErlNifEnv* env, void** priv_data, void** old_priv_data, ERL_NIF_TERM info) {
  (void)info;
  data = *priv_data = *old_priv_data;
  *old_priv_data = NULL;
  return open_types(env);
}

static void unload(ErlNifEnv* env, void* priv_data) {
  (void)env;
  (void)priv_data; /* what is there belongs to the newer code, or rings still alive need it */
}

static Ring* ring_of(ErlNifEnv* env, ERL_NIF_TERM term) {
  void* object;
  return enif_get_resource(env, term, data->ring_type, &object) ? object : NULL;
}

/* new(Capacity) -> Ring */
static ERL_NIF_TERM new_ring(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  unsigned capacity;
  Ring* ring;
  ERL_NIF_TERM term;
  (void)argc;
  if (!enif_get_uint(env, argv[0], &capacity) || capacity == 0) return enif_make_badarg(env);
  ring = enif_alloc_resource(data->ring_type, sizeof(Ring));
  memset(ring, 0, sizeof *ring);
  ring->lock = enif_mutex_create("ring_buffer.ring");
  ring->bytes = enif_alloc(capacity);
  ring->capacity = capacity;
  enif_mutex_lock(data->lock);
  ++data->alive;
  enif_mutex_unlock(data->lock);
  term = enif_make_resource(env, ring);
  enif_release_resource(ring); /* now the term alone keeps it */
  return term;
}

/* push(Ring, Iodata) -> {ok, BytesInRing} | full */
static ERL_NIF_TERM push(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Ring* ring = ring_of(env, argv[0]);
  ErlNifBinary in;
  size_t i, used;
  (void)argc;
  if (!ring || !enif_inspect_iolist_as_binary(env, argv[1], &in)) return enif_make_badarg(env);
  enif_mutex_lock(ring->lock);
  if (in.size > ring->capacity - ring->used) {
    enif_mutex_unlock(ring->lock);
    return data->full;
  }
  for (i = 0; i < in.size; ++i) ring->bytes[(ring->first + ring->used + i) % ring->capacity] = in.data[i];
  used = ring->used += in.size;
  enif_mutex_unlock(ring->lock);
  return enif_make_tuple2(env, data->ok, enif_make_uint64(env, used));
}

/* pop(Ring, Most) -> Binary | empty */
static ERL_NIF_TERM pop(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Ring* ring = ring_of(env, argv[0]);
  unsigned long most;
  ERL_NIF_TERM term = data->empty;
  (void)argc;
  if (!ring || !enif_get_ulong(env, argv[1], &most)) return enif_make_badarg(env);
  enif_mutex_lock(ring->lock);
  if (ring->used) {
    size_t n = most < ring->used ? most : ring->used, i;
    unsigned char* out = enif_make_new_binary(env, n, &term);
    for (i = 0; i < n; ++i) out[i] = ring->bytes[(ring->first + i) % ring->capacity];
    ring->first = (ring->first + n) % ring->capacity;
    ring->used -= n;
  }
  enif_mutex_unlock(ring->lock);
  return term;
}

/* view(Ring) -> Binary: all of the ring's memory, without a copy. The binary keeps the ring. */
static ERL_NIF_TERM view(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Ring* ring = ring_of(env, argv[0]);
  (void)argc;
  if (!ring) return enif_make_badarg(env);
  return enif_make_resource_binary(env, ring, ring->bytes, ring->capacity);
}

/* watch(Ring, Pid) -> ok | noproc: empties the ring when Pid ends, and tells the caller
   {ring_closed, Pid}. */
static ERL_NIF_TERM watch(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Ring* ring = ring_of(env, argv[0]);
  ErlNifPid pid;
  ErlNifMonitor monitor;
  (void)argc;
  if (!ring || !enif_get_local_pid(env, argv[1], &pid)) return enif_make_badarg(env);
  enif_mutex_lock(ring->lock);
  enif_self(env, &ring->watcher);
  ring->watching = 1;
  enif_mutex_unlock(ring->lock);
  if (enif_monitor_process(env, ring, &pid, &monitor) == 0) return data->ok;
  return enif_make_atom(env, "noproc");
}

/* alive() -> number of rings */
static ERL_NIF_TERM alive(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int n;
  (void)argc;
  (void)argv;
  enif_mutex_lock(data->lock);
  n = data->alive;
  enif_mutex_unlock(data->lock);
  return enif_make_int(env, n);
}

static ErlNifFunc functions[] = {
    {"new", 1, new_ring, 0}, {"push", 2, push, 0},   {"pop", 2, pop, 0},
    {"view", 1, view, 0},    {"watch", 2, watch, 0}, {"alive", 0, alive, 0},
};

ERL_NIF_INIT(ring_buffer, functions, load, NULL, upgrade, unload)
