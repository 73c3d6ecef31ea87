// SPDX-License-Identifier: Apache-2.0
#include "vm/message/mailbox_probe.hpp"

#include <atomic>

#include "vm/heap/fragment.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kProbeLocks = 256;
SpinLock probe_locks[kProbeLocks];

constexpr SWord kNumbersAtOnce = 1 << 16;
std::atomic<SWord> numbers_taken{1};
thread_local SWord next_number = 0, numbers_end = 0;

SWord new_number() {
  if (next_number == numbers_end) {
    next_number = numbers_taken.fetch_add(kNumbersAtOnce, std::memory_order_relaxed);
    numbers_end = next_number + kNumbersAtOnce;
  }
  return next_number++;
}

/// Returns the message's number; 0 when no probe has reported it yet.
SWord number_of(const Fragment& f) {
  const Term t = f.token.is_list() ? f.token.head() : f.token;
  return t.is_small() ? t.small_value() : 0;
}

}  // namespace

constinit thread_local Term fired_message = kNonValue;

std::uint64_t message_id(Fragment& f) {
  if (const SWord known = number_of(f)) return static_cast<std::uint64_t>(known);
  const SWord number = new_number();
  if (f.token.is_nil()) {
    f.token = Term::small(number);
  } else {
    Term* hp = fragment_alloc(f, 2);  // token_room_words leaves room
    f.token = make_cons(hp, Term::small(number), f.token);
  }
  return static_cast<std::uint64_t>(number);
}

std::uint64_t last_message_id(const Fragment& f) {
  const SWord known = number_of(f);
  return static_cast<std::uint64_t>(known ? known : new_number());
}

void MailboxProbeLock::acquire(const Mailbox& m) {
  lock_ = &probe_locks[(reinterpret_cast<Word>(&m) >> 6) % kProbeLocks];
  lock_->lock();
}

}  // namespace vmrun
