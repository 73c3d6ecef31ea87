// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/literal.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>

#include "vm/base/allocate.hpp"
#include "vm/base/mapped_memory.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/off_heap.hpp"
#include "vm/heap/shared_copy.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace vmrun {

Word literal_base = 0, literal_bytes = 0;
thread_local constinit LeavingLiterals leaving_literals;
constinit std::atomic<Word> detail::leaving_now{0};
thread_local constinit Word detail::leaving_as_seen = 0;

namespace {

constexpr std::size_t kReservedBytes = std::size_t{1} << 30, kCommitBytes = std::size_t{1} << 18;

/// The addresses of the area: which are free, and up to where pages can be used. Reserved addresses
/// cost nothing. Pages become usable in steps as they are needed, and those that are entirely free
/// go back to the system. Guarded by `mutex`.
class Area {
 public:
  void init(Term* start, Term* end) {
    next_ = committed_end_ = start;
    end_ = end;
  }
  /// Takes the smallest free range that is large enough, else words at the end. Returns nullptr
  /// when there is no room.
  Term* take(Word words) {
    const auto it = by_size_.lower_bound({words, nullptr});
    if (it != by_size_.end()) {
      const auto [size, start] = *it;
      forget(start, size);
      if (size > words) remember(start + words, size - words);
      return start;
    }
    if (words > static_cast<Word>(end_ - next_)) return nullptr;
    Term* p = next_;
    next_ += words;
    commit();
    return p;
  }
  void give(Term* start, Word words) {
    auto after = by_start_.lower_bound(start);
    if (after != by_start_.end() && after->first == start + words) {
      const Word size = after->second;
      forget(after->first, size);
      words += size;
      after = by_start_.lower_bound(start);
    }
    if (after != by_start_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == start) {
        const auto [first, size] = *before;
        forget(first, size);
        start = first;
        words += size;
      }
    }
    release_pages(start, words);
    if (start + words == next_) next_ = start;
    else remember(start, words);
  }

 private:
  void remember(Term* start, Word words) {
    by_start_.emplace(start, words);
    by_size_.emplace(words, start);
  }
  void forget(Term* start, Word words) {
    by_start_.erase(start);
    by_size_.erase({words, start});
  }
  void commit() {
    while (next_ > committed_end_) {
      if (mprotect(committed_end_, kCommitBytes, PROT_READ | PROT_WRITE) != 0)
        out_of_memory("the literal area", kCommitBytes);
      committed_end_ += kCommitBytes / sizeof(Term);
    }
  }
  static void release_pages(Term* start, Word words) {
    const Word from = rounded_to_pages(reinterpret_cast<Word>(start)),
               to = reinterpret_cast<Word>(start + words) & ~(page_bytes() - 1);
    if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
  }

  Term* next_ = nullptr;  // nothing from here on has been taken
  Term* committed_end_ = nullptr;
  Term* end_ = nullptr;
  std::map<Term*, Word> by_start_;
  std::set<std::pair<Word, Term*>> by_size_;
};

std::once_flag reserved;
std::mutex mutex;
Area& area() {
  static Area& a = *new Area;
  return a;
}
std::atomic<Word> words_used{0};

/// Takes `words`. Returns nullptr when there is no room.
Term* take_words(Word words) {
  std::lock_guard lock(mutex);
  Term* p = area().take(words);
  if (p) words_used.fetch_add(words, std::memory_order_relaxed);
  return p;
}

}  // namespace

void init_literal_area() {
  std::call_once(reserved, [] {
    void* memory =
        mmap(nullptr, kReservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) out_of_memory("the literal area", kReservedBytes);
#ifdef __SANITIZE_ADDRESS__
    __lsan_register_root_region(memory, kReservedBytes);  // binaries of literals are not leaked
#endif
    auto* start = static_cast<Term*>(memory);
    area().init(start, start + kReservedBytes / sizeof(Term));
    // The first word is the empty tuple: as a literal it is never copied and never moved.
    *take_words(1) = Term::header(Term::Sub::kTuple, 0);
    literal_bytes = kReservedBytes;
    literal_base = reinterpret_cast<Word>(memory);
  });
}

