// SPDX-License-Identifier: Apache-2.0
#include "vm/lifecycle/gc.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "vm/base/activity.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/heap/collector.hpp"
#include "vm/heap/literal.hpp"
#include "vm/heap/verify.hpp"
#include "vm/lifecycle/lifecycle_upcalls.hpp"
#include "vm/message/receive.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/deep_stack.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/hibernation.hpp"
#include "vm/trace/system_monitor.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

GcModes gc_modes;

namespace {

/// A full sweep of a heap with at most this many words in use leaves everything in the block.
constexpr Word kOneSpaceWords = usual_or_small<Word>(8192, 64);
/// Beyond this size blocks do not grow just to have fewer collections: a young generation should
/// fit the caches.
constexpr Word kLargeBlockWords = usual_or_small<Word>(1 << 18, 4096);
/// From this size on, the block of a process with a heap limit does not grow for fragments that
/// hold garbage.
constexpr Word kEnoughForFragmentsWords = usual_or_small<Word>(2048, 64);
/// A mostly empty block above this size is cut by minor collections.
constexpr std::uint8_t kBusyCollections = 4;
constexpr Word kBusyBlockWords = usual_or_small<Word>(2048, 256);
constexpr Word kKeepBlockWords = usual_or_small<Word>(1 << 14, 256);

/// Sizes grow like Fibonacci numbers, then by a fifth.
struct SizeTable {
  static constexpr int kCount = 137;
  std::array<Word, kCount> sizes{};
  constexpr SizeTable() {
    sizes[0] = 12;
    sizes[1] = 38;
    for (int i = 2; i < kCount; ++i) {
      sizes[i] = i < 23 ? sizes[i - 1] + sizes[i - 2] + 1 : sizes[i - 1] + sizes[i - 1] / 5;
    }
  }
};
constexpr SizeTable kSizeTable;
static_assert(kSizeTable.sizes[3] == 90 && kSizeTable.sizes[4] == 142 && kSizeTable.sizes[5] == 233);

/// Whether the next collection may leave the old generation as it is.
bool minor_is_possible(const Process& p) {
  const Heap& h = p.heap;
  if (p.minor_collections >= p.fullsweep_after || h.old_off_heap_words > h.old_off_heap_limit_words)
    return false;
  const auto mature = static_cast<Word>(h.high_water - h.start);
  if (h.old_start) return mature <= static_cast<Word>(h.old_end - h.old_top);
  // No data has survived a collection yet. If there is much, a full sweep moves it to an old
  // generation at once.
  return mature > 0 || h.used_words() + h.fragment_words <= kOneSpaceWords;
}

/// One collection of one process, from the first probe to the last.
class Collection {
 public:
  Collection(Process& p, Word need, Term* regs, unsigned live)
      : p_(p),
        h_(p.heap),
        need_(need),
        regs_(regs),
        live_(live),
        collects_("[gc]", &p),
        collector_(p.heap, regs, live, list_roots, &p) {
    if (p.peeked > 1) receive_pin_peeked(p);
    block_before_ = h_.block_words();
    if (collections_monitored.load(std::memory_order_relaxed)) [[unlikely]]
      begun_ns_ = begin_monitored_collection();
    if (gc_modes.verify) [[unlikely]] {
      collector_.poison = true;
      verify();
    }
  }

  // These are functions of their own: room for the text would cost every collection.
  [[gnu::cold, gnu::noinline]] void fire(void (*probe)(Term, SWord), Word words) const {
    probe(p_.id, static_cast<SWord>(words));
  }
  [[gnu::cold, gnu::noinline]] void fire_resized(void (*probe)(Term, SWord, SWord), Word before,
                                                 Word after) const {
    probe(p_.id, static_cast<SWord>(before), static_cast<SWord>(after));
  }

