// SPDX-License-Identifier: Apache-2.0
// Compression by libzstd, below OTP's module zstd. A context is a resource that belongs to a
// process; it refers to the dictionary that it uses. A call takes a piece of the input and makes a
// piece of the output, and zstd.erl calls again for the rest. What is slow runs on a dirty
// scheduler.

#include "drivers/preloaded/modules.hpp"

#ifdef VMRUN_ZSTD

// Frame headers and dictionaries by reference belong to the part of the library's interface that
// may change: only functions that all versions since 1.4 have are used of it.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "drivers/preloaded/resources.hpp"
#include "vm/nif/library.hpp"

namespace vmrun::preloaded {
namespace {

using Terms = const ERL_NIF_TERM*;

// The library collects blocks of this size, and compresses a block at once. Up to this level that
// takes a millisecond or two.
constexpr std::size_t kInputAtOnce = 128 << 10;
constexpr int kMostFastLevel = 6;
constexpr ZSTD_strategy kMostFastStrategy = ZSTD_lazy2;
constexpr std::size_t kBytesPerReduction = 1024;

/// The dictionary's bytes are those of a binary, which the environment keeps.
template <class Handle, std::size_t free_handle(Handle*)>
struct Dictionary {
  Handle* handle = nullptr;
  int level = 0;
  ErlNifEnv* env = enif_alloc_env();

  ~Dictionary() {
    free_handle(handle);
    enif_free_env(env);
  }
};
using CompressDictionary = Dictionary<ZSTD_CDict, ZSTD_freeCDict>;
using DecompressDictionary = Dictionary<ZSTD_DDict, ZSTD_freeDDict>;

template <class Handle, std::size_t free_handle(Handle*), class Used>
struct Context {
  Handle* handle = nullptr;  // nullptr: closed
  ErlNifPid owner;
  bool in_use = false;         // in the middle of a frame; for decompression
  const Used* used = nullptr;  // the dictionary, to which the context has a reference

