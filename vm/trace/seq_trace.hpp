// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>

#include "vm/process/trace_state.hpp"

/// Sequential tracing: a token travels with messages, so that the effects of one message can be
/// followed from process to process. Each process counts with a clock of its own. A token carries
/// the serial of the message it came with, and the one before. Probes show label and serials;
/// events go to the system tracer, if there is one. Called in the thread that runs the process
/// named first. Behaviour: docs/internals/tracing.md.
///
/// reset_trace does not visit processes. It begins a new generation; a token or counter of an older
/// generation does not count.
namespace vmrun {

/// Flags of a token.
inline constexpr Word kSeqSend = 1, kSeqReceive = 2, kSeqPrint = 4, kSeqNow = 8, kSeqStrictMonotonic = 16,
                      kSeqMonotonic = 32;
inline constexpr Word kSeqStamps = kSeqNow | kSeqStrictMonotonic | kSeqMonotonic;

/// Whether the process has a token. (A token of an older generation is dropped here.)
bool has_seq_token(Process& p);
/// Returns the token as a tuple, or nil.
Term seq_token_term(Process& p, Heap& heap);
/// Returns the token; makes it if necessary.
SeqToken& make_seq_token(Process& p);
void drop_seq_token(Process& p);
/// Sets clock and lastcnt, as set_token(serial, …) does.
void set_seq_counters(Process& p, SWord lastcnt, SWord clock);
void reset_seq_trace();

/// Counts as a send, but sends no event. Returns false without a token, or when the system tracer's
/// module does not want it.
bool advance_seq_token(Process& p);

/// Moves the counters for a send of `message` to `to`, and tells the system tracer.
void seq_trace_send(Process& p, Term to, Term message);
/// Does that for data sent to a port, which itself has no token. message: as the program has sent
/// it.
inline void seq_trace_port_send(Process& p, Term port, Term message) {
  if (p.observed & kHasToken) [[unlikely]]
    seq_trace_send(p, port, message);
}
/// Sends data to the tracer if the print flag is set. Returns false without a token.
bool seq_trace_print(Process& p, Term data);

/// Sets the system tracer. tracer: false, a local pid or port, or the name of a tracer module with
/// any term as `state`. Returns false for anything else.
bool set_seq_tracer(Term tracer, Term state);
/// Returns false, a pid, a port or {Module, State}.
Term seq_tracer(Heap& heap);

// ---- Tokens in messages -------------------------------------------------------------------------

/// Whether messages of p carry a token or tag.
inline constexpr std::uint32_t kSendsToken = kHasToken | kTagSpreading;
inline bool sends_token(const Process& p) { return p.observed & kSendsToken; }
/// Returns the room in a fragment for token and tag.
Word token_room_words(Process& p);
/// Copies token and spreading tag into the message; the counters have been moved before. Fires
/// copy-struct for each.
void attach_token(Process& p, Fragment& f);
/// For tokens that come from other nodes: whether a term is a token; its room; a copy into the
/// message.
bool is_seq_token(Term token);
Word token_copy_words(Term token);  // 0 for nil
void attach_token(Term token, Fragment& f);
/// p has received this message: sets token and tag as the rules say. The fragment's terms are about
/// to join p's heap.
void receive_token(Process& p, Fragment& f);

/// Whether events are delivered, so that making their terms is useful.
bool seq_tracer_listens();
/// The two messages that a spawn consists of, as the tracer sees them; non-values when there is no
/// tracer.
struct SpawnEvents {
  Term request, reply;
  bool reply_is_message = false;  // the parent counts it when it receives it (spawn_request)
};
/// Gives the token to a new child, as if a message had spawned it and it had answered with one.
/// Called before the child can run.
void inherit_seq_token(Process& parent, Process& child, const SpawnEvents& events);

/// Does that for a request that has come from another node with a token. Its arguments, which count
/// as a message, bring the token to the child. child: nullptr if it was not made, then `here`
/// answers. Returns the token of the answer.
Term take_seq_token(Process* child, Term here, Term parent, Term token, const SpawnEvents& events,
                    Term arguments, Heap& heap);

/// Label, previous and current serial as the message probes show them (PROBES A5, A7).
struct SeqArguments {
  int label = 0, previous = 0, current = 0;
  static SeqArguments of_message(const Fragment& f);
  static SeqArguments of_process(Process& p);
};

}  // namespace vmrun
