/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and makes terms of every kind; the functions of the native interface seen from Erlang. */
#include <erl_nif.h>
#include <stdint.h>
#include <string.h>

#define ATOM(env, name) enif_make_atom(env, name)
static ERL_NIF_TERM boolean(ErlNifEnv* env, int value) { return ATOM(env, value ? "true" : "false"); }

/* What a term is, by every test: {Type, [TestThatHolds]} */
static ERL_NIF_TERM kind(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  static const char* const types[] = {"none", "atom", "bitstring", "float", "fun",       "integer",
                                      "list", "map",  "pid",       "port",  "reference", "tuple"};
  struct {
    const char* name;
    int holds;
  } tests[] = {
      {"atom", enif_is_atom(env, argv[0])},
      {"binary", enif_is_binary(env, argv[0])},
      {"empty_list", enif_is_empty_list(env, argv[0])},
      {"fun", enif_is_fun(env, argv[0])},
      {"list", enif_is_list(env, argv[0])},
      {"map", enif_is_map(env, argv[0])},
      {"number", enif_is_number(env, argv[0])},
      {"pid", enif_is_pid(env, argv[0])},
      {"port", enif_is_port(env, argv[0])},
      {"ref", enif_is_ref(env, argv[0])},
      {"tuple", enif_is_tuple(env, argv[0])},
      {"exception", enif_is_exception(env, argv[0])},
  };
  ERL_NIF_TERM list = enif_make_list(env, 0);
  size_t i;
  (void)argc;
  for (i = sizeof tests / sizeof *tests; i-- > 0;)
    if (tests[i].holds) list = enif_make_list_cell(env, ATOM(env, tests[i].name), list);
  return enif_make_tuple2(env, ATOM(env, types[enif_term_type(env, argv[0])]), list);
}

/* [int, uint, long, ulong, double] as far as the number fits */
static ERL_NIF_TERM numbers(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ERL_NIF_TERM list = enif_make_list(env, 0), out;
  int i;
  unsigned u;
  long l;
  unsigned long ul;
  ErlNifSInt64 s64;
  ErlNifUInt64 u64;
  double d;
  (void)argc;
#define ADD(TAG, TERM) list = enif_make_list_cell(env, enif_make_tuple2(env, ATOM(env, TAG), TERM), list)
  if (enif_get_int(env, argv[0], &i)) ADD("int", enif_make_int(env, i));
  if (enif_get_uint(env, argv[0], &u)) ADD("uint", enif_make_uint(env, u));
  if (enif_get_long(env, argv[0], &l)) ADD("long", enif_make_long(env, l));
  if (enif_get_ulong(env, argv[0], &ul)) ADD("ulong", enif_make_ulong(env, ul));
  if (enif_get_int64(env, argv[0], &s64)) ADD("int64", enif_make_int64(env, s64));
  if (enif_get_uint64(env, argv[0], &u64)) ADD("uint64", enif_make_uint64(env, u64));
  if (enif_get_double(env, argv[0], &d)) ADD("double", enif_make_double(env, d));
  return enif_make_reverse_list(env, list, &out) ? out : enif_make_badarg(env);
}

static ERL_NIF_TERM limits(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  (void)argv;
  return enif_make_list(env, 7, enif_make_int(env, INT32_MIN), enif_make_uint(env, UINT32_MAX),
                        enif_make_int64(env, INT64_MIN), enif_make_int64(env, INT64_MAX),
                        enif_make_uint64(env, UINT64_MAX), enif_make_long(env, (1L << 59) - 1),
                        enif_make_long(env, 1L << 59));
}

