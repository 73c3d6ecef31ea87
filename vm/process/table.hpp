#pragma once

#include <atomic>

#include "vm/process/process.hpp"

/// All live processes by number. Lookup takes no lock: one load and a compare. Numbers are given out in sequence; a number's low bits are its slot,
/// so a slot comes round again with another number and a stale pid finds nothing.
/// Pointers are good until the thread's next quiescent state (epoch.hpp).
namespace vmrun {

inline constexpr Word kDefaultProcessLimit = Word{1} << 18, kMaxProcessLimit = Word{1} << 27;

class ProcessTable {
 public:
  /// Once, before the first process. limit: rounded up to a power of two, at least 1024.
  void init(Word limit);
  Word limit() const { return mask_ + 1; }
  Word count() const { return count_.load(std::memory_order_relaxed); }

  /// nullptr when the process does not exist or exits.
  Process* find(Term pid) const {
    Process* p = slots_[pid.id_number() & mask_].load(std::memory_order_acquire);
    return p && p->id == pid ? p : nullptr;
  }

  /// Counts the process in; false at the limit.
  [[nodiscard]] bool reserve();
  /// Gives p the next free number and publishes it, after a successful reserve. Everything else about p is complete.
  void publish(Process& p);
  /// p is not found from here on.
  void remove(Process& p);

  template <class F>
  void for_each(F&& visit) const {
    for (Word i = 0; i <= mask_; ++i)
      if (Process* p = slots_[i].load(std::memory_order_acquire)) visit(*p);
  }

 private:
  std::atomic<Process*>* slots_ = nullptr;
  Word mask_ = 0;
  alignas(64) std::atomic<Word> next_number_{0};
  std::atomic<Word> count_{0};
};

extern ProcessTable process_table;

/// Process structures come from a pool that each scheduler keeps and are given back when no thread can look at them any more.
Process* allocate_process();
void recycle_process(Process* p);

}  // namespace vmrun
