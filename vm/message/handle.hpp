// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/heap/fragment.hpp"
#include "vm/process/process.hpp"

/// Handling: what a process does with the signals in its mailbox, in its own thread.
namespace vmrun {

/// Takes what has arrived: links messages to the inner queue and handles signals. May set
/// p.exit_pending, p.deferred_requests, p.resume_requested.
void handle_arrivals(Process& p);
/// As above, for callers that know that the probes of messages are not enabled.
void handle_arrivals_unobserved(Process& p);
/// As above, for fragments that have been taken already, oldest first.
void handle_these(Process& p, Fragment* f);
/// Puts a message that was deferred (deferred_decoding.hpp) and is now decoded into the inner
/// queue, unless it is to an alias that has ended.
void handle_late_message(Process& p, Fragment* f);
/// Answers a signal for a process that has ended. Destroys the fragment.
void answer_dead(Term dead, Fragment* f);

}  // namespace vmrun
