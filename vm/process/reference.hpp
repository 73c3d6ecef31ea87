// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/heap/heap.hpp"

/// References and unique integers. Any thread. A reference has three numbers: the first has 18
/// bits, because other nodes accept no more there ("External Term Format"), the other two have 32.
/// The first two hold a count of the thread that makes it, the third holds the thread's number, so
/// making one costs an increment.
namespace vmrun {

inline constexpr Word kRefWords = 3, kAliasRefWords = 4;

/// The identity of a local reference.
struct RefKey {
  Word low = 0;            // first number; second number in the upper half
  std::uint32_t high = 0;  // third number
  bool operator==(const RefKey&) const = default;
};
inline constexpr unsigned kFirstNumberBits = 18;
inline constexpr Word kFirstNumberMask = (Word{1} << kFirstNumberBits) - 1;
/// Converts a count of up to 50 bits to RefKey::low, and back.
constexpr Word spread_count(Word n) { return (n & kFirstNumberMask) | n >> kFirstNumberBits << 32; }
constexpr Word gathered_count(Word low) { return low >> 32 << kFirstNumberBits | (low & kFirstNumberMask); }
/// Returns spread_count of the next count.
constexpr Word next_spread(Word low) {
  return (++low & kFirstNumberMask) ? low : low + (Word{1} << 32) - (Word{1} << kFirstNumberBits);
}
inline std::size_t hash_key(const RefKey& k) { return (k.low * 0x9E3779B97F4A7C15u >> 29) ^ k.high; }

/// The origin of a reference's numbers. `high` encodes it, so references of different origin are
/// never equal. Code that makes references with numbers of its own gets a row here.
enum class RefSpace : std::uint32_t {
  kThreads = 0,  // and up: the number of the thread that counts `low` (next_ref_key)
  kLastThread = 0x6FFFFFFF,
  kTables = 0x70000000,  // and up: identifiers of ETS tables: generation and slot (ets/table.cpp)
  kLastTable = 0x7FFFFFFF,
  kTimers = 0x80000000,  // and up: wheel, place and number of a timer (timer_wheel.cpp)
  kLastTimer = 0xFFFFFFFB,
  kResources = 0xFFFFFFFC,       // of native code (nif/resource.hpp): a count
  kRemoteWatchers = 0xFFFFFFFD,  // monitors of processes of other nodes (dist/remote_relations.hpp): a count
  kChannels = 0xFFFFFFFE,        // handles of channels to other nodes (dist/channel.hpp): their number
};
/// Returns a key of a space that has counts of its own.
constexpr RefKey ref_key_in(RefSpace space, Word count) {
  return {spread_count(count), static_cast<std::uint32_t>(space)};
}
constexpr bool is_in(RefSpace space, RefKey key) { return key.high == static_cast<std::uint32_t>(space); }
constexpr bool is_table_key(RefKey key) {
  return key.high - static_cast<std::uint32_t>(RefSpace::kTables) <=
         static_cast<std::uint32_t>(RefSpace::kLastTable) - static_cast<std::uint32_t>(RefSpace::kTables);
}

RefKey next_ref_key();
RefKey ref_key(Term local_ref);

/// Writes a reference into kRefWords at hp; with an owner an alias, into kAliasRefWords.
Term make_ref(Term*& hp, RefKey key);
Term make_alias_ref(Term*& hp, RefKey key, Term owner);

inline Term make_ref(Heap& heap) {
  Term* hp = heap.alloc(kRefWords);
  return make_ref(hp, next_ref_key());
}

/// Return integers that are unique in this run. Monotonic ones are strictly increasing over all
/// threads; the others come from a range of the calling thread.
Word next_unique_integer();
Word next_monotonic_integer();
/// The last monotonic integer that was given out. Only tests may set it, since integers then come
/// again.
Word last_monotonic_integer();
void set_last_monotonic_integer(Word n);
/// Makes the term. Without `positive` negative integers come first, so that they stay small for
/// longest.
Term unique_integer_term(TermSpace& heap, Word n, bool positive);
/// Returns microseconds since 1970. No two calls get the same value, and later calls get larger
/// ones (erlang:now).
Word unique_now_us();

}  // namespace vmrun
