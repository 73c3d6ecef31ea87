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

/// A probe fires while it has been raised more often than lowered; at most 65535 times more. Any
/// thread.
void raise_inside(unsigned probe);
void lower_inside(unsigned probe);
unsigned inside_count(unsigned probe);

/// While a group has been raised its X_watched() holds, though none of its probes need fire.
void raise_watch(const char* group);
void lower_watch(const char* group);

}  // namespace vmrun::probe