  void use(const Used* dictionary) {
    if (dictionary) enif_keep_resource(const_cast<Used*>(dictionary));
    if (const Used* before = std::exchange(used, dictionary))
      enif_release_resource(const_cast<Used*>(before));
  }
  void close() {
    free_handle(std::exchange(handle, nullptr));
    use(nullptr);
  }
  ~Context() { close(); }
};
using Compressor = Context<ZSTD_CCtx, ZSTD_freeCCtx, CompressDictionary>;
using Decompressor = Context<ZSTD_DCtx, ZSTD_freeDCtx, DecompressDictionary>;

Resources<Compressor> compressors;
Resources<Decompressor> decompressors;
Resources<CompressDictionary> compress_dictionaries;
Resources<DecompressDictionary> decompress_dictionaries;

template <class Object>
Resources<Object>& resources() {
  if constexpr (std::is_same_v<Object, Compressor>) return compressors;
  else if constexpr (std::is_same_v<Object, Decompressor>) return decompressors;
  else if constexpr (std::is_same_v<Object, CompressDictionary>) return compress_dictionaries;
  else return decompress_dictionaries;
}

ERL_NIF_TERM atom(ErlNifEnv* env, const char* text) { return enif_make_atom(env, text); }
ERL_NIF_TERM ok(ErlNifEnv* env) { return atom(env, "ok"); }

/// {zstd_error, Text}
ERL_NIF_TERM fail(ErlNifEnv* env, std::size_t code) {
  const char* const text = ZSTD_getErrorName(code);
  ERL_NIF_TERM term;
  std::memcpy(enif_make_new_binary(env, std::strlen(text), &term), text, std::strlen(text));
  return enif_raise_exception(env, enif_make_tuple2(env, atom(env, "zstd_error"), term));
}
ERL_NIF_TERM ok_or_fail(ErlNifEnv* env, std::size_t code) {
  return ZSTD_isError(code) ? fail(env, code) : ok(env);
}

/// {badarg, {What, Term}}
ERL_NIF_TERM invalid(ErlNifEnv* env, const char* what, ERL_NIF_TERM term) {
  return enif_raise_exception(
      env, enif_make_tuple2(env, atom(env, "badarg"), enif_make_tuple2(env, atom(env, what), term)));
}

template <class C>
using Function = ERL_NIF_TERM(ErlNifEnv*, C&, Terms);

/// Begins all functions of a context: checks that it is open and belongs to the caller.
template <class C, Function<C>* function>
ERL_NIF_TERM of(ErlNifEnv* env, int, Terms a) {
  C* context = resources<C>().find(env, a[0]);
  if (!context || !context->handle) return enif_make_badarg(env);
  ErlNifPid self;
  enif_self(env, &self);
  if (enif_compare_pids(&self, &context->owner) != 0)
    return enif_raise_exception(env, atom(env, "not_on_controlling_process"));
  return function(env, *context, a);
}

template <class C, auto make_handle>
ERL_NIF_TERM open(ErlNifEnv* env, int, Terms) {
  ERL_NIF_TERM term;
  C& context = resources<C>().make(env, &term);
  context.handle = make_handle();
  enif_self(env, &context.owner);
  return context.handle ? term : enif_raise_exception(env, atom(env, "enomem"));
}

template <class C>
ERL_NIF_TERM close(ErlNifEnv* env, C& context, Terms) {
  context.close();
  return ok(env);
}

template <class C, auto reset_handle>
ERL_NIF_TERM reset(ErlNifEnv* env, C& context, Terms) {
  reset_handle(context.handle, ZSTD_reset_session_only);
  context.in_use = false;
  return ok(env);
}

// ---- Dictionaries ----

template <class C, auto load_bytes>
ERL_NIF_TERM load_dictionary(ErlNifEnv* env, C& context, Terms a) {
  ErlNifBinary bytes;
  if (!enif_inspect_iolist_as_binary(env, a[1], &bytes)) return enif_make_badarg(env);
  const std::size_t code = load_bytes(context.handle, bytes.data, bytes.size);
  if (!ZSTD_isError(code)) context.use(nullptr);
  return ok_or_fail(env, code);
}

template <class C, class D, auto refer>
ERL_NIF_TERM use_dictionary(ErlNifEnv* env, C& context, Terms a) {
  const D* dictionary = resources<D>().find(env, a[1]);
  if (!dictionary) return enif_make_badarg(env);
  const std::size_t code = refer(context.handle, dictionary->handle);
  if (!ZSTD_isError(code)) context.use(dictionary);
  return ok_or_fail(env, code);
}

/// make_handle(data, size, level)
template <class D, class MakeHandle>
ERL_NIF_TERM make_dictionary(ErlNifEnv* env, ERL_NIF_TERM binary, int level, const char* error,
                             MakeHandle make_handle) {
  ErlNifBinary bytes;
  ERL_NIF_TERM term;
  D& made = resources<D>().make(env, &term);
  enif_inspect_binary(made.env, enif_make_copy(made.env, binary), &bytes);
  made.level = level;
  made.handle = make_handle(bytes.data, bytes.size);
  return made.handle ? term : enif_make_tuple2(env, atom(env, "error"), atom(env, error));
}

/// (Binary, Level)
ERL_NIF_TERM create_compress_dictionary(ErlNifEnv* env, int, Terms a) {
  int level;
  if (!enif_is_binary(env, a[0]) || !enif_get_int(env, a[1], &level)) return enif_make_badarg(env);
  return make_dictionary<CompressDictionary>(
      env, a[0], level, "invalid_compress_dict", [level](const void* data, std::size_t size) {
        return ZSTD_createCDict_advanced(data, size, ZSTD_dlm_byRef, ZSTD_dct_auto,
                                         ZSTD_getCParams(level, 0, size), ZSTD_defaultCMem);
      });
}

ERL_NIF_TERM create_decompress_dictionary(ErlNifEnv* env, int, Terms a) {
  if (!enif_is_binary(env, a[0])) return enif_make_badarg(env);
  return make_dictionary<DecompressDictionary>(
      env, a[0], 0, "invalid_decompress_dict", [](const void* data, std::size_t size) {
        return ZSTD_createDDict_advanced(data, size, ZSTD_dlm_byRef, ZSTD_dct_auto, ZSTD_defaultCMem);
      });
}

template <class D, auto id>
ERL_NIF_TERM id_of_dictionary(ErlNifEnv* env, int, Terms a) {
  const D* dictionary = resources<D>().find(env, a[0]);
  return dictionary ? enif_make_uint(env, id(dictionary->handle)) : enif_make_badarg(env);
}

template <auto id>
ERL_NIF_TERM id_of_bytes(ErlNifEnv* env, int, Terms a) {
  ErlNifBinary bytes;
  if (!enif_inspect_iolist_as_binary(env, a[0], &bytes)) return enif_make_badarg(env);
  return enif_make_uint(env, id(bytes.data, bytes.size));
}

// ---- Parameters ----

enum class Values { kNumber, kFlag, kStrategy };
struct Parameter {
  const char* name;
  ZSTD_cParameter number;
  Values values = Values::kNumber;
};
constexpr Parameter kParameters[] = {
    {"compressionLevel", ZSTD_c_compressionLevel},
    {"windowLog", ZSTD_c_windowLog},
    {"hashLog", ZSTD_c_hashLog},
    {"chainLog", ZSTD_c_chainLog},
    {"searchLog", ZSTD_c_searchLog},
    {"minMatch", ZSTD_c_minMatch},
    {"targetLength", ZSTD_c_targetLength},
    {"strategy", ZSTD_c_strategy, Values::kStrategy},
    {"targetCBlockSize", ZSTD_c_targetCBlockSize},
    {"enableLongDistanceMatching", ZSTD_c_enableLongDistanceMatching, Values::kFlag},
    {"ldmHashLog", ZSTD_c_ldmHashLog},
    {"ldmMinMatch", ZSTD_c_ldmMinMatch},
    {"ldmBucketSizeLog", ZSTD_c_ldmBucketSizeLog},
    {"ldmHashRateLog", ZSTD_c_ldmHashRateLog},
    {"contentSizeFlag", ZSTD_c_contentSizeFlag, Values::kFlag},
    {"checksumFlag", ZSTD_c_checksumFlag, Values::kFlag},
    {"dictIDFlag", ZSTD_c_dictIDFlag, Values::kFlag},
};
// By their numbers.
constexpr const char* kStrategies[] = {"default", "fast",    "dfast", "greedy",  "lazy",
                                       "lazy2",   "btlazy2", "btopt", "btultra", "btultra2"};

int index_of(ErlNifEnv* env, ERL_NIF_TERM term, std::span<const char* const> names) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const char* name) {
    return enif_is_identical(term, atom(env, name)) != 0;
  });
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

