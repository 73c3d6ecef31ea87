/* SPDX-License-Identifier: Apache-2.0 */
/* What native functions use beside terms: texts, locks, threads and what belongs to them, time,
   shared libraries. */
#include <erl_nif.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static ERL_NIF_TERM string(ErlNifEnv* env, const char* text) {
  return enif_make_string(env, text, ERL_NIF_LATIN1);
}

static ERL_NIF_TERM truth(ErlNifEnv* env, int value) { return enif_make_atom(env, value ? "true" : "false"); }

/* ---- Texts ---- */

#define ADD(...)                                          \
  (n = enif_snprintf(buffer, sizeof buffer, __VA_ARGS__), \
   list = enif_make_list_cell(env, enif_make_tuple2(env, enif_make_int(env, n), string(env, buffer)), list))

/* texts(Term): each conversion, from the last to the first. */
static ERL_NIF_TERM texts(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  char buffer[600], longer[401];
  int n;
  ERL_NIF_TERM list = enif_make_list(env, 0);
  (void)argc;
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = 0;
  ADD("%s", "");
  ADD("plain");
  ADD("100%%");
  ADD("%d %i %u", -5, 6, 4000000000U);
  ADD("%ld %lu %lld %llu", -5L, 6UL, -7LL, 18446744073709551615ULL);
  ADD("%hd %hu", -5, 65535);
  ADD("%x %X %o %#x %#o", 255U, 255U, 8U, 255U, 8U);
  ADD("%lx %lX", 0xABCDEF0123UL, 0xABCDEF0123UL);
  ADD("%5d|%-5d|%05d|%+d|% d|%.3d", 42, 42, 42, 42, 42, 42);
  ADD("%*d|%-*d|%.*s", 5, 42, 5, 42, 2, "abcdef");
  ADD("%c%c%c|%3c|%-3c|", 'a', 'b', 'c', 'd', 'e');
  ADD("%s|%8s|%-8s|%.2s|", "text", "text", "text", "text");
  ADD("%f %.1f %8.3f %-8.1f|", 1.5, 2.25, 3.14159, 4.0);
  ADD("%e %.2E", 12345.678, 0.00012);
  ADD("%T %T", argv[0], enif_make_int(env, 7));
  ADD("%s.", longer);
  ADD("%d%s%T%c", 1, "two", enif_make_atom(env, "three"), '4');
  return list;
}

static ERL_NIF_TERM cut(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  char buffer[40];
  int n, room;
  (void)argc;
  if (!enif_get_int(env, argv[0], &room) || room > (int)sizeof buffer) return enif_make_badarg(env);
  strcpy(buffer, "untouched");
  n = enif_snprintf(buffer, (size_t)room, "%T-%s-%d", argv[1], "abc", 42);
  return enif_make_tuple2(env, enif_make_int(env, n), string(env, buffer));
}

static int into_file(FILE* file, const char* format, ...) {
  va_list list;
  int n;
  va_start(list, format);
  n = enif_vfprintf(file, format, list);
  va_end(list);
  return n;
}

static int into_buffer(char* buffer, size_t size, const char* format, ...) {
  va_list list;
  int n;
  va_start(list, format);
  n = enif_vsnprintf(buffer, size, format, list);
  va_end(list);
  return n;
}

/* written(Path, Term): the numbers of bytes, and whether a file open for reading only tells. */
static ERL_NIF_TERM written(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  char path[200], buffer[100];
  FILE* file;
  int first, second, third, fourth;
  (void)argc;
  if (enif_get_string(env, argv[0], path, sizeof path, ERL_NIF_LATIN1) <= 0 || !(file = fopen(path, "w")))
    return enif_make_badarg(env);
  first = enif_fprintf(file, "%d %T\n", 1, argv[1]);
  second = into_file(file, "%s %T %d\n", "two", argv[1], 2);
  third = into_buffer(buffer, sizeof buffer, "%T %d %s", argv[1], 3, "three");
  fprintf(file, "%s\n", buffer);
  fclose(file);
  if (!(file = fopen(path, "r"))) return enif_make_badarg(env);
  fourth = enif_fprintf(file, "not %s", "here");
  fclose(file);
  return enif_make_list4(env, enif_make_int(env, first), enif_make_int(env, second),
                         enif_make_int(env, third), truth(env, fourth < 0));
}

