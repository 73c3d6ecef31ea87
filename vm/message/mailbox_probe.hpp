// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/inside.hpp"
#include "probes/probes.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/process/mailbox.hpp"

/// What probes report about messages: the exact length of the mailbox, and the number of the
/// message.
namespace vmrun {

/// Returns the number of a message. A message gets it when a probe first reports the message. No
/// other message ever gets it. It is kept in the fragment, beside token and tag. Called by the
/// fragment's owner.
std::uint64_t message_id(Fragment& f);
/// As above, for a message that leaves the mailbox, whose number is not needed again. Its terms may
/// lie in the receiver's heap by now.
std::uint64_t last_message_id(const Fragment& f);

/// The message that the current firing of message-send, message-queued or message-receive in this
/// thread is about.
extern constinit thread_local Term fired_message;

/// Held around changes of a mailbox's length while a consumer needs message-queued in full. So the
/// length it reports is exact, and the probe fires before the message becomes visible (PROBES A10).
/// Common paths test the probe first and use the lock in a separate function.
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