  int minor() {
    const Word words = minor_block_words();
    const Word before = young_words();
    if (probe::gc_minor_start_enabled()) [[unlikely]]
      fire(probe::fire_gc_minor_start, need_);
    if (is_traced(p_, kTraceGc | kAwaitsReturns)) [[unlikely]]
      trace_gc(p_, atoms::gc_minor_start, need_);
    const bool killed = exceeds_limit(old_capacity() + words);
    Word reclaimed = 0;
    if (!killed) {
      if (!h_.old_start && mature_words()) {
        const Word old_words = next_heap_size(mature_words() * 2 + young_words());
        h_.old_start = h_.old_top = allocate_block(old_words);
        h_.old_end = h_.old_start + old_words;
      }
      const Term* old_top = h_.old_top;
      collector_.minor(words);
      ++p_.minor_collections;
      reclaimed = before - young_words() - static_cast<Word>(h_.old_top - old_top);
      fit_block_after_minor();
      if (h_.block_words() > block_before_ && p_.max_heap.words) [[unlikely]]
        give_back_growth();
      finish();
    }
    if (probe::gc_minor_end_enabled()) [[unlikely]]
      fire(probe::fire_gc_minor_end, reclaimed);
    if (is_traced(p_, kTraceGc | kAwaitsReturns)) [[unlikely]]
      trace_gc(p_, atoms::gc_minor_end, reclaimed);
    return result(killed, reclaimed);
  }

  /// Returns false if the process has become larger than it may be.
  [[nodiscard]] bool with_literals(const LiteralBlocks& blocks, const std::vector<bool>& marks, int* cost) {
    Word total = young_words() + old_words();
    for (std::size_t i = 0; i < marks.size(); ++i)
      if (marks[i]) total += blocks.all()[i]->words;
    if (probe::gc_major_start_enabled()) [[unlikely]]
      fire(probe::fire_gc_major_start, need_);
    if (is_traced(p_, kTraceGc | kAwaitsReturns)) [[unlikely]]
      trace_gc(p_, atoms::gc_major_start, need_);
    collector_.full_with_literals(next_heap_size(total + fixed_words()), blocks, marks);
    const Word words =
        std::max(next_heap_size((h_.used_words() + fixed_words()) * 3 / 2), default_block_words());
    if (words < h_.block_words()) collector_.resize(words);
    p_.minor_collections = 0;
    finish();
    if (probe::gc_major_end_enabled()) [[unlikely]]
      fire(probe::fire_gc_major_end, 0);
    if (is_traced(p_, kTraceGc | kAwaitsReturns)) [[unlikely]]
      trace_gc(p_, atoms::gc_major_end, 0);
    *cost = result(false, 0);
    return !exceeds_limit(0);
  }

  int major(bool for_hibernation = false) {
    const Word total = young_words() + old_words(), before = total;
    if (probe::gc_major_start_enabled()) [[unlikely]]
      fire(probe::fire_gc_major_start, need_);
    if (is_traced(p_, kTraceGc | kAwaitsReturns)) [[unlikely]]
      trace_gc(p_, atoms::gc_major_start, need_);
    const bool killed = exceeds_limit(old_capacity() + total + fixed_words());
    Word reclaimed = 0;
    if (!killed) {
      if (total <= kOneSpaceWords || for_hibernation) {
        major_into_block(total);
      } else {
        major_into_old(total);
      }
      if (for_hibernation) collector_.resize(std::max<Word>(h_.used_words() + fixed_words(), 1));
      p_.minor_collections = 0;
      h_.old_off_heap_limit_words = std::max(off_heap_limit_of(p_), 2 * h_.old_off_heap_words);
      reclaimed = before - young_words() - old_words();
      finish();
    }
    if (probe::gc_major_end_enabled()) [[unlikely]]
      fire(probe::fire_gc_major_end, reclaimed);
    if (is_traced(p_, kTraceGc | kAwaitsReturns)) [[unlikely]]
      trace_gc(p_, atoms::gc_major_end, reclaimed);
    return result(killed, reclaimed);
  }

 private:
  static void list_roots(void* process, Collector::Visit visit, void* context) {
    visit_roots(*static_cast<Process*>(process), visit, context);
  }
  void verify() const { verify_heap(h_, p_.id, regs_, live_, list_roots, &p_); }
  static int saturate(Word words) { return words > INT_MAX ? INT_MAX : static_cast<int>(words); }

