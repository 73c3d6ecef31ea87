/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of native functions that take long: counting primes in three ways. yielding/1 works in
   pieces and gives up its scheduler between them (enif_consume_timeslice, enif_schedule_nif);
   dirty_cpu/1 and dirty_io/1 run on dirty schedulers; on_thread/1 starts a thread that sends the
   result. drivers/samples/primes.erl is its module. */
#include <erl_nif.h>

static int is_prime(unsigned long n) {
  unsigned long d;
  if (n < 4) return n > 1;
  if (n % 2 == 0) return 0;
  for (d = 3; d * d <= n; d += 2)
    if (n % d == 0) return 0;
  return 1;
}

static unsigned long count_primes(unsigned long from, unsigned long to) {
  unsigned long n, found = 0;
  for (n = from; n <= to; ++n) found += is_prime(n);
  return found;
}

enum { kPiece = 500 };

/* count(Next, Limit, Found, Pieces) -> {Primes, TimesCalled} */
static ERL_NIF_TERM count(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  unsigned long next, limit, found, calls;
  ERL_NIF_TERM state[4];
  (void)argc;
  enif_get_ulong(env, argv[0], &next);
  enif_get_ulong(env, argv[1], &limit);
  enif_get_ulong(env, argv[2], &found);
  enif_get_ulong(env, argv[3], &calls);
  ++calls;
  while (next <= limit) {
    unsigned long last = next + kPiece - 1 < limit ? next + kPiece - 1 : limit;
    found += count_primes(next, last);
    next = last + 1;
    if (next <= limit && enif_consume_timeslice(env, 25)) {
      state[0] = enif_make_ulong(env, next);
      state[1] = argv[1];
      state[2] = enif_make_ulong(env, found);
      state[3] = enif_make_ulong(env, calls);
      return enif_schedule_nif(env, "count", 0, count, 4, state);
    }
  }
  return enif_make_tuple2(env, enif_make_ulong(env, found), enif_make_ulong(env, calls));
}

/* yielding(Limit) -> {Primes, TimesCalled} */
static ERL_NIF_TERM yielding(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  unsigned long limit;
  ERL_NIF_TERM state[4];
  (void)argc;
  if (!enif_get_ulong(env, argv[0], &limit)) return enif_make_badarg(env);
  state[0] = enif_make_ulong(env, 2);
  state[1] = argv[0];
  state[2] = state[3] = enif_make_ulong(env, 0);
  return enif_schedule_nif(env, "count", 0, count, 4, state);
}

static const char* thread_name(void) {
  switch (enif_thread_type()) {
    case ERL_NIF_THR_NORMAL_SCHEDULER: return "scheduler";
    case ERL_NIF_THR_DIRTY_CPU_SCHEDULER: return "dirty_cpu";
    case ERL_NIF_THR_DIRTY_IO_SCHEDULER: return "dirty_io";
    default: return "other";
  }
}

/* dirty_cpu(Limit), dirty_io(Limit) -> {Primes, KindOfThread} */
static ERL_NIF_TERM dirty(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  unsigned long limit;
  (void)argc;
  if (!enif_get_ulong(env, argv[0], &limit)) return enif_make_badarg(env);
  return enif_make_tuple2(env, enif_make_ulong(env, count_primes(2, limit)),
                          enif_make_atom(env, thread_name()));
}

static ERL_NIF_TERM here(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  (void)argv;
  return enif_make_atom(env, thread_name());
}

/* there_and_back(Limit) -> {Primes, dirty_cpu}: switches to a dirty scheduler itself. */
static ERL_NIF_TERM there_and_back(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  return enif_schedule_nif(env, "dirty", ERL_NIF_DIRTY_JOB_CPU_BOUND, dirty, argc, argv);
}

typedef struct {
  ErlNifTid tid;
  ErlNifPid pid;
  ErlNifEnv* env; /* of the message */
  ERL_NIF_TERM ref;
  unsigned long limit;
} Job;

static void* work(void* argument) {
  Job* job = argument;
  ERL_NIF_TERM result = enif_make_ulong(job->env, count_primes(2, job->limit));
  enif_send(NULL, &job->pid, job->env,
            enif_make_tuple3(job->env, job->ref, enif_make_atom(job->env, thread_name()), result));
  enif_free_env(job->env);
  return job;
}

/* priv_data: threads that have been started and are joined when the library goes. Not in static
   variables: a file is mapped once, also while one version of the module's code still runs a call
   and another one has been loaded. */
typedef struct {
  ErlNifMutex* lock;
  Job* jobs[1000];
  int count;
} Started;

/* on_thread(Limit) -> Ref; {Ref, other, Primes} follows as a message. */
static ERL_NIF_TERM on_thread(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  unsigned long limit;
  ERL_NIF_TERM ref = enif_make_ref(env);
  Started* started = enif_priv_data(env);
  Job* job;
  (void)argc;
  if (!enif_get_ulong(env, argv[0], &limit)) return enif_make_badarg(env);
  job = enif_alloc(sizeof(Job));
  enif_self(env, &job->pid);
  job->env = enif_alloc_env();
  job->ref = enif_make_copy(job->env, ref);
  job->limit = limit;
  enif_mutex_lock(started->lock);
  if (started->count == (int)(sizeof started->jobs / sizeof *started->jobs) ||
      enif_thread_create("primes", &job->tid, work, job, NULL) != 0) {
    enif_mutex_unlock(started->lock);
    enif_free_env(job->env);
    enif_free(job);
    return enif_raise_exception(env, enif_make_atom(env, "system_limit"));
  }
  started->jobs[started->count++] = job;
  enif_mutex_unlock(started->lock);
  return ref;
}

static int load(ErlNifEnv* env, void** priv_data, ERL_NIF_TERM info) {
  Started* started = enif_alloc(sizeof(Started));
  (void)env;
  (void)info;
  started->lock = enif_mutex_create("primes.jobs");
  started->count = 0;
  *priv_data = started;
  return 0;
}

static void unload(ErlNifEnv* env, void* priv_data) {
  Started* started = priv_data;
  int i;
  (void)env;
  for (i = 0; i < started->count; ++i) {
    enif_thread_join(started->jobs[i]->tid, NULL);
    enif_free(started->jobs[i]);
  }
  enif_mutex_destroy(started->lock);
  enif_free(started);
}

static ErlNifFunc functions[] = {
    {"yielding", 1, yielding, 0},
    {"dirty_cpu", 1, dirty, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"dirty_io", 1, dirty, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"here", 0, here, 0},
    {"there_and_back", 1, there_and_back, 0},
    {"on_thread", 1, on_thread, 0},
};

ERL_NIF_INIT(primes, functions, load, NULL, NULL, unload)
