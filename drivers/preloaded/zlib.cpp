// SPDX-License-Identifier: Apache-2.0
// Compression: each stream is a resource that belongs to a process. Input is put into a queue
// (enqueue_nif). deflate_nif and inflate_nif take a piece of it, make a chunk of output, and say
// whether there is more to do, so that no call takes long.

#include <zlib.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "drivers/preloaded/modules.hpp"
#include "drivers/preloaded/resources.hpp"
#include "vm/nif/library.hpp"

namespace vmrun::preloaded {
namespace {

using Terms = const ERL_NIF_TERM*;

constexpr size_t kVectorsAtOnce = 256;
constexpr size_t kDictionaryBytes = 32768;  // the largest window

// What zlib.erl asks to do with input behind the end of a stream.
enum Behind { kIsError, kIsNewStream, kIsCut };

enum class State { kFresh, kDeflates, kInflates, kClosed };

struct Stream {
  z_stream z{};
  State state = State::kFresh;
  int behind = kIsCut;
  bool at_end = false;
  bool raw = false;        // neither a header nor a checksum of its own
  uLong plain_crc = 0;     // of a raw stream's uncompressed data
  int chunk_bytes = 4000;  // for inflateChunk
  ErlNifIOQueue* input = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
  ErlNifEnv* stash_env = nullptr;  // owns `stash`; nullptr: no stash
  ERL_NIF_TERM stash = 0;
  std::mutex owner_lock;
  ErlNifPid owner;