  Word mature_words() const { return static_cast<Word>(h_.high_water - h_.start); }
  Word young_words() const { return h_.used_words() + h_.fragment_words; }
  Word old_words() const { return static_cast<Word>(h_.old_top - h_.old_start); }
  Word old_capacity() const { return static_cast<Word>(h_.old_end - h_.old_start); }
  /// The part of a block that is not for terms that survive.
  Word fixed_words() const { return h_.stack_words() + need_ + kStackReserveWords; }
  Word least_block_words() const { return next_heap_size(std::max<Word>(p_.min_heap_words, 1)); }
  Word default_block_words() const { return p_.min_heap_words ? least_block_words() : kDefaultHeapWords; }

  /// There must be room for everything that might survive.
  Word minor_block_words() const {
    const Word block = h_.block_words();
    const Word most = young_words() - mature_words() + h_.stack_words() + kStackReserveWords;
    Word words = std::max({block, next_heap_size(most), p_.min_heap_words ? 0 : kToldHeapWords});
    if (h_.grow_next && block < kLargeBlockWords) words = std::max(words, next_heap_size(block * 2));
    if (need_ > block / 4) words = std::max(words, next_heap_size(most + need_));
    return words;
  }

  /// A process with a large old generation gets a large young one, within bounds: otherwise a block
  /// would be full again before enough of it is garbage.
  static Word young_beside(Word old_capacity) { return std::min(old_capacity / 4, kLargeBlockWords); }

  /// For a process with a heap limit: gives back the room for fragments if they held garbage.
  [[gnu::cold, gnu::noinline]] void give_back_growth() {
    if (block_before_ >= kEnoughForFragmentsWords && (h_.used_words() + fixed_words()) * 16 < block_before_)
      collector_.resize(block_before_);
  }

  void fit_block_after_minor() {
    const Word used = h_.used_words() + fixed_words(), block = h_.block_words();
    if (used > block) {
      collector_.resize(next_heap_size(used * 2));
    } else if (block > kKeepBlockWords && used * 16 < block && block / 2 >= young_beside(old_capacity())) {
      collector_.resize(std::max(next_heap_size(block / 2), default_block_words()));
    }
  }

  void major_into_block(Word total) {
    const Word words =
        std::max(next_heap_size((total + h_.stack_words()) * 3 / 2 + need_ + kStackReserveWords),
                 default_block_words());
    collector_.full_into_block(words);
    const Word used = h_.used_words() + fixed_words();
    const Word wanted = std::max(next_heap_size(used * 2), default_block_words());
    if (used * 4 < words && wanted < words) collector_.resize(wanted);
  }

  void major_into_old(Word total) {
    const Word capacity = total + total * 3 / 4;
    const Word young =
        std::max(std::clamp(next_heap_size(young_beside(capacity)),
                            h_.block_words() < kLargeBlockWords ? h_.block_words() : kLargeBlockWords,
                            kLargeBlockWords),
                 next_heap_size(fixed_words() * 2));
    collector_.full_into_old(capacity, young);
    const Word live = old_words();
    if (live < kOneSpaceWords / 2) {
      collector_.full_into_block(std::max(next_heap_size((live + fixed_words()) * 2), default_block_words()));
    } else if (live * 6 < old_capacity()) {
      collector_.full_into_old(live * 2, young);
    }
  }

  /// Whether the process fills a small block again and again while it computes. It gets a larger
  /// one, though little of what is there survives.
  bool is_busy() {
    const auto slice = static_cast<std::uint32_t>(p_.reductions_done);
    if (slice != std::exchange(h_.slice_begun_at, slice)) h_.collections_in_slice = 0;
    else if (h_.collections_in_slice < kBusyCollections) ++h_.collections_in_slice;
    return h_.collections_in_slice == kBusyCollections && h_.block_words() < kBusyBlockWords &&
           !p_.max_heap.words && !gc_modes.collect_always;
  }

