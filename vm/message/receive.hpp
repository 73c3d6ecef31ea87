#pragma once

#include "vm/process/process.hpp"

/// What the receive instructions do. Called by the interpreter in the process's own thread, with
/// top/stop/reductions stored back to the process and reloaded after (signals handled on the way
/// collect nothing but may append to the heap's fragments, and may set reductions to 0).
namespace vmrun {

enum class Peek { kMessage, kEmpty, kExiting };

/// loop_rec while there is something at the save position, which is all that a long mailbox costs:
/// false when not, then receive_peek looks further.
inline bool receive_peek_quickly(Process& p, Term* message) {
  const Fragment* f = *p.mailbox.save;
  if (!f) return false;
  p.message_peeked = f->used_words != 0;
  *message = f->message;
  return true;
}
/// loop_rec: the message at the save position; fetches from the outer queue and handles the signals
/// there when the inner one is used up. kExiting: an exit signal ended the process: call
/// exit_process(p, p.exit_reason, false) and return kExited.
Peek receive_peek(Process& p, Term* message);
/// loop_rec_end: steps over the message just looked at.
inline void receive_next(Process& p) {
  p.message_peeked = false;
  p.mailbox.save = &(*p.mailbox.save)->next;
}
/// remove_message: takes the message at the save position out, adopts its fragment, updates the
/// token, fires message_receive, resets the save position, cancels the receive timer.
void receive_remove(Process& p);
/// timeout instruction: the save position returns to the front.
void receive_timeout(Process& p);

/// wait_timeout, reached with the mailbox looked through, or in a receive without clauses. The
/// first time for this receive it starts the timer. `timeout` is any term: 0 ≤ integer < 2^32 or
/// the atom infinity. kExpired: time is up: go on to the timeout instruction. kWait: save p.ip =
/// the loop_rec label and return RunResult::kWaiting; the process is resumed for a message as well
/// as for the timer, in both cases at loop_rec, and comes back here when no message matches. kBad:
/// raise the error timeout_value; the save position is back at the front.
enum class TimeoutState { kWait, kExpired, kBad };
TimeoutState receive_start_timer(Process& p, Term timeout);

/// A wait that leads to itself, of a receive without clauses: no message is a reason to go on.
inline void receive_look_at_nothing(Process& p) { p.mailbox.save = p.mailbox.last; }

/// A collection while a message is being looked at would move terms that still belong to the
/// mailbox's fragment. So collect() calls this first when p.message_peeked: the fragment's words
/// join p's heap and the queue keeps a node whose root is visited like any other.
void receive_pin_peeked(Process& p);
/// The same for the message that a link of the inner queue leads to: from here on a collection
/// moves its terms.
void pin_message(Process& p, Fragment** link);

/// Receive markers (recv_marker_*): remember the end of the mailbox now, bind to a reference, start
/// a scan there.
Term receive_marker_reserve(Process& p);
void receive_marker_bind(Process& p, Term marker, Term ref);
void receive_marker_clear(Process& p, Term ref);
void receive_marker_use(Process& p, Term ref);

}  // namespace vmrun