/* {Name, Length, Result} of an atom in a buffer of Size bytes; the same for a string */
static ERL_NIF_TERM atom_text(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  char buffer[300] = "untouched";
  unsigned size, length = 0;
  int result, known;
  (void)argc;
  if (!enif_get_uint(env, argv[1], &size) || size > sizeof buffer) return enif_make_badarg(env);
  known = enif_get_atom_length(env, argv[0], &length, ERL_NIF_LATIN1);
  result = enif_get_atom(env, argv[0], buffer, size, ERL_NIF_LATIN1);
  return enif_make_tuple4(env, boolean(env, known), enif_make_uint(env, length), enif_make_int(env, result),
                          enif_make_string(env, buffer, ERL_NIF_LATIN1));
}
static ERL_NIF_TERM string_text(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  char buffer[300] = "untouched";
  unsigned size;
  int result;
  (void)argc;
  if (!enif_get_uint(env, argv[1], &size) || size > sizeof buffer) return enif_make_badarg(env);
  result = enif_get_string(env, argv[0], buffer, size, ERL_NIF_LATIN1);
  return enif_make_tuple2(env, enif_make_int(env, result),
                          enif_make_string(env, result ? buffer : "", ERL_NIF_LATIN1));
}
static ERL_NIF_TERM make_atoms(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ERL_NIF_TERM there, not_there = ATOM(env, "absent");
  (void)argc;
  (void)argv;
  enif_make_existing_atom(env, "ok", &there, ERL_NIF_LATIN1);
  return enif_make_list5(
      env, there,
      boolean(env, enif_make_existing_atom(env, "no such atom anywhere", &not_there, ERL_NIF_LATIN1)),
      not_there, enif_make_atom_len(env, "cutting", 3), ATOM(env, "\xe5\xe4\xf6"));
}

/* Elements of a tuple as a list, a list as a tuple, {Head, Tail} and length */
static ERL_NIF_TERM swap(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  const ERL_NIF_TERM* elements;
  int arity;
  unsigned length;
  ERL_NIF_TERM array[64], head, tail = argv[0];
  (void)argc;
  if (enif_get_tuple(env, argv[0], &arity, &elements))
    return enif_make_list_from_array(env, elements, (unsigned)arity);
  if (!enif_get_list_length(env, argv[0], &length) || length > 64) return enif_make_badarg(env);
  for (arity = 0; enif_get_list_cell(env, tail, &head, &tail); ++arity) array[arity] = head;
  return enif_make_tuple_from_array(env, array, (unsigned)arity);
}

/* {Compare, Identical} */
static ERL_NIF_TERM compare(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  int c = enif_compare(argv[0], argv[1]);
  (void)argc;
  return enif_make_tuple2(env, enif_make_int(env, c < 0 ? -1 : c > 0),
                          boolean(env, enif_is_identical(argv[0], argv[1])));
}
static ERL_NIF_TERM phash(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  if (enif_hash(ERL_NIF_INTERNAL_HASH, argv[0], 7) != enif_hash(ERL_NIF_INTERNAL_HASH, argv[0], 7))
    return ATOM(env, "unstable");
  return enif_make_uint64(env, enif_hash(ERL_NIF_PHASH2, argv[0], 0));
}

