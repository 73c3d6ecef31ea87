// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// Requests that one process makes to another, or to a port. The other process answers in its own
/// thread between two slices, so the asker sees a consistent state, and signal order is kept. The
/// asking BIF is suspended meanwhile and called again (BifAction::kSuspend). A process of lower
/// priority than the asker answers at the asker's priority (process/priority_boost.hpp).
namespace vmrun {

enum class RequestKind : unsigned {
  kIsAlive,
  kProcessInfo,
  kGarbageCollect,
  kSuspend,
  kResume,
  kTrace,
  kTraceInfo,
  kTellName,           // to its tracer: {register | unregister, Name}
  kRunsOldCode,        // argument: a module's name
  kControlConnection,  // its end will be the end of connections (vm/dist)
  kGroupLeader,        // argument: the new one
  kInspect,            // argument: see lifecycle/inspect.hpp
  kSaveCalls,          // argument: how many; the answer is the number before
  kReclaim,            // see ask_for_part
  kForgetTracing,      // what watches and trace sessions that have ended have left behind
  kNothing             // answered in its turn
};
/// Whether the request is what OTP calls a system task. Waiting tasks of higher priority are done
/// first. Among those of normal and low priority, up to eight normal ones are done before each low
/// one.
constexpr bool is_task(RequestKind kind) {
  return kind == RequestKind::kGarbageCollect || kind == RequestKind::kRunsOldCode ||
         kind == RequestKind::kNothing;
}

/// For BIFs: sends the request on the first call, and on later ones checks whether the answer has
/// come. Returns the answer, `if_dead` when the process is gone, or kNonValue (suspend_and_retry
/// has been called). The argument is any term and is copied.
Term ask(Process& p, Term target, RequestKind kind, Term argument, Term if_dead);
/// Sends a request that is answered by the message {Tag, Id, Answer}; the caller does not wait.
/// With the tag `undefined` the message is {Id, Answer}.
void ask_async(Process& p, Term target, RequestKind kind, Term argument, Term tag, Term id, Term if_dead);
/// As above, at a priority other than the caller's.
void ask_async(Process& p, std::uint8_t priority, Term target, RequestKind kind, Term argument, Term tag,
               Term id, Term if_dead);

// ---- The side of the asking BIF -----------------------------------------------------------------
// A BIF has one request at a time and is called again for its answer.

/// Whether this BIF has sent its request already. Then only take_answer is left to do.
bool has_asked(const Process& p);
/// Returns a number for a request that is about to be sent. cancel_question is called when sending
/// fails.
Word start_question(Process& p);
void cancel_question(Process& p);
/// Returns the answer. Returns kNonValue when it is not there yet (suspend_and_retry has been
/// called), or when it is an error, which has been raised.
Term take_answer(Process& p);

/// Answers request `id` of a process, with a value or with an error to be raised. Any scheduler.
void answer_question(Term asker, Word id, Term result, bool is_error = false);

/// Asks p to do its part in freeing memory (code/reclaim.hpp): p calls take_part_in_reclaim between
/// two slices, or that is called with nullptr if p ends before. Returns false, without any call to
/// follow, when p has ended already.
[[nodiscard]] bool ask_for_part(Process& p);

/// Asks p to drop, between two slices, the calls whose end is not awaited any more
/// (trace/calls_under_way.hpp) and its part of trace sessions that have ended. The caller does not
/// wait. Returns false when p has ended.
bool ask_to_forget_tracing(Process& p);

/// The answering side. `request` is the root of the signal: what is asked, and how to answer it.
/// Any scheduler.
RequestKind request_kind(Term request);
/// The priority of the asker, or the one given with the request.
std::uint8_t request_priority(Term request);
Term request_argument(Term request);
void answer_request(Term request, Term result);
/// Reports to an asker of kSuspend that does not wait that `suspended` is suspended (Suspending),
/// before the message that may be its answer.
void tell_suspended(Term request, Term suspended);
/// Answers for a process that is gone. `request` is the signal's root.
void answer_request_dead(Term request);
/// Handles the reply signal, in the asker's thread. Takes the fragment over.
void take_reply(Process& p, Fragment* f);

}  // namespace vmrun
