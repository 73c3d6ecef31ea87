#include "vm/process/mailbox.hpp"

namespace vmrun {

PushResult Mailbox::push(Fragment* f) {
  // Who clears kParked takes the process over: the push orders that after park().
  const Word old = outer_.push(*f);
  if (old & kClosed) return PushResult::kClosed;
  return old & kParked ? PushResult::kWakeOwner : PushResult::kQueued;
}

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

bool Mailbox::park() {
  Word expected = 0;
  // Release hands everything the owner wrote to whoever wakes the process.
  return outer_.word().compare_exchange_strong(expected, kParked, std::memory_order_release,
                                               std::memory_order_relaxed);
}

Fragment* Mailbox::take_arrivals() {
  // Acquire pairs with the push. Only the owner closes, so no closed bit can get lost here.
  Fragment* newest = Outer::address(outer_.word().exchange(0, std::memory_order_acquire));
  Word messages = inner_count();
  Fragment* oldest = Outer::reversed(
      newest, [&](const Fragment& f) { messages += f.kind == static_cast<Word>(SignalKind::kMessage); });
  set_inner_count(messages);
  return oldest;
}

Word Mailbox::exact_length() const {
  if (outer_count() < Tags::kCountMax) return length();
  // Others only push in front of what is here, and the owner alone takes. Acquire pairs with the
  // push.
  Word n = inner_count();
  for (const Fragment* f = Outer::address(outer_.word().load(std::memory_order_acquire)); f; f = f->next)
    n += f->kind == static_cast<Word>(SignalKind::kMessage);
  return n;
}

Fragment* Mailbox::close() { return outer_.close(); }

}  // namespace vmrun
