#pragma once

#include <sys/mman.h>

#include <atomic>

#include "vm/base/allocate.hpp"
#include "vm/term/term.hpp"

/// All live things of one kind (processes, ports) by number. Lookup takes no lock: one load and a
/// compare. Numbers are given out in sequence; a number's low bits are its slot, so a slot comes
/// round again with another number and a stale identity finds nothing. Pointers are good until the
/// thread's next quiescent state (epoch.hpp).
namespace vmrun {

/// T has a member `id`; make_id turns a number into such a term.
template <class T, Term (*make_id)(Word)>
class IdTable {
 public:
  /// Once, before anything is published. limit: rounded up to a power of two, at least 1024. Until
  /// then there is nothing and no room.
  void init(Word limit, Word most, const char* what) {
    Word size = 1024;
    while (size < limit && size < most) size *= 2;
    // Pages come into being when touched, so a large limit costs nothing.
    void* memory = mmap(nullptr, size * sizeof slots_[0], PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) out_of_memory(what, size * sizeof slots_[0]);
    slots_ = static_cast<std::atomic<T*>*>(memory);
    mask_ = size - 1;
    limit_ = size;
  }
  Word limit() const { return limit_; }
  Word count() const { return count_.load(std::memory_order_relaxed); }

  /// nullptr when there is no such thing (any more).
  T* find(Term id) const {
    T* found = slots_[id.id_number() & mask_].load(std::memory_order_acquire);
    return found && found->id == id ? found : nullptr;
  }

  /// Counts one in; false at the limit.
  [[nodiscard]] bool reserve() {
    if (count_.fetch_add(1, std::memory_order_relaxed) < limit_) return true;
    count_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  /// Gives it the next free number and publishes it, after a successful reserve. Everything else
  /// about it is complete.
  void publish(T& it) {
    // There are no more reservations than slots, so a free one comes along.
    for (;;) {
      const Word number = next_number_.fetch_add(1, std::memory_order_relaxed) & ((Word{1} << 56) - 1);
      std::atomic<T*>& slot = slots_[number & mask_];
      if (slot.load(std::memory_order_relaxed)) continue;
      it.id = make_id(number);
      T* expected = nullptr;
      if (slot.compare_exchange_strong(expected, &it, std::memory_order_release, std::memory_order_relaxed))
        return;
    }
  }
  /// Not found from here on.
  void remove(T& it) {
    slots_[it.id.id_number() & mask_].store(nullptr, std::memory_order_release);
    count_.fetch_sub(1, std::memory_order_release);
  }

  template <class F>
  void for_each(F&& visit) const {
    for (Word i = 0; i <= mask_; ++i)
      if (T* found = slots_[i].load(std::memory_order_acquire)) visit(*found);
  }

 private:
  inline static std::atomic<T*> none_[1];
  std::atomic<T*>* slots_ = none_;
  Word mask_ = 0, limit_ = 0;
  alignas(64) std::atomic<Word> next_number_{0};

 protected:
  std::atomic<Word> count_{0};
};

}  // namespace vmrun
