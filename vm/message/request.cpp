// SPDX-License-Identifier: Apache-2.0
#include "vm/message/request.hpp"

#include "vm/heap/copy.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/send.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/core.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/print.hpp"

/// The signal's root is {From, Id, Kind and priority, Argument, Tag, MessageId, IfDead}.
///
/// Id is a small integer when From is suspended until the answer, and 0 when no process waits. With
/// 0, {Tag, MessageId, Answer} is sent as a message unless Tag is []. The tag `suspended` stands
/// for suspend_process's message {MessageId, suspended | exited}, and the tag `undefined` for
/// {MessageId, Answer}. A reply {Pid, true} reports that the process is suspended now.
namespace vmrun {
namespace {

enum Field { kFrom, kId, kKind, kArgument, kTag, kMessageId, kIfDead, kFields };

constexpr int kPriorityBit = 8;  // in the small that holds the kind

Term kind_and_priority(RequestKind kind, std::uint8_t priority) {
  return Term::small(static_cast<SWord>(kind) | static_cast<SWord>(priority) << kPriorityBit);
}

Fragment* make_request(Process& from, Word id, RequestKind kind, std::uint8_t priority, Term argument,
                       Term tag, Term message_id, Term if_dead) {
  Fragment* f =
      new_signal(SignalKind::kRequest, 1 + kFields + copy_size_words(argument) + copy_size_words(message_id));
  const Term argument_copy = copy_into(*f, argument), id_copy = copy_into(*f, message_id);
  Term* hp = fragment_alloc(*f, 1 + kFields);
  f->message = make_tuple(hp, from.id, Term::small(static_cast<SWord>(id)), kind_and_priority(kind, priority),
                          argument_copy, tag, id_copy, if_dead);
  return f;
}

}  // namespace

bool has_asked(const Process& p) { return p.extra && p.extra->request_id; }
Word start_question(Process& p) {
  Extra& extra = extra_of(p);
  return extra.request_id = ++extra.requests_made;
}
void cancel_question(Process& p) { p.extra->request_id = 0; }

Term take_answer(Process& p) {
  Extra& extra = *p.extra;
  if (!extra.reply) return suspend_and_retry(p);
  Fragment* f = extra.reply;
  extra.reply = nullptr;
  extra.request_id = 0;
  const Term result = f->message.element(1);
  const bool is_error = f->message.tuple_arity() == 3;
  if (result.is_immed()) Fragment::destroy(f);
  else p.heap.adopt(f);
  return is_error ? raise_error(p, result) : result;
}

void answer_question(Term asker, Word id, Term result, bool is_error) {
  Fragment* f = new_signal(SignalKind::kReply, 4 + copy_size_words(result));
  const Term copy = copy_into(*f, result), number = Term::small(static_cast<SWord>(id));
  Term* hp = fragment_alloc(*f, is_error ? 4 : 3);
  f->message = is_error ? make_tuple(hp, number, copy, atoms::error) : make_tuple(hp, number, copy);
  Core* s = this_core();
  if (s && s->current && s->current->id == asker) return take_reply(*s->current, f);  // to itself
  Process* q = process_table.find(asker);
  if (!q || !push_signal(*q, f)) Fragment::destroy(f);
}

Term ask(Process& p, Term target, RequestKind kind, Term argument, Term if_dead) {
  Extra& extra = extra_of(p);
  if (extra.request_id == 0) {
    Receiver& receiver = receiver_of(target);
    if (!receiver.is_there(target)) return if_dead;
    Fragment* f =
        make_request(p, start_question(p), kind, p.priority, argument, Term::nil(), Term::nil(), if_dead);
    if (receiver.ask(target, f, p.priority) != Reached::kYes) {
      Fragment::destroy(f);
      cancel_question(p);
      return if_dead;
    }
  }
  return take_answer(p);
}

void ask_async(Process& p, Term target, RequestKind kind, Term argument, Term tag, Term id, Term if_dead) {
  ask_async(p, p.priority, target, kind, argument, tag, id, if_dead);
}
void ask_async(Process& p, std::uint8_t priority, Term target, RequestKind kind, Term argument, Term tag,
               Term id, Term if_dead) {
  Fragment* f = make_request(p, 0, kind, priority, argument, tag, id, if_dead);
  if (receiver_of(target).ask(target, f, priority) == Reached::kYes) return;
  answer_request_dead(f->message);
  Fragment::destroy(f);
}

void answer_request(Term request, Term result) {
  const Term* e = request.tuple_elements();
  if (e[kId] != Term::small(0)) {
    // The copy that follows goes to a known process, and not as a message.
    if (probe::copy_object_enabled() && !result.is_immed()) [[unlikely]]
      probe::fire_copy_object(e[kFrom], size_words(result));
    answer_question(e[kFrom], static_cast<Word>(e[kId].small_value()), result);
  } else if (!e[kTag].is_nil()) {
    Fragment* f = new_fragment(4 + copy_size_words(result) + copy_size_words(e[kMessageId]));
    const Term copy = copy_into(*f, result), id = copy_into(*f, e[kMessageId]);
    const Term tag = e[kTag];
    if (tag == atoms::suspended || tag == atoms::undefined) {
      const Term answer = tag == atoms::undefined ? copy : copy == atoms::true_ ? tag : atoms::exited;
      Term* hp = fragment_alloc(*f, 3);
      f->message = make_tuple(hp, id, answer);
    } else {
      Term* hp = fragment_alloc(*f, 4);
      f->message = make_tuple(hp, tag, id, copy);
    }
    send_from_vm(e[kFrom], f);
  }
}

void tell_suspended(Term request, Term suspended) {
  const Term* e = request.tuple_elements();
  if (e[kId] != Term::small(0)) return;
  Process* const asker = process_table.find(e[kFrom]);
  if (!asker) return;
  Fragment* f = new_signal(SignalKind::kReply, 3);
  Term* hp = fragment_alloc(*f, 3);
  f->message = make_tuple(hp, suspended, atoms::true_);
  if (!push_signal(*asker, f)) Fragment::destroy(f);
}

void answer_request_dead(Term request) {
  if (request_kind(request) == RequestKind::kReclaim)
    return (void)process_upcalls.take_part_in_reclaim(nullptr);
  answer_request(request, request.element(kIfDead));
}

namespace {

/// Sends a request whose answer no process waits for.
bool ask_of_vm(Process& p, RequestKind kind) {
  Fragment* f = new_signal(SignalKind::kRequest, 1 + kFields);
  Term* hp = fragment_alloc(*f, 1 + kFields);
  const Term none = Term::nil();
  f->message = make_tuple(hp, none, Term::small(0), kind_and_priority(kind, 0), none, none, none, none);
  if (push_signal(p, f)) return true;
  Fragment::destroy(f);
  return false;
}

}  // namespace

bool ask_for_part(Process& p) { return ask_of_vm(p, RequestKind::kReclaim); }
bool ask_to_forget_tracing(Process& p) { return ask_of_vm(p, RequestKind::kForgetTracing); }

RequestKind request_kind(Term request) {
  return static_cast<RequestKind>(request.element(kKind).small_value() & ((1 << kPriorityBit) - 1));
}
std::uint8_t request_priority(Term request) {
  return static_cast<std::uint8_t>(request.element(kKind).small_value() >> kPriorityBit);
}
Term request_argument(Term request) { return request.element(kArgument); }

void take_reply(Process& p, Fragment* f) {
  Extra* extra = p.extra;
  if (const Term who = f->message.element(0); who.is_pid()) {
    if (Suspending* suspending = extra ? extra->suspending.find(who) : nullptr) suspending->is_active = true;
    return Fragment::destroy(f);
  }
  if (!extra || extra->request_id == 0 || extra->reply ||
      f->message.element(0) != Term::small(static_cast<SWord>(extra->request_id)))
    return Fragment::destroy(f);
  extra->reply = f;
  p.resume_requested = true;
}

}  // namespace vmrun
