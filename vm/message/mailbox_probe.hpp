#pragma once

#include "probes/inside.hpp"
#include "probes/probes.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/process/mailbox.hpp"

/// What probes tell of messages: the exact length of the mailbox, and which message it is.
namespace vmrun {

/// The number of a message: given when a probe first tells of it, never again to another one, and
/// kept in its fragment, beside what the message carries. By the fragment's owner.
std::uint64_t message_id(Fragment& f);
/// The same where the message leaves the mailbox, and nobody will ask again. Its terms may lie in
/// the receiver's heap by now.
std::uint64_t last_message_id(const Fragment& f);

/// The message that the firing of message-send, message-queued or message-receive under way in this
/// thread is about.
extern constinit thread_local Term fired_message;

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