/* ---- Locks: tried by a second thread while the first holds them ---- */

typedef struct {
  ErlNifMutex* mutex;
  ErlNifRWLock* lock;
  ErlNifCond* changed;
  ErlNifTSDKey key;
  int turn; /* guarded by mutex */
  int mutex_is_free, may_read, may_write, key_was_empty, has_tid;
  char name[20];
} Shared;

static void* try_all(void* argument) {
  Shared* s = argument;
  char* name = enif_thread_name(enif_thread_self());
  s->key_was_empty = enif_tsd_get(s->key) == NULL;
  enif_tsd_set(s->key, argument);
  s->has_tid = enif_equal_tids(enif_thread_self(), enif_thread_self());
  snprintf(s->name, sizeof s->name, "%s", name ? name : "none");
  if ((s->mutex_is_free = enif_mutex_trylock(s->mutex) == 0)) enif_mutex_unlock(s->mutex);
  if ((s->may_read = enif_rwlock_tryrlock(s->lock) == 0)) enif_rwlock_runlock(s->lock);
  if ((s->may_write = enif_rwlock_tryrwlock(s->lock) == 0)) enif_rwlock_rwunlock(s->lock);
  return enif_tsd_get(s->key);
}

static ERL_NIF_TERM tried(ErlNifEnv* env, Shared* s) {
  ErlNifThreadOpts* options = enif_thread_opts_create("options");
  ErlNifTid tid;
  void* result = NULL;
  int started, joined, other;
  options->suggested_stack_size = 64; /* kilowords */
  started = enif_thread_create("second", &tid, try_all, s, options) == 0;
  enif_thread_opts_destroy(options);
  if (!started) return enif_make_badarg(env);
  other = !enif_equal_tids(tid, enif_thread_self());
  joined = enif_thread_join(tid, &result) == 0;
  return enif_make_list(env, 8, truth(env, s->mutex_is_free), truth(env, s->may_read),
                        truth(env, s->may_write), truth(env, s->key_was_empty), truth(env, s->has_tid),
                        truth(env, other), truth(env, joined && result == s), string(env, s->name));
}

/* locks(): what a second thread gets while the first holds all, reads, holds nothing; names. */
static ERL_NIF_TERM locks(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Shared s;
  ERL_NIF_TERM all, reading, nothing, names;
  int own;
  (void)argc, (void)argv;
  memset(&s, 0, sizeof s);
  s.mutex = enif_mutex_create("a mutex");
  s.lock = enif_rwlock_create("a lock");
  if (enif_tsd_key_create("a key", &s.key)) return enif_make_badarg(env);
  enif_tsd_set(s.key, env);
  enif_mutex_lock(s.mutex);
  enif_rwlock_rwlock(s.lock);
  all = tried(env, &s);
  enif_rwlock_rwunlock(s.lock);
  enif_mutex_unlock(s.mutex);
  enif_rwlock_rlock(s.lock);
  reading = tried(env, &s);
  enif_rwlock_runlock(s.lock);
  nothing = tried(env, &s);
  own = enif_tsd_get(s.key) == env;
  enif_tsd_set(s.key, NULL);
  names = enif_make_list3(env, string(env, enif_mutex_name(s.mutex)), string(env, enif_rwlock_name(s.lock)),
                          truth(env, own));
  enif_tsd_key_destroy(s.key);
  enif_rwlock_destroy(s.lock);
  enif_mutex_destroy(s.mutex);
  return enif_make_list4(env, all, reading, nothing, names);
}

static void* second_turn(void* argument) {
  Shared* s = argument;
  enif_mutex_lock(s->mutex);
  s->turn = 1;
  enif_cond_signal(s->changed);
  while (s->turn != 2) enif_cond_wait(s->changed, s->mutex);
  enif_mutex_unlock(s->mutex);
  enif_thread_exit(&s->turn);
  return NULL;
}

