#pragma once

#include "probes/inside.hpp"
#include "probes/probes.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/process/mailbox.hpp"

/// What probes tell of messages: the exact length of the mailbox, and which message it is.
namespace vmrun {

/// A message stays in its fragment from where it is sent until it is received.
inline std::uint64_t message_id(const Fragment& f) { return reinterpret_cast<std::uintptr_t>(&f); }

/// Held around changes of a mailbox's length while anyone wants message-queued in full, so that the
/// length it reports is exact and the probe fires before the message becomes visible (PROBES A10).
/// Where a path is taken often the probe is tested first, and the lock left to a function of its
/// own.
class MailboxProbeLock {
 public:
  explicit MailboxProbeLock(const Mailbox& m) {
    if (probe::message_queued_enabled() && probe::message_queued_in_full()) [[unlikely]]
      acquire(m);
  }
  ~MailboxProbeLock() {
    if (lock_) lock_->unlock();
  }
  MailboxProbeLock(const MailboxProbeLock&) = delete;
  bool held() const { return lock_ != nullptr; }

 private:
  void acquire(const Mailbox& m);

  SpinLock* lock_ = nullptr;
};

}  // namespace vmrun