/* The bytes of a binary or iolist, reversed, in each of the ways a binary can be made */
static ERL_NIF_TERM reversed(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifBinary in, out, grown;
  ERL_NIF_TERM by_make, by_new, by_realloc, part;
  unsigned char* bytes;
  size_t i;
  (void)argc;
  if (!enif_inspect_iolist_as_binary(env, argv[0], &in)) return enif_make_badarg(env);
  enif_alloc_binary(in.size, &out);
  for (i = 0; i < in.size; ++i) out.data[i] = in.data[in.size - 1 - i];
  by_make = enif_make_binary(env, &out);
  bytes = enif_make_new_binary(env, in.size, &by_new);
  for (i = 0; i < in.size; ++i) bytes[i] = in.data[in.size - 1 - i];
  enif_alloc_binary(1, &grown);
  if (!enif_realloc_binary(&grown, in.size)) return enif_make_badarg(env);
  memcpy(grown.data, bytes, in.size);
  by_realloc = enif_make_binary(env, &grown);
  part = in.size > 2 ? enif_make_sub_binary(env, by_make, 1, in.size - 2) : ATOM(env, "short");
  enif_alloc_binary(10, &out);
  enif_release_binary(&out);
  return enif_make_tuple4(
      env, boolean(env, enif_is_identical(by_make, by_new) && enif_is_identical(by_new, by_realloc)),
      boolean(env, enif_inspect_binary(env, argv[0], &in)), by_make, part);
}
static ERL_NIF_TERM external(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifBinary bin;
  ERL_NIF_TERM back, nonsense;
  size_t used, trailing;
  (void)argc;
  if (!enif_term_to_binary(env, argv[0], &bin)) return enif_make_badarg(env);
  used = enif_binary_to_term(env, bin.data, bin.size, &back, 0);
  trailing = bin.size - used;
  if (enif_binary_to_term(env, (const unsigned char*)"\x83nonsense", 9, &nonsense, ERL_NIF_BIN2TERM_SAFE))
    return ATOM(env, "accepted");
  enif_release_binary(&bin);
  return enif_make_tuple2(env, back, enif_make_uint64(env, trailing));
}

/* Maps: {Size, [{K,V}] forwards, [K] backwards, ValueOf a, put, update, remove} */
static ERL_NIF_TERM map(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifMapIterator it;
  ERL_NIF_TERM key, value, forwards = enif_make_list(env, 0), backwards = forwards, out, results[7];
  ERL_NIF_TERM a = ATOM(env, "a"), one = enif_make_int(env, 1);
  size_t size;
  (void)argc;
  if (!enif_get_map_size(env, argv[0], &size)) return enif_make_badarg(env);
  if (!enif_map_iterator_create(env, argv[0], &it, ERL_NIF_MAP_ITERATOR_FIRST)) return enif_make_badarg(env);
  while (enif_map_iterator_get_pair(env, &it, &key, &value)) {
    forwards = enif_make_list_cell(env, enif_make_tuple2(env, key, value), forwards);
    enif_map_iterator_next(env, &it);
  }
  if (!enif_map_iterator_is_tail(env, &it)) return ATOM(env, "not_at_tail");
  while (enif_map_iterator_prev(env, &it)) {
    enif_map_iterator_get_pair(env, &it, &key, &value);
    backwards = enif_make_list_cell(env, key, backwards);
  }
  if (!enif_map_iterator_is_head(env, &it)) return ATOM(env, "not_at_head");
  enif_map_iterator_destroy(env, &it);
  enif_make_reverse_list(env, forwards, &forwards);
  results[0] = enif_make_uint64(env, size);
  results[1] = forwards;
  results[2] = backwards;
  results[3] = enif_get_map_value(env, argv[0], a, &value) ? value : ATOM(env, "none");
  results[4] = enif_make_map_put(env, argv[0], a, one, &out) ? out : ATOM(env, "none");
  results[5] = enif_make_map_update(env, argv[0], a, one, &out) ? out : ATOM(env, "none");
  results[6] = enif_make_map_remove(env, argv[0], a, &out) ? out : ATOM(env, "none");
  return enif_make_list_from_array(env, results, 7);
}
static ERL_NIF_TERM make_maps(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ERL_NIF_TERM keys[50], values[50], small, large, doubled;
  int i;
  (void)argc;
  (void)argv;
  for (i = 0; i < 50; ++i) {
    keys[i] = enif_make_int(env, i);
    values[i] = enif_make_int(env, i * i);
  }
  enif_make_map_from_arrays(env, keys, values, 3, &small);
  enif_make_map_from_arrays(env, keys, values, 50, &large);
  keys[1] = keys[0];
  if (!enif_make_map_from_arrays(env, keys, values, 3, &doubled)) doubled = ATOM(env, "refused");
  return enif_make_list4(env, enif_make_new_map(env), small, large, doubled);
}