  /// Called when the block has its final size.
  [[gnu::always_inline]] void finish() {
    h_.off_heap_limit_words = std::max(off_heap_limit_of(p_), 2 * h_.off_heap_words);
    note_deep_stack(p_);
    h_.grow_next = is_busy() || (h_.used_words() + fixed_words()) * 2 > h_.block_words();
    const Word before = block_before_, after = h_.block_words();
    if (after > before) {
      if (probe::process_heap_grow_enabled()) [[unlikely]]
        fire_resized(probe::fire_process_heap_grow, before, after);
    } else if (after < before) {
      if (probe::process_heap_shrink_enabled()) [[unlikely]]
        fire_resized(probe::fire_process_heap_shrink, before, after);
    }
    if (gc_modes.verify) [[unlikely]]
      verify();
  }

  /// Returns whether the process is to be killed for its size. extra: words that it will hold while
  /// it is collected, besides what it holds now in block, fragments and messages.
  bool exceeds_limit(Word extra) {
    if (p_.max_heap.words == 0) [[likely]]
      return false;
    Word total = h_.block_words() + h_.fragment_words + message_words_of(p_) + extra;
    if (p_.max_heap.binaries) total += h_.off_heap_words + h_.old_off_heap_words;
    if (total <= p_.max_heap.words) return false;
    if (is_traced(p_, kTraceGc)) [[unlikely]]
      trace_max_heap_passed(p_);
    if (p_.max_heap.log && lifecycle_upcalls.report_max_heap) lifecycle_upcalls.report_max_heap(p_, total);
    if (!p_.max_heap.kill) return false;
    p_.bif_action = BifAction::kExitNow;
    p_.exception_class = ExceptionClass::kExit;
    p_.exception_value = atoms::killed;
    return true;
  }

  int result(bool killed, Word reclaimed) const {
    if (begun_ns_) [[unlikely]]
      end_monitored_collection(p_, begun_ns_, killed);
    if (killed) return -1;
    count_memory(MemoryKind::kCollections, 1);
    count_memory(MemoryKind::kReclaimedWords, static_cast<std::int64_t>(reclaimed));
    return 1 + saturate(collector_.moved_words() / 16);
  }

  Process& p_;
  Heap& h_;
  Word need_;
  Term* regs_;
  unsigned live_;
  Word block_before_;
  Word begun_ns_ = 0;  // set if collections are monitored
  const InActivity collects_;
  Collector collector_;
};

}  // namespace

Word message_words_of(const Process& p) {
  if (p.extra && p.extra->off_heap_messages) return 0;
  Word words = 0;
  for (const Fragment* f = inner_queue(p); f; f = f->next)
    if (f->kind == static_cast<Word>(SignalKind::kMessage)) words += f->used_words;
  return words;
}

Word off_heap_limit_of(const Process& p) {
  return p.extra && p.extra->min_bin_vheap_words ? p.extra->min_bin_vheap_words : kOffHeapLimitWords;
}

std::span<const Word> heap_sizes() { return kSizeTable.sizes; }

Word next_heap_size(Word words) {
  const auto& sizes = kSizeTable.sizes;
  const auto it = std::lower_bound(sizes.begin(), sizes.end(), words);
  return it == sizes.end() ? words : *it;
}

void init_heap(Heap& heap, Word min_words) {
  const Word words = min_words ? next_heap_size(min_words) : kDefaultHeapWords;
  heap.start = heap.top = heap.high_water = allocate_block(words);
  heap.end = heap.stop = heap.start + words;
}

void free_heap(Heap& heap) { heap.release_all(); }

namespace {

/// Collecting at every single point would make a program's time quadratic in its live data. So that
/// mode skips points as long as they are fewer than a 32nd of the words in use. Small heaps still
/// move every time, and the cost of a large one stays in proportion.
bool passes_over(const Heap& h, Word need) {
  thread_local Word points = 0;
  const Word used = h.used_words() + h.fragment_words + static_cast<Word>(h.old_top - h.old_start);
  if (h.free_words() >= need + kStackReserveWords && !h.gc_desired() && ++points * 32 < used) return true;
  points = 0;
  return false;
}

}  // namespace

