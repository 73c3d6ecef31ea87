#pragma once

#include <climits>

#include "vm/process/trace_state.hpp"

/// Sequential tracing: a token that travels with messages, so that what one message causes can be
/// followed from process to process. Each process counts with a clock of its own; a token carries
/// the serial of the message it came with and the one before. Probes show label and serials; events
/// go to the system tracer, if there is one. Called in the thread of the process named first.
/// Behaviour: docs/internals/tracing.md.
///
/// reset_trace does not visit processes: it begins a new generation, and a token or counter of an
/// older one is as good as none.
namespace vmrun {

/// Flags of a token.
inline constexpr Word kSeqSend = 1, kSeqReceive = 2, kSeqPrint = 4, kSeqNow = 8, kSeqStrictMonotonic = 16,
                      kSeqMonotonic = 32;
inline constexpr Word kSeqStamps = kSeqNow | kSeqStrictMonotonic | kSeqMonotonic;

/// The process has a token. (One of an older generation is dropped on the way.)
bool has_seq_token(Process& p);
/// The token as a tuple, or nil.
Term seq_token_term(Process& p, Heap& heap);
/// The token, made if need be.
SeqToken& make_seq_token(Process& p);
void drop_seq_token(Process& p);
/// clock and lastcnt as of set_token(serial, …).
void set_seq_counters(Process& p, SWord lastcnt, SWord clock);
void reset_seq_trace();

/// Counts as a send; without the event. False without a token, or when the system tracer's module
/// does not want it.
bool advance_seq_token(Process& p);

/// Moves the counters for a send of `message` to `to`, tells the system tracer.
void seq_trace_send(Process& p, Term to, Term message);
/// The same for data sent to a port, which itself has no token: `message` as the program sent it.
inline void seq_trace_port_send(Process& p, Term port, Term message) {
  if (p.observed & kHasToken) [[unlikely]]
    seq_trace_send(p, port, message);
}
/// Data to the tracer if the print flag is set. False without a token.
bool seq_trace_print(Process& p, Term data);

/// Who gets the events. tracer: false, a local pid or port, or the name of a tracer module with
/// `state` any term. Returns false for anything else.
bool set_seq_tracer(Term tracer, Term state);
/// false, a pid, a port or {Module, State}.
Term seq_tracer(Heap& heap);

// ---- Along with messages ------------------------------------------------------------------------

/// Whether messages of p take something along.
inline constexpr std::uint32_t kSendsToken = kHasToken | kTagSpreading;
inline bool sends_token(const Process& p) { return p.observed & kSendsToken; }
/// Room in a fragment for what goes along.
Word token_room_words(Process& p);
/// Copies token and spreading tag into the message; the counters have been moved. Fires copy-struct
/// for each.
void attach_token(Process& p, Fragment& f);
/// Of tokens that come from other nodes: whether it is one; its room; a copy into the message.
bool is_seq_token(Term token);
Word token_copy_words(Term token);  // 0 for nil
void attach_token(Term token, Fragment& f);
/// p has received this message: token and tag become what the rules say. The fragment's terms are
/// about to join p's heap.
void receive_token(Process& p, Fragment& f);

/// Whether events go anywhere, so that making what they show is worth while.
bool seq_tracer_listens();
/// The two messages a spawn consists of, as the tracer sees them; non-values when nobody listens.
struct SpawnEvents {
  Term request, reply;
  bool reply_is_message = false;  // the parent counts it when it receives it (spawn_request)
};
/// The token goes to a new child as if it had been spawned by a message and had answered by one.
/// Before the child can run.
void inherit_seq_token(Process& parent, Process& child, const SpawnEvents& told);

/// The same of a request that has come from another node with a token: its arguments, a message of
/// its own, bring it to the child. child: nullptr if there is none, then `here` answers. The token
/// of the answer.
Term take_seq_token(Process* child, Term here, Term parent, Term token, const SpawnEvents& told,
                    Term arguments, Heap& heap);

/// Label, previous and current serial as the message probes show them (PROBES A5, A7).
struct SeqArguments {
  int label = 0, previous = 0, current = 0;
  static SeqArguments of_message(const Fragment& f);
  static SeqArguments of_process(Process& p);
};

}  // namespace vmrun
