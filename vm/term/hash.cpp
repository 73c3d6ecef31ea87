// SPDX-License-Identifier: Apache-2.0
#include "vm/term/hash.hpp"

#include <cstring>

#include "vm/base/release.hpp"
#include "vm/base/work_stack.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/layout.hpp"

namespace vmrun {
namespace {

using Sub = Term::Sub;

constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;

/// Multiplies 64 by 64 bits and folds the product into 64 (as in wyhash, Wang Yi), for the inner
/// steps, where speed counts.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}
/// The sum keeps what a product with zero would lose.
inline std::uint64_t step(std::uint64_t hash, std::uint64_t word) {
  return fold(hash ^ kStep, word ^ 0xE7037ED1A0B428DBu) + hash + word;
}

std::uint64_t hash_bytes(std::uint64_t hash, const std::uint8_t* bytes, Word count) {
  for (; count >= 8; bytes += 8, count -= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    hash = step(hash, word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes, count);
  return step(hash, rest);
}

std::uint64_t hash_bits(std::uint64_t hash, Term t) {
  const BitView v = bits_of(t);
  hash = step(hash, v.size_bits);
  if (v.aligned() && v.is_binary()) return hash_bytes(hash, v.bytes(), v.size_bytes());
  // These are the words of the loop above, copied from unaligned bits.
  std::uint8_t chunk[256];
  for (Word done = 0;;) {
    const Word bits = v.size_bits - done < sizeof chunk * 8 ? v.size_bits - done : sizeof chunk * 8;
    std::memset(chunk, 0, sizeof chunk);
    copy_bits(chunk, 0, v.base, v.offset_bits + done, bits);
    done += bits;
    if (done == v.size_bits) return hash_bytes(hash, chunk, (bits + 7) / 8);
    for (std::size_t i = 0; i < sizeof chunk; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, chunk + i, 8);
      hash = step(hash, word);
    }
  }
}

}  // namespace

namespace detail {

[[gnu::no_stack_protector]] std::uint64_t hash_slow(Term t, std::uint64_t salt) {
  WorkStack<Term, 32> work;
  std::uint64_t hash = salt * kStep + 0x2D358DCCAA6C78A5u;
  const auto push_all = [&](const Term* p, Word n) {
    for (Word i = n; i-- > 0;) work.push(p[i]);
  };
  for (;;) {
    while (t.is_list()) {
      const Term* cell = t.list_ptr();
      hash = step(hash, Term::kListTag);
      t = cell[1];
      if (cell[0].is_immed()) {
        hash = step(hash, cell[0].raw());
      } else {
        work.push(t);
        t = cell[0];
      }
    }
    if (t.is_immed()) {
      hash = step(hash, t.raw());
    } else {
      const Term* p = t.boxed_ptr();
      const Term header = *p;
      switch (header.header_sub()) {
        case Sub::kTuple:
        case Sub::kRecord:
          hash = step(hash, header.raw());
          push_all(p + 1, header.header_arity());
          break;
        case Sub::kPosBig:
        case Sub::kNegBig:
          hash = hash_bytes(step(hash, header.raw()), reinterpret_cast<const std::uint8_t*>(p + 1),
                            header.header_arity() * 8);
          break;
        case Sub::kFloat: {
          double value = float_of(t)->value;
          if (!release_has(Trait::kSignedZero)) value += 0.0;  // then 0.0 and -0.0 are one key
          std::uint64_t bits;
          std::memcpy(&bits, &value, 8);
          hash = step(step(hash, header.raw()), bits);
          break;
        }
        case Sub::kRef:
        case Sub::kMagicRef: {  // aliases and magic references are equal to the same numbers alone
          const std::uint32_t* numbers = local_ref_numbers(t);
          hash = step(step(hash, static_cast<Word>(Sub::kRef)), std::uint64_t{numbers[0]} << 32 | numbers[1]);
          hash = step(hash, numbers[2]);
          break;
        }
        case Sub::kExternalPid:
        case Sub::kExternalPort:
        case Sub::kExternalRef: {
          const auto* e = reinterpret_cast<const ExternalObject*>(p);
          hash = step(step(hash, static_cast<Word>(header.header_sub())), reinterpret_cast<Word>(e->node));
          hash = hash_bytes(hash, reinterpret_cast<const std::uint8_t*>(e->data),
                            header.header_sub() == Sub::kExternalRef ? 12 : 8);
          break;
        }
        case Sub::kFun: {
          const auto* f = reinterpret_cast<const FunObject*>(p);
          hash = step(step(hash, static_cast<Word>(Sub::kFun)), reinterpret_cast<Word>(f->entry));
          push_all(f->environment(), f->free_count);
          break;
        }
        case Sub::kMap: {  // canonical: sorted keys, or a trie whose shape follows from the keys
          hash = step(hash, header.raw());
          const Word skip = map_kind(header) == MapKind::kHashNode ? 1 : 2;
          push_all(p + skip, object_words(header) - skip);
          break;
        }
        default: hash = hash_bits(step(hash, static_cast<Word>(Sub::kHeapBinary)), t);
      }
    }
    if (work.empty()) return mix_bits(hash);
    t = work.pop();
  }
}

}  // namespace detail
}  // namespace vmrun
