#pragma once

#include "vm/heap/heap.hpp"

/// References and unique integers. Any thread. A reference has three numbers, the first of 18 bits,
/// for other nodes accept no more there ("External Term Format"), and two of 32. Two hold a count
/// of the thread that makes it, the third the thread's number, so making one costs an increment.
namespace vmrun {

inline constexpr Word kRefWords = 3, kAliasRefWords = 4;

/// The identity of a local reference.
struct RefKey {
  Word low = 0;            // its first number, and in the upper half its second
  std::uint32_t high = 0;  // its third
  bool operator==(const RefKey&) const = default;
};
inline constexpr unsigned kFirstNumberBits = 18;
inline constexpr Word kFirstNumberMask = (Word{1} << kFirstNumberBits) - 1;
/// Of a count of up to 50 bits what RefKey::low is, and back.
constexpr Word spread_count(Word n) { return (n & kFirstNumberMask) | n >> kFirstNumberBits << 32; }
constexpr Word gathered_count(Word low) { return low >> 32 << kFirstNumberBits | (low & kFirstNumberMask); }
/// spread_count of the next.
constexpr Word next_spread(Word low) {
  return (++low & kFirstNumberMask) ? low : low + (Word{1} << 32) - (Word{1} << kFirstNumberBits);
}
inline std::size_t hash_key(const RefKey& k) { return (k.low * 0x9E3779B97F4A7C15u >> 29) ^ k.high; }

/// Where a reference's numbers come from; `high` says it, so no two of different origin are equal.
/// Whoever makes references with numbers of its own gets a row here.
enum class RefSpace : std::uint32_t {
  kThreads = 0,  // and up: the number of the thread whose count `low` is (next_ref_key)
  kLastThread = 0x6FFFFFFF,
  kTables = 0x70000000,  // and up: identifiers of ETS tables: generation and slot (ets/table.cpp)
  kLastTable = 0x7FFFFFFF,
  kTimers = 0x80000000,  // and up: wheel, place and number of a timer (timer_wheel.cpp)
  kLastTimer = 0xFFFFFFFB,
  kResources = 0xFFFFFFFC,       // of native code (nif/resource.hpp): a count
  kRemoteWatchers = 0xFFFFFFFD,  // monitors of processes of other nodes (dist/relations.hpp): a count
  kChannels = 0xFFFFFFFE,        // handles of channels to other nodes (dist/channel.hpp): their number
};
/// A key of a space with counts of its own.
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

/// In kRefWords at hp. With an owner: an alias, in kAliasRefWords.
Term make_ref(Term*& hp, RefKey key);
Term make_alias_ref(Term*& hp, RefKey key, Term owner);

inline Term make_ref(Heap& heap) {
  Term* hp = heap.alloc(kRefWords);
  return make_ref(hp, next_ref_key());
}

/// Unique in this run. monotonic: strictly increasing over all threads; otherwise from a range of
/// the calling thread.
Word next_unique_integer();
Word next_monotonic_integer();
/// The last monotonic one that was given out; at will for tests, who know that they come again.
Word last_monotonic_integer();
void set_last_monotonic_integer(Word n);
/// As a term: without `positive` negative ones come first, so that results stay small for longest.
Term unique_integer_term(TermSpace& heap, Word n, bool positive);
/// Microseconds since 1970; no two calls get the same, later ones get more (erlang:now).
Word unique_now_us();

}  // namespace vmrun
