// SPDX-License-Identifier: Apache-2.0
// A queue of bytes: a process reads from its front and writes to its back. It is a resource. One
// process at a time uses it; try_lock makes sure of that.

#include <atomic>
#include <cstring>

#include "drivers/preloaded/modules.hpp"
#include "drivers/preloaded/resources.hpp"
#include "vm/nif/library.hpp"

namespace vmrun::preloaded {
namespace {

constexpr size_t kVectorsAtOnce = 256;

struct Buffer {
  ErlNifIOQueue* bytes = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
  std::atomic<bool> locked = false;

  ~Buffer() { enif_ioq_destroy(bytes); }
};

Resources<Buffer> buffers;

/// Reads the number of bytes that a[1] asks for. Returns false when the buffer has fewer.
bool get_available(ErlNifEnv* env, const Buffer& buffer, ERL_NIF_TERM term, ErlNifUInt64* size) {
  return enif_get_uint64(env, term, size) && *size <= enif_ioq_size(buffer.bytes);
}

ERL_NIF_TERM make_new(ErlNifEnv* env, int, const ERL_NIF_TERM*) {
  ERL_NIF_TERM term;
  buffers.make(env, &term);
  return term;
}

ERL_NIF_TERM size(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  const Buffer* buffer = buffers.find(env, a[0]);
  return buffer ? enif_make_uint64(env, enif_ioq_size(buffer->bytes)) : enif_make_badarg(env);
}

ERL_NIF_TERM peek_head(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  const Buffer* buffer = buffers.find(env, a[0]);
  ERL_NIF_TERM head;
  if (!buffer || !enif_ioq_peek_head(env, buffer->bytes, nullptr, &head)) return enif_make_badarg(env);
  return head;
}

ERL_NIF_TERM copying_read(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  const Buffer* buffer = buffers.find(env, a[0]);
  ErlNifUInt64 wanted;
  if (!buffer || !get_available(env, *buffer, a[1], &wanted)) return enif_make_badarg(env);
  ERL_NIF_TERM term;
  unsigned char* to = enif_make_new_binary(env, wanted, &term);
  int count;
  const SysIOVec* vectors = enif_ioq_peek(buffer->bytes, &count);
  for (size_t copied = 0; copied < wanted; ++vectors) {
    const size_t part = vectors->iov_len < wanted - copied ? vectors->iov_len : wanted - copied;
    std::memcpy(to + copied, vectors->iov_base, part);
    copied += part;
  }
  if (!enif_ioq_deq(buffer->bytes, wanted, nullptr)) return enif_make_badarg(env);
  return term;
}

ERL_NIF_TERM write(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  const Buffer* buffer = buffers.find(env, a[0]);
  if (!buffer) return enif_make_badarg(env);
  for (ERL_NIF_TERM rest = a[1]; !enif_is_empty_list(env, rest);) {
    ErlNifIOVec room, *vectors = &room;
    ERL_NIF_TERM tail;
    if (!enif_inspect_iovec(env, kVectorsAtOnce, rest, &tail, &vectors) ||
        !enif_ioq_enqv(buffer->bytes, vectors, 0))
      return enif_make_badarg(env);
    rest = tail;
  }
  return enif_make_atom(env, "ok");
}

ERL_NIF_TERM skip(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  const Buffer* buffer = buffers.find(env, a[0]);
  ErlNifUInt64 wanted;
  if (!buffer || !get_available(env, *buffer, a[1], &wanted) || !enif_ioq_deq(buffer->bytes, wanted, nullptr))
    return enif_make_badarg(env);
  return enif_make_atom(env, "ok");
}

ERL_NIF_TERM find_byte_index(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  const Buffer* buffer = buffers.find(env, a[0]);
  int byte;
  if (!buffer || !enif_get_int(env, a[1], &byte) || byte < 0 || byte > 255) return enif_make_badarg(env);
  int count;
  const SysIOVec* vectors = enif_ioq_peek(buffer->bytes, &count);
  size_t before = 0;
  for (int i = 0; i < count; before += vectors[i++].iov_len) {
    const char* begin = vectors[i].iov_base;
    if (const void* found = std::memchr(begin, byte, vectors[i].iov_len)) {
      const auto offset = static_cast<size_t>(static_cast<const char*>(found) - begin);
      return enif_make_tuple2(env, enif_make_atom(env, "ok"), enif_make_uint64(env, before + offset));
    }
  }
  return enif_make_atom(env, "not_found");
}

ERL_NIF_TERM try_lock(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Buffer* buffer = buffers.find(env, a[0]);
  if (!buffer) return enif_make_badarg(env);
  return enif_make_atom(env, buffer->locked.exchange(true) ? "busy" : "acquired");
}

ERL_NIF_TERM unlock(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Buffer* buffer = buffers.find(env, a[0]);
  if (!buffer || !buffer->locked.exchange(false)) return enif_make_badarg(env);
  return enif_make_atom(env, "ok");
}

int load(ErlNifEnv* env, void**, ERL_NIF_TERM) { return buffers.open(env, "prim_buffer") ? 0 : 1; }
int upgrade(ErlNifEnv* env, void** data, void**, ERL_NIF_TERM info) { return load(env, data, info); }

ErlNifFunc functions[] = {
    {"new", 0, make_new, 0},        {"size", 1, size, 0},
    {"peek_head", 1, peek_head, 0}, {"copying_read", 2, copying_read, 0},
    {"write", 2, write, 0},         {"skip", 2, skip, 0},
    {"try_lock", 1, try_lock, 0},   {"find_byte_index", 2, find_byte_index, 0},
    {"unlock", 1, unlock, 0},
};

}  // namespace

ErlNifEntry* prim_buffer() {
  static ErlNifEntry made = linked_in_entry("prim_buffer", functions, load, upgrade);
  return &made;
}

}  // namespace vmrun::preloaded
