// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"
#include "vm/process/reference.hpp"

/// What the receive instructions do. The interpreter calls these functions in the process's own
/// thread. top, stop and reductions are stored back to the process before and reloaded afterwards.
/// Signals that are handled meanwhile do not collect, but may append fragments to the heap and set
/// reductions to 0.
namespace vmrun {

enum class Peek { kMessage, kEmpty, kExiting };

/// loop_rec while there is a message at the save position, which is the common case in a long
/// mailbox. Returns false when there is none; then receive_peek continues.
inline bool receive_peek_quickly(Process& p, Term* message) {
  const Fragment* f = *p.mailbox.save;
  if (!f) return false;
  p.peeked = f->used_words + 1;
  *message = f->message;
  return true;
}
/// loop_rec: returns the message at the save position. When the inner queue is used up, takes what
/// is in the outer queue and handles the signals there. kExiting: an exit signal ended the process.
/// The caller calls exit_process(p, p.exit_reason, false) and returns kExited.
Peek receive_peek(Process& p, Term* message);
/// loop_rec_end: steps over the message that was just tested.
inline void receive_next(Process& p) {
  p.peeked = 0;
  p.mailbox.save = &(*p.mailbox.save)->next;
}
/// remove_message: takes the message at the save position out, adopts its fragment, updates the
/// token, fires message_receive, resets the save position, and cancels the receive timer.
void receive_remove(Process& p);
/// timeout instruction: moves the save position back to the front.
void receive_timeout(Process& p);

/// wait_timeout, reached when all messages have been tested, or in a receive without clauses. The
/// first call for this receive starts the timer. `timeout` is any term: valid are 0 ≤ integer <
/// 2^32 and the atom infinity. kExpired: time is up, and the caller goes on to the timeout
/// instruction. kWait: the caller saves p.ip = the loop_rec label and returns RunResult::kWaiting.
/// A message as well as the timer resumes the process at loop_rec, and it comes back here when no
/// message matches. kBad: the caller raises the error timeout_value; the save position is back at
/// the front.
enum class TimeoutState { kWait, kExpired, kBad };
TimeoutState receive_start_timer(Process& p, Term timeout);

/// The wait of a receive without clauses, which jumps to itself: no message can end it.
inline void receive_look_at_nothing(Process& p) { p.mailbox.save = p.mailbox.last; }

/// A collection while a message is being tested would move terms that still belong to the mailbox's
/// fragment. So collect() calls this first when p.peeked says so: the fragment's words join p's
/// heap, and the queue keeps a node whose root is visited like any other.
void receive_pin_peeked(Process& p);
/// As above, for the message that a link of the inner queue leads to. From here on a collection
/// moves its terms.
void pin_message(Process& p, Fragment** link);

/// Receive markers (recv_marker_*): remember the end of the mailbox now, bind it to a reference,
/// start a scan there.
Term receive_marker_reserve(Process& p);
void receive_marker_bind(Process& p, Term marker, Term ref);
void receive_marker_clear(Process& p, Term ref);
void receive_marker_use(Process& p, Term ref);
/// Takes a {_, Ref, _, _, _} out of the mailbox. Returns false when there is none.
bool flush_down_message(Process& p, RefKey key);

}  // namespace vmrun