/* A copy through an environment of its own */
static ERL_NIF_TERM copied(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifEnv* other = enif_alloc_env();
  ERL_NIF_TERM there = enif_make_copy(other, argv[0]), back;
  (void)argc;
  there = enif_make_list2(other, there, enif_make_copy(other, there));
  back = enif_make_copy(env, there);
  enif_clear_env(other);
  enif_make_string(other, "again", ERL_NIF_LATIN1);
  enif_free_env(other);
  return back;
}

/* raise(Reason); raise_twice(): what is returned does not matter then */
static ERL_NIF_TERM raise(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ERL_NIF_TERM reason, exception;
  (void)argc;
  if (enif_has_pending_exception(env, NULL)) return ATOM(env, "early");
  exception = enif_raise_exception(env, argv[0]);
  if (!enif_is_exception(env, exception) || !enif_has_pending_exception(env, &reason) ||
      !enif_is_identical(reason, argv[0]))
    return ATOM(env, "wrong");
  return exception;
}

static ERL_NIF_TERM text(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  char buffer[400];
  int n = enif_snprintf(buffer, sizeof buffer, "%d|%5.2f|%-4s|%c|%lu|%x|%T|%%|%*d|%.3s", -1, 2.5, "ab", 'c',
                        1234567890123UL, 255u, argv[0], 4, 7, "abcdef");
  (void)argc;
  return enif_make_tuple2(env, enif_make_int(env, n), enif_make_string(env, buffer, ERL_NIF_LATIN1));
}

/* Processes: sends Msg to To; {Sent, SelfIsCaller, ToIsAlive} */
static ERL_NIF_TERM send(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifPid to, self;
  int sent;
  (void)argc;
  if (!enif_get_local_pid(env, argv[0], &to) && !enif_whereis_pid(env, argv[0], &to))
    return ATOM(env, "nobody");
  enif_self(env, &self);
  sent = enif_send(env, &to, NULL, argv[1]);
  if (sent) {
    ErlNifEnv* message = enif_alloc_env();
    sent = enif_send(env, &to, message,
                     enif_make_tuple2(message, ATOM(message, "from"), enif_make_pid(message, &self)));
    enif_free_env(message);
  }
  return enif_make_tuple3(env, boolean(env, sent), enif_make_pid(env, &self),
                          boolean(env, enif_is_process_alive(env, &to)));
}

static ERL_NIF_TERM others(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifPid pid;
  ErlNifTime t = enif_monotonic_time(ERL_NIF_MSEC);
  ErlNifSysInfo info;
  char value[100];
  size_t size = sizeof value;
  ERL_NIF_TERM r1 = enif_make_ref(env), r2 = enif_make_ref(env);
  (void)argc;
  (void)argv;
  enif_set_pid_undefined(&pid);
  enif_system_info(&info, sizeof info);
  return enif_make_list(
      env, 10, boolean(env, enif_is_pid_undefined(&pid)), boolean(env, enif_is_identical(r1, r2)),
      boolean(env, enif_monotonic_time(ERL_NIF_MSEC) >= t),
      enif_make_int64(env, enif_convert_time_unit(-1500, ERL_NIF_MSEC, ERL_NIF_SEC)),
      boolean(env, enif_convert_time_unit(1, 99, ERL_NIF_SEC) == ERL_NIF_TIME_ERROR),
      boolean(env, info.nif_major_version == 2 && info.nif_minor_version >= 16),
      enif_make_int(env, enif_getenv("NO_SUCH_VARIABLE", value, &size)),
      boolean(env, enif_getenv("PATH", value, &size) >= 0),
      boolean(env, enif_is_number(env, enif_make_unique_integer(env, ERL_NIF_UNIQUE_POSITIVE))),
      boolean(env, enif_is_current_process_alive(env)));
}