bool collections_are_forbidden(const Process& p) { return p.extra && p.extra->is_not_collected; }

void forbid_collections(Process& p, bool forbidden) {
  Extra& extra = extra_of(p);
  extra.is_not_collected = forbidden;
  if (forbidden || !extra.until_collected) return;
  defer_until_collected(extra);
  p.deferred_requests = true;
  p.reductions = 0;  // answered between two slices
}

namespace {

[[gnu::cold, gnu::noinline]] int grow_without_collecting(Process& p, Word need) {
  Heap& h = p.heap;
  const Word wanted = need + kStackReserveWords;
  if (h.free_words() >= wanted) return 1;
  h.leave_block(next_heap_size(2 * h.block_words() + h.stack_words() + wanted));
  p.minor_collections = Process::kNeverCollected;  // only a full sweep frees former blocks
  return 1;
}

}  // namespace

int collect_now(Process& p, Word need, Term* regs, unsigned live) {
  if (collections_are_forbidden(p)) [[unlikely]]
    return grow_without_collecting(p, need);
  Collection c(p, need, regs, live);
  return minor_is_possible(p) ? c.minor() : c.major();
}

int collect(Process& p, Word need, Term* regs, unsigned live) {
  if (gc_modes.collect_always && passes_over(p.heap, need)) [[unlikely]]
    return 1;
  return collect_now(p, need, regs, live);
}

int collect_major(Process& p, Word need, Term* regs, unsigned live) {
  if (collections_are_forbidden(p)) [[unlikely]]
    return grow_without_collecting(p, need);
  return Collection(p, need, regs, live).major();
}

int collect_literals(Process& p, const LiteralBlocks& blocks, const std::vector<bool>& marks) {
  int cost;
  if (Collection(p, 0, p.saved_regs, p.live_saved).with_literals(blocks, marks, &cost)) return cost;
  p.exit_pending = true;
  p.exit_reason = atoms::killed;
  return cost;
}

int collect_for_hibernate(Process& p, Term* regs, unsigned live) {
  if (p.trap_target && awaits_returns(p)) [[unlikely]]
    leave_traced_calls(p);
  if (collections_are_forbidden(p)) [[unlikely]]
    return 1;
  if (p.min_heap_words) p.observed |= kHibernates;
  return Collection(p, 0, regs, live).major(true);
}

void collect_after_hibernation(Process& p) {
  p.observed &= ~kHibernates;
  if (collect_major(p, 0, p.saved_regs, p.live_saved) >= 0) return;
  p.exit_pending = true;
  p.exit_reason = atoms::killed;
}

namespace {

Word most_words_here() {
  constexpr Word kStressWords = 4096, kLongWords = usual_or_small<Word>(512 * 1024, kStressWords);
  return gc_modes.collect_always ? kStressWords : kLongWords;
}
Word most_young_words(const Heap& h) { return h.block_words() + h.fragment_words; }
Word most_words(const Heap& h) { return most_young_words(h) + static_cast<Word>(h.old_top - h.old_start); }

}  // namespace

bool long_collection(const Process& p) {
  const Heap& h = p.heap;
  if (most_words(h) <= most_words_here()) [[likely]]
    return false;
  return (most_young_words(h) > most_words_here() || !minor_is_possible(p)) && !dirty_job_of(p) &&
         !collections_are_forbidden(p);
}

bool long_full_sweep(const Process& p) {
  return most_words(p.heap) > most_words_here() && !collections_are_forbidden(p);
}

bool may_go_on(Process& p, Word need) {
  const bool came_back = p.extra && std::exchange(p.extra->collected_on_dirty, false);
  // If there is room, only +gc-stress asks.
  return p.heap.free_words() >= need + kStackReserveWords && (came_back || passes_over(p.heap, need));
}

void collect_on_dirty(Process& p, Word need) {
  assert(!dirty_job_of(p));
  extra_of(p).collected_on_dirty = true;
  extra_of(p).dirty_job = new DirtyJob{nullptr, DirtyKind::kCpu, 0, {}, {}, false, need};
}

}  // namespace vmrun
