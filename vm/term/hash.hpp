// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/term.hpp"

/// Hashes of terms. Pure functions. Any thread, any depth.
namespace vmrun {

namespace detail {
std::uint64_t hash_slow(Term t, std::uint64_t salt);
}

/// Mixes all bits of a word into all bits of the result (the finaliser of SplitMix64, Steele et al.
/// 2014).
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// The hash for tables inside the machine (large maps, ETS). Terms that are =:= have equal hashes.
/// It holds within one run only. All 64 bits are well mixed. A trie that has used up the bits goes
/// on with another salt.
inline std::uint64_t hash_term(Term t, std::uint64_t salt = 0) {
  if (t.is_immed()) return mix_bits(t.raw() + salt * 0x9E3779B97F4A7C15u);
  return detail::hash_slow(t, salt);
}

/// Returns the number of erlang:phash2(T) before it is reduced to a range (32 bits; phash2/1 takes
/// the low 27). It is equal on every node.
std::uint32_t portable_hash2(Term t);
/// As above, but returns false when it takes more than so many steps (of some ten nanoseconds).
[[nodiscard]] bool portable_hash2_within(SWord steps, Term t, std::uint32_t* hash);
/// As above, for the number of erlang:phash/2.
[[nodiscard]] bool old_portable_hash_within(SWord steps, Term t, std::uint32_t* hash);
/// Returns what an atom adds to either number. Characters of Latin-1 count as one, others by the
/// bytes of their UTF-8 form.
std::uint32_t portable_atom_number(Term atom);

}  // namespace vmrun
