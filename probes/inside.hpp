// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Consumers in the machine itself (probes/attach). A consumer that has raised a probe gets its
/// firings as raw words, by the same test that tells whether a tracer listens. In the usual build
/// this is generated from probes.tab; with -Dprobes=none nothing ever fires.
namespace vmrun::probe {

/// Gets the firings of all probes that are raised. In the firing thread; does not block, throw,
/// allocate on a process's heap or fire. connect_runtime() sets it.
/// probe: its place in probe_rows(). words: one for each argument, a number, the word of a term, or
/// the address of a text or of a FunctionArgument.
using FireInside = void (*)(unsigned probe, unsigned argument_count, const std::uint64_t* words);
extern FireInside fire_inside;

/// The number of the message that the thread's latest message-send, message-queued or
/// message-receive is about. It is the same at all three, and no other message on its way at that
/// time has it.
extern constinit thread_local std::uint64_t message_number;

/// Raises or lowers a probe, which fires while it has been raised more often than lowered. It may
/// be raised at most kAskingInside times more than lowered, counting all probes of a group
/// together. Any thread may call these.
void raise_inside(unsigned probe);
void lower_inside(unsigned probe);
unsigned inside_count(unsigned probe);

// ---- Firings that are only counted --------------------------------------------------------------

/// Two counts in a half word of the consumers. The lower one says how many want the firing itself.
/// Above it, in units of kCountingInside, stands how many probes (one, or those of a group) are
/// counted.
inline constexpr unsigned kCountingInside = 0x2000, kAskingInside = kCountingInside - 1;

/// From here on, each firing of the probe adds one to its number in the counts of the firing
/// thread. It may be called only once until the counting is stopped. A thread in the middle of a
/// firing may not see the stop at once.
void count_inside(unsigned probe);
void stop_counting_inside(unsigned probe);

/// The calling thread's counts, by the number of the probe, or nullptr before its first one. Only
/// that thread writes them; others read them.
extern constinit thread_local std::uint64_t* firing_counts;
/// Makes those of the calling thread. connect_runtime() sets it.
using CountsOfThread = std::uint64_t* (*)();
extern CountsOfThread counts_of_thread;

inline void count_firing(unsigned probe) {
  std::uint64_t* counts = firing_counts;
  if (!counts) [[unlikely]]
    counts = firing_counts = counts_of_thread();
  // The thread that adds the counts up reads them in no order with anything else.
  __atomic_store_n(counts + probe, __atomic_load_n(counts + probe, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

/// While a group has been raised its X_enabled() holds, even if none of its probes need fire.
void raise_watch(const char* group);
void lower_watch(const char* group);

}  // namespace vmrun::probe
