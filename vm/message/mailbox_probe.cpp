#include "vm/message/mailbox_probe.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kProbeLocks = 256;
SpinLock probe_locks[kProbeLocks];

}  // namespace

void MailboxProbeLock::acquire(const Mailbox& m) {
  lock_ = &probe_locks[(reinterpret_cast<Word>(&m) >> 6) % kProbeLocks];
  lock_->lock();
}

}  // namespace vmrun
