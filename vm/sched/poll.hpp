// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/base/word.hpp"

/// Waits for descriptors with epoll, for ports and native functions.
///
/// A scheduler that is about to sleep takes the poller's role, if it is free, and sleeps in epoll
/// instead of on its futex. It runs what becomes ready itself, so that a port's answer costs no
/// switch of threads. Busy schedulers poll now and then without waiting. When the scheduler that
/// has left the role does not return to its loop, a sleeper is called to take the role (idle.hpp).
namespace vmrun {

// ---- For descriptors.cpp ------------------------------------------------------------------------

/// EPOLL_CTL_ADD or EPOLL_CTL_MOD, with a tag that descriptor_ready gets back. Returns an errno.
/// The caller counts what waits in registered_descriptors.
int poll_control(int operation, int fd, std::uint32_t events, Word tag);
/// The descriptor may be closed already.
void poll_forget(int fd);

// ---- For schedulers -----------------------------------------------------------------------------

extern std::atomic<int> registered_descriptors;
/// Whether anything can become ready.
inline bool poll_wanted() { return registered_descriptors.load(std::memory_order_relaxed) > 0; }
/// Takes the role. poll_leave or poll_dispatch gives it back.
[[nodiscard]] bool poll_claim();
void poll_leave();
/// Whether a thread has the role.
bool poll_is_claimed();
/// Waits until something is ready, poll_interrupt is called, or the time is up (-1: never). Returns
/// whether there is something to dispatch.
[[nodiscard]] bool poll_wait(SWord timeout_ns);
/// How many such waits have begun. The result of the latest one may be older than anything done
/// since it began: a descriptor that was read meanwhile may be empty.
extern constinit std::atomic<Word> poll_looks;
/// When the latest wait ended, on the monotonic clock.
Word poll_last_look();
/// Ends the wait of the thread that has the role, or the next wait. Any thread.
void poll_interrupt();
/// Hands what is ready to the ports. Called with an epoch entered.
void poll_dispatch();
/// Returns how many descriptors the kernel has in the set, including the one for interrupts; 0: not
/// started.
Word poll_set_size();
/// Polls without waiting, unless a thread has polled a moment ago. Called with an epoch entered.
void poll_now_and_then();

}  // namespace vmrun
