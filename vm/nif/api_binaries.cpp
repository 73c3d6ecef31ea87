// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "vm/code/native_env.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/iodata.hpp"

// The native interface: binaries. An ErlNifBinary either shows a term's bytes (ref_bin is null) or
// owns a Binary (ref_bin) until enif_make_binary or enif_release_binary.

using namespace vmrun;

namespace {

bool owned_bytes(std::size_t size, ErlNifBinary* bin) {
  Binary* b = Binary::create(size);
  if (!b) return false;
  bin->ref_bin = b;
  bin->data = b->data;
  bin->size = size;
  return true;
}

Binary* binary_of(const ErlNifBinary* bin) { return static_cast<Binary*>(bin->ref_bin); }

}  // namespace

int enif_inspect_binary(ErlNifEnv* env, ERL_NIF_TERM term, ErlNifBinary* bin) {
  const Term t = to_term(term);
  if (!is_binary(t)) return 0;
  const BitView view = bits_of(t);
  bin->ref_bin = nullptr;
  bin->size = view.size_bytes();
  if (view.aligned()) {
    bin->data = const_cast<unsigned char*>(view.bytes());
    return 1;
  }
  auto* copy = static_cast<unsigned char*>(temporary_memory(*env, bin->size));
  if (!copy) return 0;
  copy_bits(copy, 0, view.base, view.offset_bits, view.size_bits);
  bin->data = copy;
  return 1;
}

int enif_inspect_iolist_as_binary(ErlNifEnv* env, ERL_NIF_TERM term, ErlNifBinary* bin) {
  const Term t = to_term(term);
  if (is_binary(t)) return enif_inspect_binary(env, term, bin);
  std::size_t size = 0;
  const auto add_binary = [&](Term b) {
    size += bits_of(b).size_bytes();
    return is_binary(b);
  };
  if (!t.is_cons_or_nil() || !walk_iodata(
                                 t, [&](std::uint8_t) { ++size; }, add_binary))
    return 0;
  auto* bytes = static_cast<unsigned char*>(temporary_memory(*env, size));
  if (!bytes) return 0;
  unsigned char* out = bytes;
  const auto copy_binary = [&](Term b) {
    const BitView view = bits_of(b);
    copy_bits(out, 0, view.base, view.offset_bits, view.size_bits);
    out += view.size_bytes();
    return true;
  };
  walk_iodata(
      t, [&](std::uint8_t b) { *out++ = b; }, copy_binary);
  bin->ref_bin = nullptr;
  bin->data = bytes;
  bin->size = size;
  return 1;
}

int enif_alloc_binary(size_t size, ErlNifBinary* bin) { return owned_bytes(size, bin); }

int enif_realloc_binary(ErlNifBinary* bin, size_t size) {
  if (bin->ref_bin) {
    Binary* b = Binary::resize(binary_of(bin), size);
    if (!b) return 0;
    b->used_bytes = size;
    bin->ref_bin = b;
    bin->data = b->data;
    bin->size = size;
    return 1;
  }
  const unsigned char* old = bin->data;
  const std::size_t kept = bin->size < size ? bin->size : size;
  if (!owned_bytes(size, bin)) return 0;
  std::memcpy(bin->data, old, kept);
  return 1;
}

void enif_release_binary(ErlNifBinary* bin) {
  if (!bin->ref_bin) return;
  binary_of(bin)->release();
  bin->ref_bin = nullptr;
  bin->data = nullptr;
  bin->size = 0;
}

ERL_NIF_TERM enif_make_binary(ErlNifEnv* env, ErlNifBinary* bin) {
  if (!bin->ref_bin) return from_term(make_binary(*env->heap, bin->data, bin->size));
  // The bytes stay readable through `bin` until the native function returns: the term keeps them.
  Binary* b = binary_of(bin);
  bin->ref_bin = nullptr;
  return from_term(make_refc_binary(*env->heap, b, b->data, bin->size));
}

unsigned char* enif_make_new_binary(ErlNifEnv* env, size_t size, ERL_NIF_TERM* term) {
  std::uint8_t* bytes;
  *term = from_term(new_binary(*env->heap, size, &bytes));
  return bytes;
}

ERL_NIF_TERM enif_make_sub_binary(ErlNifEnv* env, ERL_NIF_TERM term, size_t position, size_t size) {
  return from_term(make_part(*env->heap, to_term(term), position * 8, size * 8));
}

int enif_term_to_binary(ErlNifEnv*, ERL_NIF_TERM term, ErlNifBinary* bin) {
  const std::string bytes = encode_external(to_term(term));
  if (bytes.empty() || !owned_bytes(bytes.size(), bin)) return 0;
  std::memcpy(bin->data, bytes.data(), bytes.size());
  return 1;
}

size_t enif_binary_to_term(ErlNifEnv* env, const unsigned char* data, size_t size, ERL_NIF_TERM* term,
                           unsigned int options) {
  if (options & ~static_cast<unsigned>(ERL_NIF_BIN2TERM_SAFE)) return 0;
  DecodeOptions decode;
  decode.safe = options & ERL_NIF_BIN2TERM_SAFE;
  const Decoded d = decode_external(*env->heap, data, size, decode);
  if (!d.term.is_value()) return 0;
  *term = from_term(d.term);
  return d.used_bytes;
}
