#pragma once

#include <atomic>

#include "vm/base/word.hpp"

/// Waiting for descriptors, by epoll, for ports and native functions.
///
/// Whoever has nothing else to do waits: a scheduler about to sleep takes the poller's role, if it
/// is free, and sleeps in epoll instead of on its futex. What becomes ready it runs itself, so that
/// a port's answer costs no switch of threads. Busy schedulers look now and then without waiting.
/// When the one that has left the role does not come round, a sleeper is called to take it
/// (idle.hpp).
namespace vmrun {

// ---- For who waits for descriptors --------------------------------------------------------------

enum PollFor : unsigned { kPollPorts, kPollNative };

/// Called for each descriptor that is ready, with the tag it was registered with and the epoll
/// events, in a thread that has entered an epoch. Filled in by vm/port and vm/nif before main
/// begins.
using PollReady = void (*)(Word tag, std::uint32_t events);
extern constinit PollReady poll_ready[2];

/// For ports: EPOLL_CTL_ADD or EPOLL_CTL_MOD with a tag below 2^63. Returns an errno. The caller
/// counts what waits in registered_descriptors.
int poll_control(int operation, int fd, std::uint32_t events, Word tag);
/// For native functions: reports once when one of the events has come. known: fd is registered
/// already. Otherwise the same.
int poll_once(int fd, Word tag, std::uint32_t events, bool known);
/// Also of what is closed already.
void poll_forget(int fd);

// ---- For schedulers -----------------------------------------------------------------------------

extern std::atomic<int> registered_descriptors;
/// Something can become ready.
inline bool poll_wanted() { return registered_descriptors.load(std::memory_order_relaxed) > 0; }
/// Takes the role; poll_leave or poll_dispatch gives it back.
[[nodiscard]] bool poll_claim();
void poll_leave();
/// Somebody has it.
bool poll_is_claimed();
/// Waits until something is ready, poll_interrupt is called, or the time is up (-1: never). True
/// when there is something to dispatch.
[[nodiscard]] bool poll_wait(SWord timeout_ns);
/// How many such waits have begun. What the last of them tells may be older than anything done
/// since it began: a descriptor that was read from meanwhile may be empty.
extern constinit std::atomic<Word> poll_looks;
/// When the last one ended, on the monotonic clock.
Word poll_last_look();
/// Any thread: ends the wait of who has the role, or the next one.
void poll_interrupt();
/// Hands what is ready to the ports, with an epoch entered.
void poll_dispatch();
/// How many descriptors the kernel has in the set, the one to interrupt included; 0: not started.
Word poll_set_size();
/// A look without waiting, unless somebody has looked a moment ago. With an epoch entered.
void poll_now_and_then();

}  // namespace vmrun
