// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "vm/base/allocate.hpp"
#include "vm/code/native_env.hpp"
#include "vm/term/bits.hpp"

// The native interface: I/O vectors and queues of binaries. Every piece holds a reference to the
// Binary it lies in. Bytes that lie in a heap are copied to a Binary of their own.

using namespace vmrun;

namespace {

constexpr int kOwnArrays = 1, kOwnStruct = 2;  // ErlNifIOVec::flags: what enif_free_iovec frees
constexpr int kOfCall = 4;                     // nothing: it is all freed with the call's environment

Binary* as_binary(void* p) { return static_cast<Binary*>(p); }

/// Returns the Binary that holds a term's bytes, with one more reference; *bytes points into it.
/// Returns nullptr when memory is exhausted.
Binary* hold_bytes(Term t, unsigned char** bytes, std::size_t* size) {
  const BitView view = bits_of(t);
  *size = view.size_bytes();
  const Term* o = original_of(t).boxed_ptr();
  if (o->header_sub() == Term::Sub::kRefcBinary && view.aligned()) {
    Binary* b = reinterpret_cast<const RefcBinary*>(o)->binary;
    b->retain();
    *bytes = const_cast<unsigned char*>(view.bytes());
    return b;
  }
  Binary* b = Binary::create(*size);
  if (!b) return nullptr;
  copy_bits(b->data, 0, view.base, view.offset_bits, view.size_bits);
  *bytes = b->data;
  return b;
}

void release_pieces(ErlNifIOVec* v) {
  for (int i = 0; i < v->iovcnt; ++i) as_binary(v->ref_bins[i])->release();
  v->iovcnt = 0;
}

void free_vector(ErlNifIOVec* v) {
  if (v->flags & kOfCall) return;
  release_pieces(v);
  if (v->flags & kOwnArrays) {
    free_bytes(v->iov);
    free_bytes(v->ref_bins);
  }
  if (v->flags & kOwnStruct) free_bytes(v);
}

/// Collects the binaries among the first `most` elements of a list, except empty ones. Returns
/// false when it is not a list of binaries.
bool collect(Term list, std::size_t most, std::vector<Term>* binaries, Term* tail) {
  for (; list.is_list() && most; list = list.tail(), --most) {
    if (!is_binary(list.head())) return false;
    if (bit_size_of(list.head())) binaries->push_back(list.head());
  }
  *tail = list;
  for (; list.is_list(); list = list.tail())
    if (!is_binary(list.head())) return false;
  return list.is_nil();
}

}  // namespace

int enif_inspect_iovec(ErlNifEnv* env, size_t max_elements, ERL_NIF_TERM term, ERL_NIF_TERM* tail,
                       ErlNifIOVec** iovec) {
  std::vector<Term> binaries;
  Term rest;
  if (!collect(to_term(term), max_elements ? max_elements : SIZE_MAX, &binaries, &rest)) return 0;
  // With an environment, memory and references are released when the call ends. The caller's own
  // structure is not read then: it may be on a stack that is gone.
  const auto memory = [env](std::size_t bytes) {
    return env ? temporary_memory(*env, bytes) : allocate_bytes(bytes, "an I/O vector");
  };
  ErlNifIOVec* v = *iovec;
  int flags = env ? kOfCall : v ? 0 : kOwnStruct;
  if (!v) v = static_cast<ErlNifIOVec*>(memory(sizeof(ErlNifIOVec)));
  const std::size_t n = binaries.size();
  if (n <= ERL_NIF_IOVEC_SIZE) {
    v->iov = v->small_iov;
    v->ref_bins = v->small_ref_bin;
  } else {
    if (!env) flags |= kOwnArrays;
    v->iov = static_cast<SysIOVec*>(memory(n * sizeof(SysIOVec)));
    v->ref_bins = static_cast<void**>(memory(n * sizeof(void*)));
  }
  v->flags = flags;
  v->iovcnt = 0;
  v->size = 0;
  for (const Term t : binaries) {
    unsigned char* bytes;
    std::size_t size;
    Binary* b = hold_bytes(t, &bytes, &size);
    if (!b) {
      free_vector(v);
      return 0;
    }
    if (env)
      at_end(
          *env, [](void* p) { as_binary(p)->release(); }, b);
    v->iov[v->iovcnt] = {reinterpret_cast<char*>(bytes), size};
    v->ref_bins[v->iovcnt++] = b;
    v->size += size;
  }
  *tail = from_term(rest);
  *iovec = v;
  return 1;
}

