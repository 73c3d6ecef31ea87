// SPDX-License-Identifier: Apache-2.0
#include <md5.h>
#include <zlib.h>

#include <cstring>

#include "runtime/bif/iolist.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/term/big.hpp"
#include "vm/term/hash.hpp"

/// Checksums and digests of iodata, and hashes of terms.
namespace vmrun {
namespace {

/// Calls f(bytes, size) for each piece of iodata. Returns false when the term is not iodata, or
/// when the steps are used up.
template <class F>
bool each_piece(Process& p, Term data, ReductionBudget& steps, F f) {
  Word total = 0;
  ReductionBudget left = steps;
  std::string gathered;
  const auto flush = [&] {
    if (!gathered.empty()) f(reinterpret_cast<const std::uint8_t*>(gathered.data()), gathered.size());
    gathered.clear();
  };
  const bool ok = walk_iodata(
      data,
      [&](std::uint8_t b) {
        ++total;
        gathered += static_cast<char>(b);
        if (gathered.size() >= 4096) flush();
      },
      [&](Term b) {
        if (!is_binary(b)) return false;
        flush();
        const BytesOf bytes(b);
        if (!left.spend(bytes.size() / kBytesPerStep)) return false;
        total += bytes.size();
        f(bytes.data(), bytes.size());
        return true;
      },
      [&] { return left.spend(1); });
  steps = left;
  flush();
  charge(p, static_cast<SWord>(total / 8));
  return ok;
}

using Sum = uLong (*)(uLong, const Bytef*, z_size_t);

/// The last argument is the data. With two, the first is the sum of the preceding data.
Term checksum(Process& p, const Term* a, unsigned arity, BifFn self, Term start, Sum sum) {
  std::uint64_t value;
  if (!integer_to_uint64(start, &value) || value > UINT32_MAX) return raise_badarg(p);
  ReductionBudget steps;
  const auto add = [&](const std::uint8_t* bytes, Word n) { value = sum(value, bytes, n); };
  if (!each_piece(p, a[arity - 1], steps, add))
    return steps.used_up() ? run_on_dirty(p, self, a, arity) : raise_badarg(p);
  return Term::small(static_cast<SWord>(value));
}

/// combine(sum1, sum2, length of the second part)
Term combined(Process& p, const Term* a, uLong (*combine)(uLong, uLong, z_off_t)) {
  std::uint64_t x, y, n;
  if (!integer_to_uint64(a[0], &x) || !integer_to_uint64(a[1], &y) || !integer_to_uint64(a[2], &n))
    return raise_badarg(p);
  if (x > UINT32_MAX || y > UINT32_MAX || n > INT32_MAX) return raise_badarg(p);
  return Term::small(static_cast<SWord>(combine(x, y, static_cast<z_off_t>(n))));
}

Term context_binary(Heap& heap, const MD5_CTX& context) {
  return make_binary(heap, &context, sizeof context);
}

/// Returns false when the term is not a digest in progress. Any bytes of the right size are
/// accepted, because MD5Update reduces its counters itself.
bool context_of(Term t, MD5_CTX* context) {
  if (!is_binary(t)) return false;
  const BytesOf bytes(t);
  if (bytes.size() != sizeof *context) return false;
  std::memcpy(context, bytes.data(), sizeof *context);
  return true;
}

bool digest_more(Process& p, MD5_CTX* context, Term data, ReductionBudget& steps) {
  return each_piece(p, data, steps,
                    [context](const std::uint8_t* bytes, Word n) { MD5Update(context, bytes, n); });
}

Term digest(Heap& heap, MD5_CTX* context) {
  std::uint8_t digest[MD5_DIGEST_LENGTH];
  MD5Final(digest, context);
  return make_binary(heap, digest, sizeof digest);
}

Term hash_in_range(Process& p, std::uint32_t hash, Term range_term) {
  std::uint64_t range;
  if (!integer_to_uint64(range_term, &range) || range == 0 || range > std::uint64_t{1} << 32)
    return raise_badarg(p);
  return Term::small(static_cast<SWord>(hash % range));
}

}  // namespace

Term bif_erlang_crc32_1(Process& p, const Term* a) {
  return checksum(p, a, 1, bif_erlang_crc32_1, Term::small(0), crc32_z);
}
Term bif_erlang_crc32_2(Process& p, const Term* a) {
  return checksum(p, a, 2, bif_erlang_crc32_2, a[0], crc32_z);
}
Term bif_erlang_crc32_combine_3(Process& p, const Term* a) { return combined(p, a, crc32_combine); }
Term bif_erlang_adler32_1(Process& p, const Term* a) {
  return checksum(p, a, 1, bif_erlang_adler32_1, Term::small(1), adler32_z);
}
Term bif_erlang_adler32_2(Process& p, const Term* a) {
  return checksum(p, a, 2, bif_erlang_adler32_2, a[0], adler32_z);
}
Term bif_erlang_adler32_combine_3(Process& p, const Term* a) { return combined(p, a, adler32_combine); }

// A digest in progress is a binary: libmd's context as it stands in memory.
Term bif_erlang_md5_init_0(Process& p, const Term*) {
  MD5_CTX context;
  MD5Init(&context);
  return context_binary(p.heap, context);
}
Term bif_erlang_md5_update_2(Process& p, const Term* a) {
  MD5_CTX context;
  ReductionBudget steps;
  if (context_of(a[0], &context) && digest_more(p, &context, a[1], steps))
    return context_binary(p.heap, context);
  return steps.used_up() ? run_on_dirty(p, bif_erlang_md5_update_2, a, 2) : raise_badarg(p);
}
Term bif_erlang_md5_final_1(Process& p, const Term* a) {
  MD5_CTX context;
  return context_of(a[0], &context) ? digest(p.heap, &context) : raise_badarg(p);
}
Term bif_erlang_md5_1(Process& p, const Term* a) {
  MD5_CTX context;
  ReductionBudget steps;
  MD5Init(&context);
  if (digest_more(p, &context, a[0], steps)) return digest(p.heap, &context);
  return steps.used_up() ? run_on_dirty(p, bif_erlang_md5_1, a, 1) : raise_badarg(p);
}

/// Returns a number from 1 to the range, which may be up to 2^32.
Term bif_erlang_phash_2(Process& p, const Term* a) {
  std::uint32_t hash;
  if (!old_portable_hash_within(steps_here(), a[0], &hash)) return run_on_dirty(p, bif_erlang_phash_2, a, 2);
  const Term in_range = hash_in_range(p, hash, a[1]);
  return in_range ? Term::small(in_range.small_value() + 1) : in_range;
}
Term bif_erlang_phash2_1(Process& p, const Term* a) {
  std::uint32_t hash;
  if (!portable_hash2_within(steps_here(), a[0], &hash)) return run_on_dirty(p, bif_erlang_phash2_1, a, 1);
  return Term::small(hash & ((1 << 27) - 1));
}
Term bif_erlang_phash2_2(Process& p, const Term* a) {
  std::uint32_t hash;
  if (!portable_hash2_within(steps_here(), a[0], &hash)) return run_on_dirty(p, bif_erlang_phash2_2, a, 2);
  return hash_in_range(p, hash, a[1]);
}

}  // namespace vmrun
