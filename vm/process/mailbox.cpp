// SPDX-License-Identifier: Apache-2.0
#include "vm/process/mailbox.hpp"

namespace vmrun {

bool Mailbox::notify() {
  std::atomic<Word>& outer = outer_.word();
  Word old = outer.load(std::memory_order_relaxed);
  for (;;) {
    if (old & kClosed) return false;
    const Word wanted = (old & ~kParked) | kNotice;
    if (outer.compare_exchange_weak(old, wanted, std::memory_order_acq_rel, std::memory_order_relaxed))
      return old & kParked;
  }
}

bool Mailbox::unpark() {
  Word expected = kParked;
  // Acquire pairs with park(): this thread sees what the owner wrote.
  return outer_.word().compare_exchange_strong(expected, 0, std::memory_order_acquire,
                                               std::memory_order_relaxed);
}

Word Mailbox::exact_length() const {
  if (outer_count() < Tags::kCountMax) return length();
  // Other threads only push in front of what is here, and only the owner takes. Acquire pairs with
  // the push.
  Word n = inner_count();
  for (const Fragment* f = Outer::address(outer_.word().load(std::memory_order_acquire)); f; f = f->next)
    n += f->kind == static_cast<Word>(SignalKind::kMessage);
  return n;
}

Word Mailbox::length_now() const {
  // The owner's taking is a release, so a reader that sees the word taken sees kTaking, or the
  // count that followed. If the owner takes messages between the two loads of the count, these
  // differ, unless the owner has removed as many meanwhile. In that case the sum was correct at the
  // load of the word.
  const Word before = inner_count_.load(std::memory_order_acquire);
  const Word arrived = outer_.word().load(std::memory_order_acquire) >> kCountShift;
  const Word after = inner_count_.load(std::memory_order_relaxed);
  return before != after || after & kTaking || arrived == Tags::kCountMax ? kUnknown : after + arrived;
}

Fragment* Mailbox::close() { return outer_.close(); }

}  // namespace vmrun