const Parameter* find_parameter(ErlNifEnv* env, ERL_NIF_TERM term) {
  for (const Parameter& p : kParameters)
    if (enif_is_identical(term, atom(env, p.name))) return &p;
  return nullptr;
}

constexpr const char* kFlags[] = {"false", "true"};

bool get_value(ErlNifEnv* env, Values values, ERL_NIF_TERM term, int* value) {
  if (values == Values::kNumber) return enif_get_int(env, term, value) != 0;
  *value = values == Values::kFlag ? index_of(env, term, kFlags) : index_of(env, term, kStrategies);
  return *value >= 0;
}

ERL_NIF_TERM value_term(ErlNifEnv* env, Values values, int value) {
  if (values == Values::kNumber) return enif_make_int(env, value);
  if (values == Values::kFlag) return atom(env, kFlags[value != 0]);
  const auto index = static_cast<std::size_t>(value);
  return index < std::size(kStrategies) ? atom(env, kStrategies[index]) : enif_make_badarg(env);
}

/// (Context, Key, Value)
ERL_NIF_TERM set_compress_parameter(ErlNifEnv* env, Compressor& c, Terms a) {
  const Parameter* parameter = find_parameter(env, a[1]);
  int value;
  if (!parameter) return invalid(env, "invalid_key", a[1]);
  if (!get_value(env, parameter->values, a[2], &value)) return invalid(env, "invalid_value", a[2]);
  return ok_or_fail(env, ZSTD_CCtx_setParameter(c.handle, parameter->number, value));
}

