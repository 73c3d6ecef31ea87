// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"

/// What tracing keeps for one process: a sequential-trace token (seq_trace.hpp), a user tag of
/// dyntrace, the tracers, and calls that are traced. Owned by the process, allocated on first use,
/// and used by its own thread only. A process without any of this pays one test of
/// Process::observed when it sends, and when it receives a message without a token. Behaviour:
/// docs/internals/tracing.md.
///
/// Token and tag travel with messages, in Fragment::token: the token is a tuple {Flags, Label,
/// Serial, From, Lastcnt}, the tag a binary, and both together are [Token | Tag]. A message that
/// probes have reported has a number there (message_id), alone or in front: [Number | TokenOrTag].
namespace vmrun {

/// The last two bits in the numbering of dt_spread_tag/1.
inline constexpr Word kTagFlagOwn = 1, kTagFlagSpreading = 2;

inline constexpr Word kTokenWords = 6;

/// The parts of a token, label and sender as terms.
struct SeqToken {
  Word flags = 0;
  Term label = Term::small(0);
  SWord serial = 0;
  Term from = Term::nil();
  SWord lastcnt = 0;
};

struct TraceState {
  SeqToken token;                      // with kHasToken
  SWord clock = 0, lastcnt = 0;        // stay when the token goes
  Word generation = 0;                 // of the token and the counters: see seq_trace.hpp
  Term tag = Term::nil();              // with kHasTag: a binary
  bool tag_is_own = false;             // set by the process itself, not borrowed
  class Tracings* tracings = nullptr;  // the sessions that trace the process (trace/trace_session.hpp)
  struct AwaitedReturns* awaited_returns = nullptr;  // of traced calls (call_trace.hpp)
  struct SavedCalls* saved_calls = nullptr;          // the latest ones (saved_calls.hpp)
  class CallsUnderWay* calls = nullptr;              // of watched functions (calls_under_way.hpp)
  ~TraceState();
};

inline TraceState& trace_state_of(Process& p) {
  Extra& extra = extra_of(p);
  if (!extra.trace_state) extra.trace_state = new TraceState;
  return *extra.trace_state;
}

// ---- User tags ----------------------------------------------------------------------------------

/// Returns the tag, own or borrowed; nil if there is no tag.
inline Term user_tag(const Process& p) {
  return p.observed & kHasTag ? p.extra->trace_state->tag : Term::nil();
}
inline bool has_own_tag(const Process& p) { return p.observed & kHasTag && p.extra->trace_state->tag_is_own; }
inline Term own_tag(const Process& p) { return has_own_tag(p) ? p.extra->trace_state->tag : Term::nil(); }
inline Word tag_flags(const Process& p) {
  return (has_own_tag(p) ? kTagFlagOwn : 0) | (p.observed & kTagSpreading ? kTagFlagSpreading : 0);
}
/// tag is a binary, or nil for no tag (then the flags are off).
void set_user_tag(Process& p, Term tag, Word flags);

}  // namespace vmrun
