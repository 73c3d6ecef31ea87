/* SPDX-License-Identifier: Apache-2.0 */
/* What the interface has since 2.17 and 2.18: options of a library, texts in UTF-8, sizes of
   terms. */
#include <erl_nif.h>

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#if ERL_NIF_MINOR_VERSION >= 18

typedef struct {
  atomic_int threads, ended;
  int refused[3]; /* what setting an option for the second time gave */
} Data;

static void say(const char* line) {
  if (write(2, line, strlen(line)) < 0) _exit(3);
}

static void on_halt(void* data) {
  say("the machine halts\n");
  ((Data*)data)->ended = 1;
}

static void on_unload_thread(void* data) { ((Data*)data)->threads++; }

static int load(ErlNifEnv* env, void** data, ERL_NIF_TERM info) {
  Data* d = *data = enif_alloc(sizeof *d);
  (void)info;
  memset(d, 0, sizeof *d);
  if (enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) || enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt) ||
      enif_set_option(env, ERL_NIF_OPT_ON_UNLOAD_THREAD, on_unload_thread))
    return 1;
  d->refused[0] = enif_set_option(env, ERL_NIF_OPT_DELAY_HALT);
  d->refused[1] = enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt);
  d->refused[2] = enif_set_option(env, ERL_NIF_OPT_ON_UNLOAD_THREAD, on_unload_thread);
  return 0;
}

static void unload(ErlNifEnv* env, void* data) {
  ErlNifPid pid;
  if (enif_whereis_pid(env, enif_make_atom(env, "witness"), &pid))
    enif_send(
        env, &pid, NULL,
        enif_make_tuple2(env, enif_make_atom(env, "threads"), enif_make_int(env, ((Data*)data)->threads)));
  enif_free(data);
}

static ERL_NIF_TERM refused(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Data* d = enif_priv_data(env);
  const int late = enif_set_option(env, ERL_NIF_OPT_DELAY_HALT);
  (void)argc, (void)argv;
  return enif_make_list4(env, enif_make_int(env, d->refused[0]), enif_make_int(env, d->refused[1]),
                         enif_make_int(env, d->refused[2]), enif_make_int(env, late));
}

/* Says that it has begun; goes on until the machine halts, and a little longer. */
static ERL_NIF_TERM until_halt(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  Data* d = enif_priv_data(env);
  ErlNifPid pid;
  (void)argc;
  enif_get_local_pid(env, argv[0], &pid);
  enif_send(env, &pid, NULL, enif_make_atom(env, "begun"));
  while (!d->ended) usleep(1000);
  usleep(50000);
  say("the call returns\n");
  return argv[0];
}

static ERL_NIF_TERM size(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  (void)argc;
  return enif_make_int(env, (int)(enif_term_size(argv[0]) / sizeof(ERL_NIF_TERM)));
}

static ERL_NIF_TERM cache_index(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  unsigned index = 0;
  (void)argc;
  if (!enif_get_atom_cache_index(env, argv[0], &index)) return enif_make_badarg(env);
  return enif_make_atom(env, index <= enif_max_atom_cache_index() ? "within" : "beyond");
}

/* (List, Bytes, Encoding): {Result, Length or none, Bytes of the buffer} */
static ERL_NIF_TERM string(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  char buffer[64];
  unsigned length = 0, bytes = 0;
  int encoding = 0, result;
  ERL_NIF_TERM out, known;
  (void)argc;
  enif_get_uint(env, argv[1], &bytes);
  enif_get_int(env, argv[2], &encoding);
  result = enif_get_string(env, argv[0], buffer, bytes, (ErlNifCharEncoding)encoding);
  known = enif_get_string_length(env, argv[0], &length, (ErlNifCharEncoding)encoding)
              ? enif_make_uint(env, length)
              : enif_make_atom(env, "none");
  memcpy(enif_make_new_binary(env, strlen(buffer), &out), buffer, strlen(buffer));
  return enif_make_tuple3(env, enif_make_int(env, result), known, out);
}

/* (Bytes, Encoding): {Atom, its length, the length it is told, String} */
static ERL_NIF_TERM atom(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  ErlNifBinary bytes;
  int encoding = 0, copied;
  unsigned length = 0;
  char name[1100];
  ERL_NIF_TERM made, found;
  (void)argc;
  enif_inspect_binary(env, argv[0], &bytes);
  enif_get_int(env, argv[1], &encoding);
  if (!enif_make_new_atom_len(env, (char*)bytes.data, bytes.size, &made, (ErlNifCharEncoding)encoding))
    return enif_make_atom(env, "no_atom");
  if (!enif_make_existing_atom_len(env, (char*)bytes.data, bytes.size, &found,
                                   (ErlNifCharEncoding)encoding) ||
      !enif_is_identical(made, found))
    return enif_make_atom(env, "another");
  copied = enif_get_atom(env, made, name, sizeof name, (ErlNifCharEncoding)encoding);
  enif_get_atom_length(env, made, &length, (ErlNifCharEncoding)encoding);
  return enif_make_tuple4(
      env, made, enif_make_int(env, copied), enif_make_uint(env, length),
      enif_make_string_len(env, (char*)bytes.data, bytes.size, (ErlNifCharEncoding)encoding));
}

static ErlNifFunc functions[] = {{"refused", 0, refused, 0},
                                 {"until_halt", 1, until_halt, ERL_NIF_DIRTY_JOB_IO_BOUND},
                                 {"keeps_scheduler", 1, until_halt, 0},
                                 {"size", 1, size, 0},
                                 {"cache_index", 1, cache_index, 0},
                                 {"string", 3, string, 0},
                                 {"atom", 2, atom, 0}};

ERL_NIF_INIT(options, functions, load, NULL, NULL, unload)

#endif