ERL_NIF_TERM get_compress_parameter(ErlNifEnv* env, Compressor& c, Terms a) {
  const Parameter* parameter = find_parameter(env, a[1]);
  int value;
  if (!parameter) return invalid(env, "invalid_key", a[1]);
  const std::size_t code = ZSTD_CCtx_getParameter(c.handle, parameter->number, &value);
  return ZSTD_isError(code) ? fail(env, code) : value_term(env, parameter->values, value);
}

ERL_NIF_TERM set_pledged_size(ErlNifEnv* env, Compressor& c, Terms a) {
  ErlNifUInt64 size;
  if (!enif_get_uint64(env, a[1], &size)) return enif_make_badarg(env);
  return ok_or_fail(env, ZSTD_CCtx_setPledgedSrcSize(c.handle, size));
}

bool is_window(ErlNifEnv* env, ERL_NIF_TERM key) {
  return enif_is_identical(key, atom(env, "windowLogMax")) != 0;
}

ERL_NIF_TERM set_decompress_parameter(ErlNifEnv* env, Decompressor& d, Terms a) {
  int value;
  if (!enif_get_int(env, a[2], &value)) return enif_make_badarg(env);
  if (!is_window(env, a[1])) return invalid(env, "invalid_key", a[1]);
  return ok_or_fail(env, ZSTD_DCtx_setParameter(d.handle, ZSTD_d_windowLogMax, value));
}

ERL_NIF_TERM get_decompress_parameter(ErlNifEnv* env, Decompressor& d, Terms a) {
  int value;
  if (!is_window(env, a[1])) return invalid(env, "invalid_key", a[1]);
  const std::size_t code = ZSTD_DCtx_getParameter(d.handle, ZSTD_d_windowLogMax, &value);
  return ZSTD_isError(code) ? fail(env, code) : enif_make_int(env, value);
}

// ---- Streams ----

/// Takes a piece of the input a[1], and more pieces while there is room for output.
/// step(output, input, directive) is a call of the library, which returns how much is left to do.
/// {done | flush | continue, Output}, {continue, RestOfInput, Output}.
template <class Step>
ERL_NIF_TERM run(ErlNifEnv* env, Terms a, std::size_t room, Step step) {
  ErlNifBinary bytes, made;
  int directive;
  if (!enif_inspect_binary(env, a[1], &bytes) || !enif_get_int(env, a[2], &directive))
    return enif_make_badarg(env);
  if (!enif_alloc_binary(room, &made)) return enif_raise_exception(env, atom(env, "enomem"));
  const bool whole = bytes.size <= kInputAtOnce;
  ZSTD_inBuffer input{bytes.data, std::min(bytes.size, kInputAtOnce), 0};
  ZSTD_outBuffer output{made.data, made.size, 0};
  std::size_t left;
  do {
    left = step(&output, &input, whole ? static_cast<ZSTD_EndDirective>(directive) : ZSTD_e_continue);
    if (ZSTD_isError(left)) {
      enif_release_binary(&made);
      return fail(env, left);
    }
  } while (input.pos < input.size && output.pos < output.size);
  const bool is_full = output.pos == output.size;
  enif_realloc_binary(&made, output.pos);
  const ERL_NIF_TERM result = enif_make_binary(env, &made);
  enif_consume_timeslice(env, std::clamp(static_cast<int>(input.pos / kBytesPerReduction), 1, 100));
  if (directive != ZSTD_e_continue && input.pos == bytes.size)
    return enif_make_tuple2(env, atom(env, is_full && left > 0 ? "flush" : "done"), result);
  if (input.pos == bytes.size) return enif_make_tuple2(env, atom(env, "continue"), result);
  const ERL_NIF_TERM rest = enif_make_sub_binary(env, a[1], input.pos, bytes.size - input.pos);
  return enif_make_tuple3(env, atom(env, "continue"), rest, result);
}