Term empty_tuple_literal() {
  if (!literal_base) [[unlikely]]
    init_literal_area();
  return Term::boxed(reinterpret_cast<const Term*>(literal_base));
}

bool make_literals(Term* terms, std::size_t count, LiteralBlock** block) {
  init_literal_area();
  *block = nullptr;
  Word words = 0;
  for (std::size_t i = 0; i < count; ++i) words += copy_size_words(terms[i], Literals::kCopied);
  if (words == 0) return true;
  Term* hp = take_words(words);
  if (!hp) return false;
  *block = new LiteralBlock{hp, words, nullptr};
  for (std::size_t i = 0; i < count; ++i)
    terms[i] = copy_term(terms[i], hp, (*block)->off_heap, Literals::kCopied);
  return true;
}

bool make_shared_literal(Term* term, LiteralBlock** block) {
  init_literal_area();
  *block = nullptr;
  SharedObjects objects(true);
  if (!objects.find(*term)) return false;
  if (objects.words() == 0) return true;
  Term* hp = take_words(objects.words());
  if (!hp) return false;
  *block = new LiteralBlock{hp, objects.words(), nullptr};
  objects.copy(hp, (*block)->off_heap);
  *term = objects.in_copy(*term);
  return true;
}

void free_literals(LiteralBlock* block) {
  release_off_heap_list(block->off_heap);
  {
    std::lock_guard lock(mutex);
    area().give(block->start, block->words);
    words_used.fetch_sub(block->words, std::memory_order_relaxed);
  }
  delete block;
}

Term make_literal(Term t) {
  if (t.is_immed()) return t;
  init_literal_area();
  if (is_literal(t.ptr())) return t;
  LiteralBlock* forever;
  if (!make_literals(&t, 1, &forever)) out_of_memory("the literal area", size_words(t) * sizeof(Term));
  return t;
}

Word literal_words_used() { return words_used.load(std::memory_order_relaxed); }

// ---- Literals that are about to be freed --------------------------------------------------------

void detail::take_leaving_literals(Word now) {
  leaving_as_seen = now;
  leaving_literals = {literal_base + (now >> 32) * sizeof(Term), (now & 0xFFFFFFFF) * sizeof(Term)};
}

void set_leaving_literals(const Term* from, Word words) {
  const Word offset = from ? static_cast<Word>(from - reinterpret_cast<const Term*>(literal_base)) : 0;
  detail::leaving_now.store(offset << 32 | words, std::memory_order_release);
}

LiteralBlocks::LiteralBlocks(std::vector<LiteralBlock*> blocks) : blocks_(std::move(blocks)) {
  std::ranges::sort(blocks_, {}, [](const LiteralBlock* b) { return b->start; });
  if (blocks_.empty()) return;
  base_ = reinterpret_cast<Word>(blocks_.front()->start);
  bytes_ = reinterpret_cast<Word>(blocks_.back()->start + blocks_.back()->words) - base_;
}

int LiteralBlocks::find(const Term* p) const {
  const auto it = std::ranges::upper_bound(blocks_, p, {}, [](const LiteralBlock* b) { return b->start; });
  if (it == blocks_.begin() || !(*std::prev(it))->contains(p)) return -1;
  return static_cast<int>(it - blocks_.begin()) - 1;
}

bool LiteralBlocks::mark_mentioned(const Term* words, std::size_t count, std::vector<bool>& marks) const {
  bool found = false;
  for (const Term* w = words; w < words + count; ++w) {
    const Word address = w->raw() & ~Word{7};
    if (address - base_ >= bytes_) continue;
    const int block = find(reinterpret_cast<const Term*>(address));
    if (block < 0) continue;
    marks[static_cast<std::size_t>(block)] = found = true;
  }
  return found;
}

}  // namespace vmrun
