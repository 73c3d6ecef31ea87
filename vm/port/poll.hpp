#pragma once

#include <atomic>

#include "vm/include/erl_driver.h"
#include "vm/term/term.hpp"

/// Waiting for descriptors. Ports select descriptors; when one is ready the port gets a task that
/// calls ready_input or ready_output.
///
/// Whoever has nothing else to do waits: a scheduler about to sleep takes the poller's role, if it
/// is free, and sleeps in epoll instead of on its futex. What becomes ready it runs itself, so that
/// a port's answer costs no switch of threads. Busy schedulers look now and then without waiting. A
/// thread of its own looks only when nobody else has for a while (a driver or native function that
/// does not return): it sleeps for good while a scheduler waits, so an idle machine costs nothing.
///
/// A descriptor stays registered level-triggered; it is taken out only when it reports again while
/// its task has not run yet.
namespace vmrun {

struct Port;

/// driver_select. Holder only. 0, or -1 for what is no descriptor.
int select_descriptor(Port& p, ErlDrvEvent event, int mode, bool on);
/// driver_event: no data: no longer.
int select_event(Port& p, ErlDrvEvent event, ErlDrvEventData data);

// ---- For native functions (nif/select.hpp) ------------------------------------------------------

/// Reports once when one of the epoll events has come: calls native_descriptor_ready(id, events) in
/// a thread that has entered an epoch. known: fd is registered already. id: below 2^63 - 1. Returns
/// an errno. The caller counts what waits in registered_descriptors.
int wait_once(int fd, Word id, std::uint32_t events, bool known);
void forget_descriptor(int fd);
void native_descriptor_ready(Word id, std::uint32_t events);

// ---- For schedulers -----------------------------------------------------------------------------

extern std::atomic<int> registered_descriptors;
/// Something can become ready.
inline bool poll_wanted() { return registered_descriptors.load(std::memory_order_relaxed) > 0; }
/// Takes the role; poll_leave or poll_dispatch gives it back.
[[nodiscard]] bool poll_claim();
void poll_leave();
/// Waits until something is ready, poll_interrupt is called, or the time is up (-1: never). True
/// when there is something to dispatch.
[[nodiscard]] bool poll_wait(SWord timeout_ns);
/// Any thread: ends the wait of who has the role, or the next one.
void poll_interrupt();
/// Hands what is ready to the ports, with an epoch entered.
void poll_dispatch();
/// A look without waiting, unless somebody has looked a moment ago. With an epoch entered.
void poll_now_and_then();

}  // namespace vmrun
