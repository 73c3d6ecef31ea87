// SPDX-License-Identifier: Apache-2.0
#include "vm/process/reference.hpp"

#include <atomic>

#include "vm/base/clock.hpp"
#include "vm/term/big.hpp"

namespace vmrun {
namespace {

std::atomic<std::uint32_t> threads{static_cast<std::uint32_t>(RefSpace::kThreads)};

struct ThreadCounts {
  std::uint32_t thread = threads.fetch_add(1, std::memory_order_relaxed);
  Word refs = 0;  // spread_count of the latest one
  Word unique_next = 0, unique_end = 0;
};
thread_local ThreadCounts counts;

constexpr Word kUniqueRange = 1 << 16;
std::atomic<Word> unique_ranges{0};
std::atomic<Word> monotonic_last{0};

Term* write_ref(Term* hp, RefKey key, Word arity) {
  auto* ref = reinterpret_cast<RefObject*>(hp);
  ref->header = Term::header(Term::Sub::kRef, arity);
  ref->numbers[0] = static_cast<std::uint32_t>(key.low);
  ref->numbers[1] = static_cast<std::uint32_t>(key.low >> 32);
  ref->numbers[2] = key.high;
  ref->unused = 0;
  return hp + 1 + arity;
}

}  // namespace

RefKey next_ref_key() { return {counts.refs = next_spread(counts.refs), counts.thread}; }

RefKey ref_key(Term t) {
  const std::uint32_t* numbers = local_ref_numbers(t);
  return {Word{numbers[1]} << 32 | numbers[0], numbers[2]};
}

Term make_ref(Term*& hp, RefKey key) {
  Term* object = hp;
  hp = write_ref(hp, key, kRefWords - 1);
  return Term::boxed(object);
}

Term make_alias_ref(Term*& hp, RefKey key, Term owner) {
  Term* object = hp;
  hp = write_ref(hp, key, kAliasRefWords - 1);
  reinterpret_cast<RefObject*>(object)->owner = owner;
  return Term::boxed(object);
}

Word next_unique_integer() {
  if (counts.unique_next == counts.unique_end) {
    counts.unique_next = unique_ranges.fetch_add(1, std::memory_order_relaxed) * kUniqueRange + 1;
    counts.unique_end = counts.unique_next + kUniqueRange;
  }
  return counts.unique_next++;
}

Word next_monotonic_integer() { return monotonic_last.fetch_add(1, std::memory_order_relaxed) + 1; }
Word last_monotonic_integer() { return monotonic_last.load(std::memory_order_relaxed); }
void set_last_monotonic_integer(Word n) { monotonic_last.store(n, std::memory_order_relaxed); }

Term unique_integer_term(TermSpace& heap, Word n, bool positive) {
  constexpr Word kNegative = Word{0} - static_cast<Word>(Term::kSmallMin);  // number of negative ones
  if (positive) return make_unsigned(heap, n);
  return n < kNegative ? Term::small(static_cast<SWord>(n - kNegative)) : make_unsigned(heap, n - kNegative);
}

Word unique_now_us() {
  static std::atomic<Word> last{0};
  Word now = system_ns() / 1000;
  Word before = last.load(std::memory_order_relaxed);
  do {
    if (now <= before) now = before + 1;
  } while (!last.compare_exchange_weak(before, now, std::memory_order_relaxed));
  return now;
}

}  // namespace vmrun