  ~Stream() {
    close();
    enif_ioq_destroy(input);
  }
  void drop_stash() {
    if (stash_env) enif_free_env(stash_env);
    stash_env = nullptr;
  }
  void drop_input() {
    enif_ioq_destroy(input);
    input = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    drop_stash();
  }
  int end() {
    const State was = std::exchange(state, State::kFresh);
    return was == State::kDeflates ? deflateEnd(&z) : inflateEnd(&z);
  }
  void close() {
    if (state == State::kDeflates || state == State::kInflates) end();
    drop_stash();
    state = State::kClosed;
  }
};

Resources<Stream> streams;

ERL_NIF_TERM atom(ErlNifEnv* env, const char* text) { return enif_make_atom(env, text); }
ERL_NIF_TERM fail(ErlNifEnv* env, const char* reason) { return enif_raise_exception(env, atom(env, reason)); }

ERL_NIF_TERM answer(ErlNifEnv* env, int code) {
  switch (code) {
    case Z_OK: return atom(env, "ok");
    case Z_STREAM_END: return atom(env, "stream_end");
    case Z_STREAM_ERROR: return fail(env, "stream_error");
    case Z_DATA_ERROR: return fail(env, "data_error");
    case Z_MEM_ERROR: return atom(env, "mem_error");
    case Z_BUF_ERROR: return atom(env, "buf_error");
    case Z_VERSION_ERROR: return atom(env, "version_error");
    default: return atom(env, "unknown_error");
  }
}

bool is_owner(ErlNifEnv* env, Stream& s) {
  ErlNifPid self;
  enif_self(env, &self);
  const std::lock_guard lock(s.owner_lock);
  return enif_compare_pids(&self, &s.owner) == 0;
}

using Function = ERL_NIF_TERM(ErlNifEnv*, Stream&, Terms);

template <State state, Function* function>
ERL_NIF_TERM checked(ErlNifEnv* env, Stream& s, Terms a) {
  if (s.state == state) return function(env, s, a);
  return fail(env, state == State::kFresh ? "already_initialized" : "not_initialized");
}

/// Begins all functions of a stream: checks that the argument is a stream and belongs to the
/// caller.
template <Function* function>
ERL_NIF_TERM of_stream(ErlNifEnv* env, int, Terms a) {
  Stream* s = streams.find(env, a[0]);
  if (!s) return enif_make_badarg(env);
  return is_owner(env, *s) ? function(env, *s, a) : fail(env, "not_on_controlling_process");
}

/// Like of_stream, for functions that require a state.
template <State state, Function* function>
ERL_NIF_TERM in_state(ErlNifEnv* env, int argc, Terms a) {
  return of_stream<checked<state, function>>(env, argc, a);
}

template <size_t n>
bool get_ints(ErlNifEnv* env, Terms a, int (&out)[n]) {
  return std::all_of(out, out + n, [&, i = 0](int& x) mutable { return enif_get_int(env, a[i++], &x); });
}

ERL_NIF_TERM open(ErlNifEnv* env, int, Terms) {
  ERL_NIF_TERM term;
  Stream& s = streams.make(env, &term);
  s.z.data_type = Z_BINARY;
  enif_self(env, &s.owner);
  return term;
}

ERL_NIF_TERM close(ErlNifEnv* env, Stream& s, Terms) {
  if (s.state == State::kClosed) return fail(env, "not_initialized");
  s.close();
  return atom(env, "ok");
}

ERL_NIF_TERM set_controller(ErlNifEnv* env, Stream& s, Terms a) {
  ErlNifPid owner;
  if (!enif_get_local_pid(env, a[1], &owner)) return enif_make_badarg(env);
  const std::lock_guard lock(s.owner_lock);
  s.owner = owner;
  return atom(env, "ok");
}

ERL_NIF_TERM begun(ErlNifEnv* env, Stream& s, State state, int window_bits, int code) {
  if (code == Z_OK) {
    s.state = state;
    s.at_end = false;
    s.raw = window_bits < 0;
    s.plain_crc = crc32(0, nullptr, 0);
  }
  return answer(env, code);
}

ERL_NIF_TERM deflate_init(ErlNifEnv* env, Stream& s, Terms a) {
  int x[5];  // level, method, window bits, memory level, strategy
  if (!get_ints(env, a + 1, x)) return enif_make_badarg(env);
  return begun(env, s, State::kDeflates, x[2], deflateInit2(&s.z, x[0], x[1], x[2], x[3], x[4]));
}

ERL_NIF_TERM inflate_init(ErlNifEnv* env, Stream& s, Terms a) {
  int x[2];  // window bits, behind the end
  if (!get_ints(env, a + 1, x)) return enif_make_badarg(env);
  s.behind = x[1];
  return begun(env, s, State::kInflates, x[0], inflateInit2(&s.z, x[0]));
}

ERL_NIF_TERM deflate_set_dictionary(ErlNifEnv* env, Stream& s, Terms a) {
  ErlNifBinary bytes;
  if (!enif_inspect_iolist_as_binary(env, a[1], &bytes)) return enif_make_badarg(env);
  const auto size = static_cast<uInt>(bytes.size);
  if (const int code = deflateSetDictionary(&s.z, bytes.data, size); code != Z_OK) return answer(env, code);
  // A raw stream has no checksum of its own.
  return enif_make_ulong(env, s.raw ? adler32(0, bytes.data, size) : s.z.adler);
}

ERL_NIF_TERM inflate_set_dictionary(ErlNifEnv* env, Stream& s, Terms a) {
  ErlNifBinary bytes;
  if (!enif_inspect_iolist_as_binary(env, a[1], &bytes)) return enif_make_badarg(env);
  return answer(env, inflateSetDictionary(&s.z, bytes.data, static_cast<uInt>(bytes.size)));
}

ERL_NIF_TERM inflate_get_dictionary(ErlNifEnv* env, Stream& s, Terms) {
  ErlNifBinary bytes;
  if (!enif_alloc_binary(kDictionaryBytes, &bytes)) return answer(env, Z_MEM_ERROR);
  uInt size = 0;
  if (const int code = inflateGetDictionary(&s.z, bytes.data, &size); code < 0) {
    enif_release_binary(&bytes);
    return answer(env, code);
  }
  enif_realloc_binary(&bytes, size);
  return enif_make_binary(env, &bytes);
}

template <int reset_stream(z_stream*)>
ERL_NIF_TERM reset(ErlNifEnv* env, Stream& s, Terms) {
  const int code = reset_stream(&s.z);
  s.plain_crc = crc32(0, nullptr, 0);
  s.at_end = false;
  s.drop_input();
  return answer(env, code);
}

ERL_NIF_TERM end(ErlNifEnv* env, Stream& s, Terms) {
  const bool complete = s.state == State::kDeflates || s.at_end;
  int code = s.end();
  if (code == Z_OK && (!complete || enif_ioq_size(s.input) > 0)) code = Z_DATA_ERROR;
  s.drop_input();
  return answer(env, code);
}

/// zlib.erl has flushed all output before. One byte of room shows whether that is true.
ERL_NIF_TERM deflate_params(ErlNifEnv* env, Stream& s, Terms a) {
  int x[2];  // level, strategy
  if (!get_ints(env, a + 1, x)) return enif_make_badarg(env);
  Bytef room;
  s.z.next_out = &room;
  s.z.avail_out = 1;
  const int code = deflateParams(&s.z, x[0], x[1]);
  return answer(env, s.z.avail_out == 0 ? Z_STREAM_ERROR : code);
}

// ---- Compressing ----

using Codec = int(z_stream*, int);

struct Step {
  int code = Z_OK;
  size_t consumed = 0, produced = 0, left = 0;
};

/// Takes up to `limit` bytes of the queue. The codec is told to flush only when the queue is empty,
/// even if the only output left is what did not fit into the last chunk.
Step take_step(Codec* codec, ErlNifEnv* env, Stream& s, size_t limit, ErlNifBinary& output, int flush) {
  Step step;
  int count;
  const SysIOVec* vectors = enif_ioq_peek(s.input, &count);
  s.z.next_out = output.data;
  s.z.avail_out = static_cast<uInt>(output.size);
  for (int i = 0; i < count && step.code == Z_OK && step.consumed < limit; ++i) {
    auto* const bytes = reinterpret_cast<Bytef*>(vectors[i].iov_base);
    const size_t size = std::min<size_t>(vectors[i].iov_len, limit);
    s.z.next_in = bytes;
    s.z.avail_in = static_cast<uInt>(size);
    step.code = codec(&s.z, Z_NO_FLUSH);
    const size_t taken = size - s.z.avail_in;
    step.consumed += taken;
    if (s.raw && s.state == State::kDeflates)
      s.plain_crc = crc32(s.plain_crc, bytes, static_cast<uInt>(taken));
    if (enif_consume_timeslice(env, std::clamp<int>(static_cast<int>(100 * taken / limit), 1, 100))) break;
  }
  if (!enif_ioq_deq(s.input, step.consumed, &step.left)) {
    step.code = Z_BUF_ERROR;
    step.left = 0;
  }
  if (step.code == Z_OK && step.left == 0 && s.z.avail_out > 0) {
    s.z.next_in = nullptr;
    s.z.avail_in = 0;
    step.code = codec(&s.z, flush);
  }
  step.produced = output.size - s.z.avail_out;
  return step;
}

/// {finished | continue, [Output]} or {need_dictionary, Adler, [Output]}.
ERL_NIF_TERM run(Codec* codec, ErlNifEnv* env, Stream& s, Terms a) {
  int x[3];  // bytes of input and of output, flush
  if (!get_ints(env, a + 1, x) || x[0] <= 0 || x[1] <= 0) return enif_make_badarg(env);
  const auto room = static_cast<size_t>(x[1]);
  ErlNifBinary output;
  if (!enif_alloc_binary(room, &output)) return answer(env, Z_MEM_ERROR);
  const Step step = take_step(codec, env, s, static_cast<size_t>(x[0]), output, x[2]);
  const bool stuck = step.consumed == 0 && step.produced == 0 && step.left != 0;
  const bool failed = step.code < 0 && step.code != Z_BUF_ERROR;
  if (failed || stuck) {
    enif_release_binary(&output);
    return answer(env, failed ? step.code : Z_DATA_ERROR);
  }
  if (step.code == Z_STREAM_END) s.at_end = true;
  if (s.raw && s.state == State::kInflates)
    s.plain_crc = crc32(s.plain_crc, output.data, static_cast<uInt>(step.produced));
  ERL_NIF_TERM list = enif_make_list(env, 0);
  if (step.produced > 0) {
    if (step.produced < room) enif_realloc_binary(&output, step.produced);
    list = enif_make_list1(env, enif_make_binary(env, &output));
  } else {
    enif_release_binary(&output);
  }
  if (step.left == 0 && step.produced < room) return enif_make_tuple2(env, atom(env, "finished"), list);
  if (step.code != Z_NEED_DICT) return enif_make_tuple2(env, atom(env, "continue"), list);
  return enif_make_tuple3(env, atom(env, "need_dictionary"), enif_make_ulong(env, s.z.adler), list);
}

ERL_NIF_TERM deflate_chunk(ErlNifEnv* env, Stream& s, Terms a) { return run(::deflate, env, s, a); }

ERL_NIF_TERM inflate_chunk(ErlNifEnv* env, Stream& s, Terms a) {
  if (s.at_end && enif_ioq_size(s.input) > 0) {
    if (s.behind == kIsError) return answer(env, Z_DATA_ERROR);
    if (s.behind == kIsCut) {
      s.drop_input();
    } else if (const int code = inflateReset(&s.z); code != Z_OK) {
      return answer(env, code);
    } else {
      s.at_end = false;
    }
  }
  return run(::inflate, env, s, a);
}

ERL_NIF_TERM enqueue(ErlNifEnv* env, Stream& s, Terms a) {
  if (s.state != State::kDeflates && s.state != State::kInflates) return fail(env, "not_initialized");
  ErlNifIOVec room, *vectors = &room;
  ERL_NIF_TERM tail;
  if (!enif_inspect_iovec(env, kVectorsAtOnce, a[1], &tail, &vectors) || !enif_ioq_enqv(s.input, vectors, 0))
    return enif_make_badarg(env);
  if (enif_is_empty_list(env, tail)) return atom(env, "ok");
  return enif_make_tuple2(env, atom(env, "continue"), tail);
}

// ---- Other facts about a stream ----

ERL_NIF_TERM checksum(ErlNifEnv* env, Stream& s, Terms) {
  if (s.state != State::kDeflates && s.state != State::kInflates) return fail(env, "not_initialized");
  return enif_make_ulong(env, s.plain_crc);
}

ERL_NIF_TERM get_stash(ErlNifEnv* env, Stream& s, Terms) {
  if (!s.stash_env) return atom(env, "empty");
  return enif_make_tuple2(env, atom(env, "ok"), enif_make_copy(env, s.stash));
}

ERL_NIF_TERM clear_stash(ErlNifEnv* env, Stream& s, Terms) {
  if (!s.stash_env) return fail(env, "error");
  s.drop_stash();
  return atom(env, "ok");
}

ERL_NIF_TERM set_stash(ErlNifEnv* env, Stream& s, Terms a) {
  if (s.stash_env) return fail(env, "error");
  s.stash_env = enif_alloc_env();
  s.stash = enif_make_copy(s.stash_env, a[1]);
  return atom(env, "ok");
}

ERL_NIF_TERM get_chunk_bytes(ErlNifEnv* env, Stream& s, Terms) { return enif_make_int(env, s.chunk_bytes); }

ERL_NIF_TERM set_chunk_bytes(ErlNifEnv* env, Stream& s, Terms a) {
  return enif_get_int(env, a[1], &s.chunk_bytes) ? atom(env, "ok") : enif_make_badarg(env);
}

int load(ErlNifEnv* env, void**, ERL_NIF_TERM) { return streams.open(env, "zlib") ? 0 : 1; }
int upgrade(ErlNifEnv* env, void** data, void**, ERL_NIF_TERM info) { return load(env, data, info); }

constexpr State kFresh = State::kFresh, kDeflates = State::kDeflates, kInflates = State::kInflates;

ErlNifFunc functions[] = {
    {"open_nif", 0, open, 0},
    {"close_nif", 1, of_stream<close>, 0},
    {"set_controller_nif", 2, of_stream<set_controller>, 0},
    {"deflateInit_nif", 6, in_state<kFresh, deflate_init>, 0},
    {"deflateSetDictionary_nif", 2, in_state<kDeflates, deflate_set_dictionary>, 0},
    {"deflateReset_nif", 1, in_state<kDeflates, reset<deflateReset>>, 0},
    {"deflateEnd_nif", 1, in_state<kDeflates, end>, 0},
    {"deflateParams_nif", 3, in_state<kDeflates, deflate_params>, 0},
    {"deflate_nif", 4, in_state<kDeflates, deflate_chunk>, 0},
    {"inflateInit_nif", 3, in_state<kFresh, inflate_init>, 0},
    {"inflateSetDictionary_nif", 2, in_state<kInflates, inflate_set_dictionary>, 0},
    {"inflateGetDictionary_nif", 1, in_state<kInflates, inflate_get_dictionary>, 0},
    {"inflateReset_nif", 1, in_state<kInflates, reset<inflateReset>>, 0},
    {"inflateEnd_nif", 1, in_state<kInflates, end>, 0},
    {"inflate_nif", 4, in_state<kInflates, inflate_chunk>, 0},
    {"crc32_nif", 1, of_stream<checksum>, 0},
    {"getStash_nif", 1, of_stream<get_stash>, 0},
    {"clearStash_nif", 1, of_stream<clear_stash>, 0},
    {"setStash_nif", 2, of_stream<set_stash>, 0},
    {"getBufSize_nif", 1, of_stream<get_chunk_bytes>, 0},
    {"setBufSize_nif", 2, of_stream<set_chunk_bytes>, 0},
    {"enqueue_nif", 2, of_stream<enqueue>, 0},
};

}  // namespace

ErlNifEntry* zlib() {
  static ErlNifEntry made = linked_in_entry("zlib", functions, load, upgrade);
  return &made;
}

}  // namespace vmrun::preloaded