/* Two threads take turns; the second ends in the middle of a function. */
static ERL_NIF_TERM turns(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Shared s;
  ErlNifTid tid;
  void* result = NULL;
  ERL_NIF_TERM name;
  (void)argc, (void)argv;
  memset(&s, 0, sizeof s);
  s.mutex = enif_mutex_create("turns");
  s.changed = enif_cond_create("changed");
  if (enif_thread_create("turns", &tid, second_turn, &s, NULL)) return enif_make_badarg(env);
  enif_mutex_lock(s.mutex);
  while (s.turn != 1) enif_cond_wait(s.changed, s.mutex);
  s.turn = 2;
  enif_cond_signal(s.changed);
  enif_mutex_unlock(s.mutex);
  enif_thread_join(tid, &result);
  name = string(env, enif_cond_name(s.changed));
  enif_cond_destroy(s.changed);
  enif_mutex_destroy(s.mutex);
  return enif_make_tuple2(env, truth(env, result == &s.turn), name);
}

/* ---- Time, memory, shared libraries ---- */

static ERL_NIF_TERM times(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifTimeUnit units[] = {ERL_NIF_SEC, ERL_NIF_MSEC, ERL_NIF_USEC, ERL_NIF_NSEC};
  ERL_NIF_TERM offsets[4];
  int i;
  (void)argc, (void)argv;
  for (i = 0; i < 4; ++i) offsets[i] = enif_make_int64(env, enif_time_offset(units[i]));
  return enif_make_tuple3(env, enif_make_list_from_array(env, offsets, 4), enif_cpu_time(env),
                          truth(env, enif_time_offset((ErlNifTimeUnit)17) == ERL_NIF_TIME_ERROR));
}

/* Grown, shrunk, from nothing: what was there stays. */
static ERL_NIF_TERM memory(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  char* p = enif_realloc(NULL, 4);
  int same;
  (void)argc, (void)argv;
  memcpy(p, "abc", 4);
  p = enif_realloc(p, 1 << 20);
  p = enif_realloc(p, 4);
  same = strcmp(p, "abc") == 0;
  enif_free(p);
  enif_free(NULL);
  return truth(env, same);
}

static void complain(void* argument, const char* why) { *(int*)argument += why && *why; }

/* shared_libraries(Path): [opened, not there, nor without a handler, symbol found, not found, nor
   without a handler, complaints]. */
static ERL_NIF_TERM shared_libraries(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  char path[200], nowhere[210];
  int complaints = 0;
  void *library, *missing, *quiet, *found, *absent, *silent;
  (void)argc;
  if (enif_get_string(env, argv[0], path, sizeof path, ERL_NIF_LATIN1) <= 0) return enif_make_badarg(env);
  snprintf(nowhere, sizeof nowhere, "%s.so", path); /* the name goes without its end */
  library = enif_dlopen(path, complain, &complaints);
  missing = enif_dlopen(nowhere, complain, &complaints);
  quiet = enif_dlopen(nowhere, NULL, NULL);
  if (!library) return enif_make_atom(env, "none");
  found = enif_dlsym(library, "nif_init", complain, &complaints);
  absent = enif_dlsym(library, "no_such_symbol_anywhere", complain, &complaints);
  silent = enif_dlsym(library, "no_such_symbol_anywhere", NULL, NULL);
  return enif_make_list7(env, truth(env, library != NULL), truth(env, missing != NULL),
                         truth(env, quiet != NULL), truth(env, found != NULL), truth(env, absent != NULL),
                         truth(env, silent != NULL), enif_make_int(env, complaints));
}

static ErlNifFunc functions[] = {{"texts", 1, texts, 0},     {"cut", 2, cut, 0},
                                 {"written", 2, written, 0}, {"locks", 0, locks, 0},
                                 {"turns", 0, turns, 0},     {"times", 0, times, 0},
                                 {"memory", 0, memory, 0},   {"shared_libraries", 1, shared_libraries, 0}};

ERL_NIF_INIT(environment, functions, NULL, NULL, NULL, NULL)
