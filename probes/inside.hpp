#pragma once

#include <cstdint>

/// Consumers in the machine itself (probes/attach): who has raised a probe gets its firings as raw
/// words, below the same test that tells whether a tracer looks. What is here is generated from
/// probes.tab in the usual build; with -Dprobes=none nothing ever fires.
namespace vmrun::probe {

/// Gets the firings of all probes that are raised. In the firing thread; does not block, throw,
/// allocate on a process's heap or fire. Set before main begins.
/// probe: its place in probe_rows(). words: one for each argument, a number, the word of a term, or
/// the address of a text or of a FunctionArgument.
using FireInside = void (*)(unsigned probe, unsigned argument_count, const std::uint64_t* words);
extern FireInside fire_inside;

/// Of the message that the thread's latest message-send, message-queued or message-receive is
/// about: the same at all three, and no other message's that is on its way at that time.
extern constinit thread_local std::uint64_t message_number;

/// A probe fires while it has been raised more often than lowered; at most kAskingInside times
/// more, all of a group together. Any thread.
void raise_inside(unsigned probe);
void lower_inside(unsigned probe);
unsigned inside_count(unsigned probe);

// ---- Firings that are only counted --------------------------------------------------------------

/// In a half word of the consumers: how many want the firing itself, and above those, in units, how
/// many probes (one, or those of a group) are counted.
inline constexpr unsigned kCountingInside = 0x2000, kAskingInside = kCountingInside - 1;

/// From here on each firing of the probe adds one to its number in the counts of the firing thread.
/// At most once until it is stopped, which those in the middle of a firing may not see at once.
void count_inside(unsigned probe);
void stop_counting_inside(unsigned probe);

/// The calling thread's counts, by the number of the probe; nullptr before its first one. Written
/// by that thread alone, read by others.
extern constinit thread_local std::uint64_t* firing_counts;
/// Makes those of the calling thread. Set before main begins.
using CountsOfThread = std::uint64_t* (*)();
extern CountsOfThread counts_of_thread;

inline void count_firing(unsigned probe) {
  std::uint64_t* counts = firing_counts;
  if (!counts) [[unlikely]]
    counts = firing_counts = counts_of_thread();
  // Read by who adds them up, in no order with anything else.
  __atomic_store_n(counts + probe, __atomic_load_n(counts + probe, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

/// While a group has been raised its X_watched() holds, though none of its probes need fire.
void raise_watch(const char* group);
void lower_watch(const char* group);

}  // namespace vmrun::probe
