#pragma once

#include "vm/process/process.hpp"

/// Questions one process asks another, or a port, answered by the other in its own thread between
/// two slices: so they see a settled process and keep signal order. The asking BIF is suspended
/// meanwhile and called again (BifAction::kSuspend). Who is of lower priority than who asks answers
/// at the priority of that one (process/priority_boost.hpp).
namespace vmrun {

enum class RequestKind : unsigned {
  kIsAlive,
  kProcessInfo,
  kGarbageCollect,
  kSuspend,
  kResume,
  kTrace,
  kTraceInfo,
  kTellName,           // to who traces it: {register | unregister, Name}
  kRunsOldCode,        // argument: a module's name
  kControlConnection,  // its end will be that of connections (vm/dist)
  kGroupLeader,        // argument: the new one
  kSaveCalls,          // argument: how many; the answer: how many before
  kReclaim,            // see ask_for_part
  kForgetCalls,        // that nobody awaits the end of any more (trace/calls_under_way.hpp)
  kNothing             // done when its turn comes
};
/// What OTP calls a system task. Of several that wait those of higher priority are done first; of
/// those of normal and low priority, up to eight normal ones and then a low one.
constexpr bool is_task(RequestKind kind) {
  return kind == RequestKind::kGarbageCollect || kind == RequestKind::kRunsOldCode ||
         kind == RequestKind::kNothing;
}

/// For BIFs: asks on the first call, on later ones sees whether the answer is there. Returns the
/// answer, `if_dead` when the process is gone, or kNonValue (suspend_and_retry has been said).
/// Argument: an immediate or any term, copied.
Term ask(Process& p, Term target, RequestKind kind, Term argument, Term if_dead);
/// A question that is answered by the message {Tag, Id, Answer}; nothing waits. With the tag
/// `undefined` it is {Id, Answer}.
void ask_async(Process& p, Term target, RequestKind kind, Term argument, Term tag, Term id, Term if_dead);
/// The same at another priority than the caller's.
void ask_async(Process& p, std::uint8_t priority, Term target, RequestKind kind, Term argument, Term tag,
               Term id, Term if_dead);

// ---- The asking BIF's side, whoever answers. A BIF has one question at a time and comes back for
// its answer.

/// Whether the question of this BIF has been asked already: then only take_answer is left to do.
bool has_asked(const Process& p);
/// A number for a question that is about to be asked; cancel_question when that fails.
Word start_question(Process& p);
void cancel_question(Process& p);
/// The answer; or kNonValue: it is not there yet and suspend_and_retry has been said, or it is an
/// error, which has been raised.
Term take_answer(Process& p);

/// Answers question `id` of a process, with a value or with an error to be raised. Any scheduler.
void answer_question(Term asker, Word id, Term result, bool is_error = false);

/// p's part in giving memory back (code/reclaim.hpp): it calls take_part_in_reclaim between two
/// slices, or that is called with nullptr when it ends before. False, and nothing comes, when it
/// has ended already.
[[nodiscard]] bool ask_for_part(Process& p);

/// p is to do that between two slices; nobody waits for it. False: it has ended.
bool ask_to_forget_calls(Process& p);

/// The answering side (`request`: root of the signal): what is asked, and the answer to it. Any
/// scheduler.
RequestKind request_kind(Term request);
/// The asker's, or that it has asked at.
std::uint8_t request_priority(Term request);
Term request_argument(Term request);
void answer_request(Term request, Term result);
/// Who has asked for kSuspend and does not wait is told that `suspended` is (Suspending), before
/// the message that may be its answer.
void tell_suspended(Term request, Term suspended);
/// Answers for a process that is gone; `request` is the signal's root.
void answer_request_dead(Term request);
/// The reply signal, in the asker's thread. Takes the fragment over.
void take_reply(Process& p, Fragment* f);

}  // namespace vmrun
