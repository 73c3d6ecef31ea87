// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"

/// Priority messages (OTP 28): messages that a process puts in front of all ordinary ones, behind
/// those of priority that are there already. Which ones these are, the receiver alone knows: it has
/// made a priority alias, or a link or monitor with the option. Used by the process's own thread.
namespace vmrun {

void mark_priority_alias(Process& p, RefKey key);
void mark_priority_monitor(Process& p, RefKey key);
/// wanted: link/2 with the option sets the mark, every other link of this process removes it.
void mark_priority_link(Process& p, Term other, bool wanted);

/// The thing has gone, or is used up. Returns whether it was marked.
bool unmark_priority_alias(Process& p, RefKey key);
bool unmark_priority_monitor(Process& p, RefKey key);
bool unmark_priority_link(Process& p, Term other);
inline bool is_priority_alias(const Process& p, RefKey key) {
  return p.extra && p.extra->priority && p.extra->priority->aliases.find(key);
}

/// Whether the process may get priority messages.
inline bool receives_priority_messages(const Process& p) {
  return p.extra && p.extra->priority && !p.extra->priority->empty();
}

/// Puts a message in front of the ordinary ones, as append_own_message puts it behind them.
void insert_own_message(Process& p, Fragment* f, bool announce = true);

/// The receive under way tests the priority messages from `since` on, then goes on at the save
/// position, which is behind all of them.
[[gnu::cold]] void receive_priority_first(Process& p, Fragment** since);
/// At the end of the queue: sets the save position to where the receive goes on, which is the
/// queue's front if a priority message went in front of a message that was being tested. Returns
/// false when all has been tested.
[[gnu::cold]] bool receive_goes_on(Process& p);
/// The receive under way ends, before the save position goes back to the front.
inline void receive_ends(Process& p) {
  if (!p.extra || !p.extra->priority) return;
  p.extra->priority->join();
  p.extra->priority->all_tested = false;
}

}  // namespace vmrun