void enif_free_iovec(ErlNifIOVec* v) { free_vector(v); }

// ---- Queues -------------------------------------------------------------------------------------

struct erts_io_queue {
  std::vector<SysIOVec> pieces;
  std::vector<Binary*> binaries;  // of each piece, one reference
  std::size_t first = 0;          // pieces in front of it have been taken
  std::size_t size = 0;

  void add(Binary* b, unsigned char* bytes, std::size_t n) {
    pieces.push_back({reinterpret_cast<char*>(bytes), n});
    binaries.push_back(b);
    size += n;
  }
  void drop_first() { binaries[first++]->release(); }
  void tidy() {
    // The rest is moved only when it is not longer than what has been taken, so a long queue costs
    // linear time.
    if (first < pieces.size() && first < 64 + (pieces.size() - first)) return;
    pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(first));
    binaries.erase(binaries.begin(), binaries.begin() + static_cast<std::ptrdiff_t>(first));
    first = 0;
  }
};

ErlNifIOQueue* enif_ioq_create(ErlNifIOQueueOpts options) {
  return options == ERL_NIF_IOQ_NORMAL ? new erts_io_queue : nullptr;
}

void enif_ioq_destroy(ErlNifIOQueue* q) {
  while (q->first < q->pieces.size()) q->drop_first();
  delete q;
}

size_t enif_ioq_size(ErlNifIOQueue* q) { return q->size; }

int enif_ioq_enq_binary(ErlNifIOQueue* q, ErlNifBinary* bin, size_t skip) {
  if (skip > bin->size) return 0;
  if (!bin->ref_bin) {  // it shows a term's bytes: they may lie in the term's heap
    ErlNifBinary copy;
    if (!enif_alloc_binary(bin->size, &copy)) return 0;
    std::memcpy(copy.data, bin->data, bin->size);
    *bin = copy;
  }
  if (bin->size > skip) q->add(as_binary(bin->ref_bin), bin->data + skip, bin->size - skip);
  else as_binary(bin->ref_bin)->release();
  bin->ref_bin = nullptr;
  return 1;
}

int enif_ioq_enqv(ErlNifIOQueue* q, ErlNifIOVec* v, size_t skip) {
  if (skip > v->size) return 0;
  for (int i = 0; i < v->iovcnt; ++i) {
    const std::size_t n = v->iov[i].iov_len;
    if (skip >= n) {
      skip -= n;
      continue;
    }
    as_binary(v->ref_bins[i])->retain();
    q->add(as_binary(v->ref_bins[i]), reinterpret_cast<unsigned char*>(v->iov[i].iov_base) + skip, n - skip);
    skip = 0;
  }
  return 1;
}

int enif_ioq_deq(ErlNifIOQueue* q, size_t count, size_t* size) {
  if (count > q->size) return 0;
  q->size -= count;
  while (count) {
    SysIOVec& piece = q->pieces[q->first];
    if (count < piece.iov_len) {
      piece.iov_base += count;
      piece.iov_len -= count;
      break;
    }
    count -= piece.iov_len;
    q->drop_first();
  }
  q->tidy();
  if (size) *size = q->size;
  return 1;
}

SysIOVec* enif_ioq_peek(ErlNifIOQueue* q, int* count) {
  *count = static_cast<int>(q->pieces.size() - q->first);
  return q->pieces.data() + q->first;
}

int enif_ioq_peek_head(ErlNifEnv* env, ErlNifIOQueue* q, size_t* size, ERL_NIF_TERM* head) {
  if (q->first == q->pieces.size()) return 0;
  const SysIOVec& piece = q->pieces[q->first];
  Binary* b = q->binaries[q->first];
  b->retain();
  if (size) *size = piece.iov_len;
  *head = from_term(
      make_refc_binary(*env->heap, b, reinterpret_cast<std::uint8_t*>(piece.iov_base), piece.iov_len));
  return 1;
}
