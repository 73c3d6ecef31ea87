#include "vm/process/request.hpp"

#include "vm/bif.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/gc.hpp"
#include "vm/process/info.hpp"
#include "vm/process/send.hpp"
#include "vm/process/signal.hpp"
#include "vm/process/table.hpp"
#include "vm/sched/scheduler.hpp"

/// The signal's root is {From, Id, Kind, Argument, Tag, MessageId, IfDead}. Id is a small integer when From is suspended for the answer; 0 when nobody waits: then
/// {Tag, MessageId, Answer} is sent as a message unless Tag is []; the tag `suspended` stands for suspend_process's {MessageId, suspended | exited}.
namespace vmrun {
namespace {

enum Field { kFrom, kId, kKind, kArgument, kTag, kMessageId, kIfDead, kFields };

Fragment* make_request(Process& from, Word id, RequestKind kind, Term argument, Term tag, Term message_id, Term if_dead) {
  Fragment* f = new_signal(SignalKind::kRequest, 1 + kFields + copy_size_words(argument) + copy_size_words(message_id));
  const Term argument_copy = copy_into(*f, argument), id_copy = copy_into(*f, message_id);
  Term* hp = fragment_alloc(*f, 1 + kFields);
  f->message = make_tuple(hp, from.id, Term::small(static_cast<SWord>(id)), Term::small(static_cast<SWord>(kind)), argument_copy, tag, id_copy, if_dead);
  return f;
}

void answer(Term request, Term result) {
  const Term* e = request.tuple_elements();
  if (e[kId] != Term::small(0)) {
    Fragment* f = new_signal(SignalKind::kReply, 3 + copy_size_words(result));
    const Term copy = copy_into(*f, result);
    Term* hp = fragment_alloc(*f, 3);
    f->message = make_tuple(hp, e[kId], copy);
    Scheduler* s = this_scheduler();
    if (s && s->current && s->current->id == e[kFrom]) return take_reply(*s->current, f);  // it asked itself
    Process* asker = process_table.find(e[kFrom]);
    if (!asker || !push_signal(*asker, f)) Fragment::destroy(f);
  } else if (!e[kTag].is_nil()) {
    Fragment* f = new_fragment(4 + copy_size_words(result) + copy_size_words(e[kMessageId]));
    const Term copy = copy_into(*f, result), id = copy_into(*f, e[kMessageId]);
    if (e[kTag] == atoms::suspended) {
      Term* hp = fragment_alloc(*f, 3);
      f->message = make_tuple(hp, id, copy == atoms::true_ ? atoms::suspended : atoms::exited);
    } else {
      Term* hp = fragment_alloc(*f, 4);
      f->message = make_tuple(hp, e[kTag], id, copy);
    }
    send_from_vm(e[kFrom], f);
  }
}

void collect_for(Process& p, Term how) {
  const int cost = how == atoms::minor ? collect(p, 0, p.saved_regs, p.live_saved) : collect_major(p, 0, p.saved_regs, p.live_saved);
  if (cost >= 0) return;
  p.exit_pending = true;
  p.exit_reason = atoms::killed;
}

void answer_one(Process& p, Term request) {
  const Term* e = request.tuple_elements();
  Arena arena;
  switch (static_cast<RequestKind>(e[kKind].small_value())) {
    case RequestKind::kIsAlive:
      return answer(request, atoms::true_);
    case RequestKind::kProcessInfo:
      return answer(request, process_info(p, e[kArgument], arena, false));
    case RequestKind::kGarbageCollect:
      collect_for(p, e[kArgument]);
      return answer(request, atoms::true_);
    case RequestKind::kSuspend:
      ++p.suspend_count;
      return answer(request, atoms::true_);
    case RequestKind::kResume:
      if (p.suspend_count) --p.suspend_count;
      return answer(request, atoms::true_);
  }
}

}  // namespace

Term ask(Process& p, Term target, RequestKind kind, Term argument, Term if_dead) {
  Extra& extra = extra_of(p);
  if (extra.request_id == 0) {
    Process* q = process_table.find(target);
    if (!q) return if_dead;
    extra.request_id = ++extra.requests_made;
    Fragment* f = make_request(p, extra.request_id, kind, argument, Term::nil(), Term::nil(), if_dead);
    if (!push_signal(*q, f)) {
      Fragment::destroy(f);
      extra.request_id = 0;
      return if_dead;
    }
    return suspend_and_retry(p);
  }
  if (!extra.reply) return suspend_and_retry(p);
  Fragment* f = extra.reply;
  extra.reply = nullptr;
  extra.request_id = 0;
  const Term result = f->message.element(1);
  p.heap.adopt(f);
  return result;
}

void ask_async(Process& p, Term target, RequestKind kind, Term argument, Term tag, Term id, Term if_dead) {
  send_signal(target, make_request(p, 0, kind, argument, tag, id, if_dead));
}

void answer_deferred(Process& p) {
  p.deferred_requests = false;
  std::vector<Fragment*> requests;
  requests.swap(p.extra->deferred);
  for (Fragment* f : requests) {
    if (p.exit_pending) answer_request_dead(f->message);
    else answer_one(p, f->message);
    Fragment::destroy(f);
  }
}

void answer_request_dead(Term request) { answer(request, request.element(kIfDead)); }

void take_reply(Process& p, Fragment* f) {
  Extra* extra = p.extra;
  if (!extra || extra->request_id == 0 || extra->reply || f->message.element(0) != Term::small(static_cast<SWord>(extra->request_id)))
    return Fragment::destroy(f);
  extra->reply = f;
  p.resume_requested = true;
}

}  // namespace vmrun
