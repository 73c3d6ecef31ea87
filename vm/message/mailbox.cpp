#include "vm/message/mailbox.hpp"

#include <thread>

#include "vm/message/mailbox_probe.hpp"

namespace vmrun {

void SpinLock::wait() {
  for (int i = 0; held_.load(std::memory_order_relaxed); ++i) {
    if (i < 200) cpu_relax();
    else std::this_thread::yield();
  }
}

PushResult Mailbox::push(Fragment* f) {
  const Word counted = f->kind == static_cast<Word>(SignalKind::kMessage);
  Word old = outer_.load(std::memory_order_relaxed);
  for (;;) {
    if (old & kClosed) return PushResult::kClosed;
    f->next = reinterpret_cast<Fragment*>(old & kAddressMask);
    Word count = old >> kCountShift;
    if (count < kCountMax) count += counted;
    const Word wanted = count << kCountShift | reinterpret_cast<Word>(f) | (old & kNotice);
    // Release publishes the fragment to take_arrivals; acquire pairs with park(): who clears
    // kParked takes the process over.
    if (outer_.compare_exchange_weak(old, wanted, std::memory_order_acq_rel, std::memory_order_relaxed))
      return old & kParked ? PushResult::kWakeOwner : PushResult::kQueued;
  }
}

bool Mailbox::notify() {
  Word old = outer_.load(std::memory_order_relaxed);
  for (;;) {
    if (old & kClosed) return false;
    const Word wanted = (old & ~kParked) | kNotice;
    if (outer_.compare_exchange_weak(old, wanted, std::memory_order_acq_rel, std::memory_order_relaxed))
      return old & kParked;
  }
}

bool Mailbox::park() {
  Word expected = 0;
  // Release hands everything the owner wrote to whoever wakes the process.
  return outer_.compare_exchange_strong(expected, kParked, std::memory_order_release,
                                        std::memory_order_relaxed);
}

namespace {

Fragment* reverse(Fragment* newest, Word& messages) {
  Fragment* oldest = nullptr;
  while (newest) {
    Fragment* next = newest->next;
    messages += newest->kind == static_cast<Word>(SignalKind::kMessage);
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

}  // namespace

Fragment* Mailbox::take_arrivals() {
  // Acquire pairs with the release in push. Only the owner closes, so no closed bit can get lost
  // here.
  Word messages = inner_count();
  Fragment* oldest = reverse(
      reinterpret_cast<Fragment*>(outer_.exchange(0, std::memory_order_acquire) & kAddressMask), messages);
  set_inner_count(messages);
  return oldest;
}

Fragment* Mailbox::close() {
  Word messages = 0;
  return reverse(
      reinterpret_cast<Fragment*>(outer_.exchange(kClosed, std::memory_order_acq_rel) & kAddressMask),
      messages);
}

namespace {

constexpr std::size_t kProbeLocks = 256;
SpinLock probe_locks[kProbeLocks];

}  // namespace

void MailboxProbeLock::acquire(const Mailbox& m) {
  lock_ = &probe_locks[(reinterpret_cast<Word>(&m) >> 6) % kProbeLocks];
  lock_->lock();
}

}  // namespace vmrun
