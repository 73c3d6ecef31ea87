#pragma once

#include "vm/process/process.hpp"

/// What the receive instructions do. Called by the interpreter in the process's own thread, with top/stop/reductions stored back
/// to the process (signals handled on the way may allocate and collect nothing but may append to the heap's fragments).
namespace vmrun {

enum class Peek { kMessage, kEmpty, kExiting };

/// loop_rec: the message at the save position; fetches from the outer queue and handles the signals there when the inner one is used up.
/// kExiting: an exit signal ended the process (exception set as for exit/1; the interpreter goes to its exit path).
Peek receive_peek(Process& p, Term* message);
/// loop_rec_end: steps over the message just looked at.
void receive_next(Process& p);
/// remove_message: takes the message at the save position out, adopts its fragment, updates the token, fires message_receive,
/// resets the save position, cancels the receive timer.
void receive_remove(Process& p);
/// timeout instruction: the save position returns to the front.
void receive_timeout(Process& p);

/// wait_timeout: starts (first time for this receive) the timer. `timeout` is any term: 0 ≤ integer < 2^32 or the atom infinity.
/// kExpired: it ran out already (or is 0) and execution goes on; kWait: give up the core; kBad: timeout_value error.
enum class TimeoutState { kWait, kExpired, kBad };
TimeoutState receive_start_timer(Process& p, Term timeout);

/// Receive markers (recv_marker_*): remember the end of the mailbox now, bind to a reference, start a scan there.
Term receive_marker_reserve(Process& p);
void receive_marker_bind(Process& p, Term marker, Term ref);
void receive_marker_clear(Process& p, Term ref);
void receive_marker_use(Process& p, Term ref);

}  // namespace vmrun