/* An I/O queue: [Size, [PieceSizes], HeadBinary, SizeAfter, Rest] */
static ERL_NIF_TERM queue(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifIOQueue* q = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
  ErlNifIOVec on_stack, *vec = &on_stack;
  ErlNifBinary bin;
  ERL_NIF_TERM tail, results[5], pieces = enif_make_list(env, 0), all = pieces;
  SysIOVec* iov;
  size_t size = 0;
  int count, i;
  (void)argc;
  if (!enif_inspect_iovec(env, 64, argv[0], &tail, &vec) || !enif_is_empty_list(env, tail))
    return enif_make_badarg(env);
  enif_ioq_enqv(q, vec, 1);
  enif_alloc_binary(3, &bin);
  memcpy(bin.data, "end", 3);
  enif_ioq_enq_binary(q, &bin, 0);
  results[0] = enif_make_uint64(env, enif_ioq_size(q));
  iov = enif_ioq_peek(q, &count);
  for (i = count; i-- > 0;) pieces = enif_make_list_cell(env, enif_make_uint64(env, iov[i].iov_len), pieces);
  results[1] = pieces;
  if (!enif_ioq_peek_head(env, q, &size, &results[2])) results[2] = ATOM(env, "empty");
  if (!enif_ioq_deq(q, size + 1, &size)) return ATOM(env, "deq");
  results[3] = enif_make_uint64(env, size);
  iov = enif_ioq_peek(q, &count);
  for (i = count; i-- > 0;) {
    ERL_NIF_TERM piece;
    memcpy(enif_make_new_binary(env, iov[i].iov_len, &piece), iov[i].iov_base, iov[i].iov_len);
    all = enif_make_list_cell(env, piece, all);
  }
  results[4] = all;
  if (enif_ioq_deq(q, 1000000, NULL)) return ATOM(env, "too_much");
  enif_ioq_destroy(q);
  return enif_make_list_from_array(env, results, 5);
}

/* held(Pid): tells Pid that it has begun, and goes on until its process has been killed. Dirty. */
static ERL_NIF_TERM held(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifPid pid;
  ErlNifTime begun = enif_monotonic_time(ERL_NIF_SEC);
  (void)argc;
  if (!enif_get_local_pid(env, argv[0], &pid)) return enif_make_badarg(env);
  enif_send(env, &pid, NULL, ATOM(env, "begun"));
  while (enif_is_current_process_alive(env) && enif_monotonic_time(ERL_NIF_SEC) < begun + 60) continue;
  return ATOM(env, enif_is_current_process_alive(env) ? "not_killed" : "killed");
}

/* nap(Milliseconds): holds the scheduler. */
static ERL_NIF_TERM nap(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifTime end = enif_monotonic_time(ERL_NIF_MSEC);
  int milliseconds;
  (void)argc;
  if (!enif_get_int(env, argv[0], &milliseconds)) return enif_make_badarg(env);
  for (end += milliseconds; enif_monotonic_time(ERL_NIF_MSEC) < end;) continue;
  return enif_make_atom(env, "awake");
}

static ErlNifFunc functions[] = {
    {"kind", 1, kind, 0},
    {"numbers", 1, numbers, 0},
    {"limits", 0, limits, 0},
    {"atom_text", 2, atom_text, 0},
    {"string_text", 2, string_text, 0},
    {"make_atoms", 0, make_atoms, 0},
    {"swap", 1, swap, 0},
    {"compare", 2, compare, 0},
    {"phash", 1, phash, 0},
    {"reversed", 1, reversed, 0},
    {"external", 1, external, 0},
    {"map", 1, map, 0},
    {"make_maps", 0, make_maps, 0},
    {"copied", 1, copied, 0},
    {"raise", 1, raise, 0},
    {"text", 1, text, 0},
    {"send", 2, send, 0},
    {"others", 0, others, 0},
    {"queue", 1, queue, 0},
    {"held", 1, held, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"nap", 1, nap, 0},
};

ERL_NIF_INIT(terms, functions, NULL, NULL, NULL, NULL)