bool is_slow(const Compressor& c) {
  int level = 0, strategy = 0;
  ZSTD_CCtx_getParameter(c.handle, ZSTD_c_compressionLevel, &level);
  ZSTD_CCtx_getParameter(c.handle, ZSTD_c_strategy, &strategy);
  return level > kMostFastLevel || strategy > kMostFastStrategy || (c.used && c.used->level > kMostFastLevel);
}

ERL_NIF_TERM compress_now(ErlNifEnv* env, Compressor& c, Terms a) {
  const auto step = [&c](auto* output, auto* input, ZSTD_EndDirective directive) {
    return ZSTD_compressStream2(c.handle, output, input, directive);
  };
  const ERL_NIF_TERM result = run(env, a, ZSTD_CStreamOutSize(), step);
  if (enif_is_exception(env, result)) ZSTD_CCtx_reset(c.handle, ZSTD_reset_session_only);
  return result;
}

ERL_NIF_TERM compress(ErlNifEnv* env, Compressor& c, Terms a) {
  if (!is_slow(c)) return compress_now(env, c, a);
  return enif_schedule_nif(env, "compress_stream_nif", ERL_NIF_DIRTY_JOB_CPU_BOUND,
                           of<Compressor, compress_now>, 3, a);
}

/// If the beginning says that the whole is small, there is no more room than that.
std::size_t room_for(const ErlNifBinary& bytes) {
  const std::size_t most = ZSTD_DStreamOutSize();
  const unsigned long long size = ZSTD_findDecompressedSize(bytes.data, std::min(bytes.size, kInputAtOnce));
  const bool is_known = size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR;
  return is_known ? static_cast<std::size_t>(std::min<unsigned long long>(size, most)) : most;
}

ERL_NIF_TERM decompress(ErlNifEnv* env, Decompressor& d, Terms a) {
  ErlNifBinary bytes;
  if (!enif_inspect_binary(env, a[1], &bytes)) return enif_make_badarg(env);
  const std::size_t room = d.in_use ? ZSTD_DStreamOutSize() : room_for(bytes);
  d.in_use = true;
  const ERL_NIF_TERM result = run(env, a, room, [&d](auto* output, auto* input, ZSTD_EndDirective) {
    return ZSTD_decompressStream(d.handle, output, input);
  });
  if (enif_is_exception(env, result)) reset<Decompressor, ZSTD_DCtx_reset>(env, d, a);
  return result;
}

ERL_NIF_TERM frame_header(ErlNifEnv* env, int, Terms a) {
  ErlNifBinary bytes;
  if (!enif_inspect_iolist_as_binary(env, a[0], &bytes)) return enif_make_badarg(env);
  ZSTD_frameHeader seen{};
  const std::size_t code = ZSTD_getFrameHeader(&seen, bytes.data, bytes.size);
  if (ZSTD_isError(code)) return fail(env, code);
  const bool is_sized = seen.frameContentSize != ZSTD_CONTENTSIZE_UNKNOWN;
  const bool is_frame = seen.frameType == ZSTD_frame;
  const std::pair<const char*, ERL_NIF_TERM> fields[] = {
      {"frameContentSize", is_sized ? enif_make_uint64(env, seen.frameContentSize) : atom(env, "undefined")},
      {"windowSize", enif_make_uint64(env, seen.windowSize)},
      {"blockSizeMax", enif_make_uint(env, seen.blockSizeMax)},
      {"frameType", atom(env, is_frame ? "ZSTD_frame" : "ZSTD_skippableFrame")},
      {"headerSize", enif_make_uint(env, seen.headerSize)},
      {"dictID", enif_make_uint(env, seen.dictID)},
      {"checksumFlag", atom(env, kFlags[seen.checksumFlag != 0])},
  };
  ERL_NIF_TERM map = enif_make_new_map(env);
  for (const auto& [name, value] : fields) enif_make_map_put(env, map, atom(env, name), value, &map);
  return enif_make_tuple2(env, ok(env), map);
}

