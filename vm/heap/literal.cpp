#include "vm/heap/literal.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <mutex>

#include "vm/base/allocate.hpp"
#include "vm/heap/copy.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace vmrun {

Word literal_base = 0, literal_bytes = 0;

namespace {

constexpr std::size_t kReservedBytes = std::size_t{1} << 30, kCommitBytes = std::size_t{1} << 18;

std::once_flag reserved;
std::mutex mutex;  // guards the three below
Term* next_word = nullptr;
Term* committed_end = nullptr;
Term* area_end = nullptr;

/// Reserved addresses cost nothing; pages become usable in steps as they are needed. Needs the
/// mutex.
Term* take_words(Word words) {
  if (words > static_cast<Word>(area_end - next_word))
    out_of_memory("the literal area", words * sizeof(Term));
  Term* p = next_word;
  next_word += words;
  while (next_word > committed_end) {
    if (mprotect(committed_end, kCommitBytes, PROT_READ | PROT_WRITE) != 0)
      out_of_memory("the literal area", kCommitBytes);
    committed_end += kCommitBytes / sizeof(Term);
  }
  return p;
}

}  // namespace

void init_literal_area() {
  std::call_once(reserved, [] {
    void* area = mmap(nullptr, kReservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED) out_of_memory("the literal area", kReservedBytes);
#ifdef __SANITIZE_ADDRESS__
    __lsan_register_root_region(area, kReservedBytes);  // binaries of literals are not leaked
#endif
    next_word = committed_end = static_cast<Term*>(area);
    area_end = next_word + kReservedBytes / sizeof(Term);
    // The first word is the empty tuple: as a literal it is never copied and never moved.
    *take_words(1) = Term::header(Term::Sub::kTuple, 0);
    literal_bytes = kReservedBytes;
    literal_base = reinterpret_cast<Word>(area);
  });
}

Term empty_tuple() {
  if (!literal_base) [[unlikely]]
    init_literal_area();
  return Term::boxed(reinterpret_cast<const Term*>(literal_base));
}

Term make_literal(Term t) {
  if (t.is_immed()) return t;
  init_literal_area();
  if (is_literal(t.ptr())) return t;
  const Word words = copy_size_words(t);
  std::lock_guard lock(mutex);
  Term* p = take_words(words);
  OffHeapObject* forever = nullptr;  // never swept: literals hold their binaries for good
  return copy_term(t, p, forever);
}

}  // namespace vmrun