int load(ErlNifEnv* env, void**, ERL_NIF_TERM) {
  return compressors.open(env, "compressor") && decompressors.open(env, "decompressor") &&
                 compress_dictionaries.open(env, "compress_dictionary") &&
                 decompress_dictionaries.open(env, "decompress_dictionary")
             ? 0
             : 1;
}
int upgrade(ErlNifEnv* env, void** data, void**, ERL_NIF_TERM info) { return load(env, data, info); }

constexpr unsigned kDirty = ERL_NIF_DIRTY_JOB_CPU_BOUND;

ErlNifFunc functions[] = {
    {"init_compress_nif", 0, open<Compressor, ZSTD_createCCtx>, 0},
    {"load_compress_dictionary_nif", 2, of<Compressor, load_dictionary<Compressor, ZSTD_CCtx_loadDictionary>>,
     kDirty},
    {"ref_compress_dictionary_nif", 2,
     of<Compressor, use_dictionary<Compressor, CompressDictionary, ZSTD_CCtx_refCDict>>, 0},
    {"set_compress_parameter_nif", 3, of<Compressor, set_compress_parameter>, 0},
    {"get_compress_parameter_nif", 2, of<Compressor, get_compress_parameter>, 0},
    {"set_pledged_src_size_nif", 2, of<Compressor, set_pledged_size>, 0},
    {"compress_stream_nif", 3, of<Compressor, compress>, 0},
    {"compress_reset_nif", 1, of<Compressor, reset<Compressor, ZSTD_CCtx_reset>>, 0},
    {"compress_close_nif", 1, of<Compressor, close<Compressor>>, 0},
    {"init_decompress_nif", 0, open<Decompressor, ZSTD_createDCtx>, 0},
    {"load_decompress_dictionary_nif", 2,
     of<Decompressor, load_dictionary<Decompressor, ZSTD_DCtx_loadDictionary>>, kDirty},
    {"ref_decompress_dictionary_nif", 2,
     of<Decompressor, use_dictionary<Decompressor, DecompressDictionary, ZSTD_DCtx_refDDict>>, 0},
    {"set_decompress_parameter_nif", 3, of<Decompressor, set_decompress_parameter>, 0},
    {"get_decompress_parameter_nif", 2, of<Decompressor, get_decompress_parameter>, 0},
    {"decompress_stream_nif", 3, of<Decompressor, decompress>, 0},
    {"decompress_reset_nif", 1, of<Decompressor, reset<Decompressor, ZSTD_DCtx_reset>>, 0},
    {"decompress_close_nif", 1, of<Decompressor, close<Decompressor>>, 0},
    {"create_cdict_nif", 2, create_compress_dictionary, kDirty},
    {"create_ddict_nif", 1, create_decompress_dictionary, kDirty},
    {"getDictId_fromCDict_nif", 1, id_of_dictionary<CompressDictionary, ZSTD_getDictID_fromCDict>, 0},
    {"getDictId_fromDDict_nif", 1, id_of_dictionary<DecompressDictionary, ZSTD_getDictID_fromDDict>, 0},
    {"getDictId_fromDict_nif", 1, id_of_bytes<ZSTD_getDictID_fromDict>, 0},
    {"getDictId_fromFrame_nif", 1, id_of_bytes<ZSTD_getDictID_fromFrame>, 0},
    {"get_frame_header_nif", 1, frame_header, 0},
};

}  // namespace

ErlNifEntry* zstd() {
  static ErlNifEntry made = linked_in_entry("zstd", functions, load, upgrade);
  return &made;
}

}  // namespace vmrun::preloaded

#endif
