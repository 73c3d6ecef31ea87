#include "vm/process/send.hpp"

#include "probes/probes.hpp"
#include "vm/bif.hpp"
#include "vm/heap/copy.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/signal.hpp"
#include "vm/process/table.hpp"
#include "vm/term/print.hpp"

namespace vmrun {
namespace {

/// A copy of the message as its own fragment. `to_self`: within one process nothing is announced as copied.
Fragment* message_fragment(Term message, bool to_self) {
  if (message.is_immed()) {
    Fragment* f = new_fragment(0);
    f->message = message;
    return f;
  }
  const Word words = copy_size_words(message);
  Fragment* f = new_fragment(words);
  if (to_self) {
    Term* hp = f->words;
    f->message = copy_term(message, hp, f->off_heap);
    f->used_words = static_cast<std::uint32_t>(hp - f->words);
  } else {
    f->message = copy_into(*f, message);
  }
  return f;
}

void fire_send(Process& from, Term to, Term message) {
  probe::message_send(PidText(from.id), PidText(to), static_cast<std::uint32_t>(size_words(message)), 0, 0, 0);
}

void send_to_process(Process& from, Process& to, Term message) {
  const bool to_self = &from == &to;
  Fragment* f = message_fragment(message, to_self);
  bump_reductions(from, 1 + (f->used_words >> 4));
  if (probe::message_send_enabled()) [[unlikely]] fire_send(from, to.id, message);
  push_message(to, f, to_self);
}

/// To an alias: whether it is still one only its owner knows.
void send_to_alias(Process& from, Term alias, Term message) {
  Process* to = process_table.find(ref_of(alias)->owner);
  if (!to) return;
  Fragment* f = new_signal(SignalKind::kAliasMessage, 3 + kAliasRefWords + copy_size_words(message));
  const Term copy = copy_into(*f, message);
  Term* hp = f->words + f->used_words;
  const Term ref = make_alias_ref(hp, ref_key(alias), to->id);
  f->message = make_tuple(hp, ref, copy);
  f->used_words = static_cast<std::uint32_t>(hp - f->words);
  bump_reductions(from, 1 + (f->used_words >> 4));
  if (probe::message_send_enabled()) [[unlikely]] fire_send(from, to->id, message);
  if (!push_signal(*to, f)) Fragment::destroy(f);
}

}  // namespace

bool send_message(Process& from, Term to, Term message) {
  if (to.is_local_pid()) [[likely]] {
    if (Process* q = process_table.find(to)) send_to_process(from, *q, message);
    return true;
  }
  if (to.is_tuple() && to.tuple_arity() == 2 && to.element(0).is_atom() && to.element(1) == atoms::nonode_at_nohost) {
    // {Name, Node}: unlike a plain name, an unknown one is no error.
    if (const Term pid = whereis(to.element(0)))
      if (Process* q = process_table.find(pid)) send_to_process(from, *q, message);
    return true;
  }
  if (to.is_atom()) {
    const Term pid = whereis(to);
    if (!pid) {
      raise_badarg(from);
      return false;
    }
    if (Process* q = process_table.find(pid)) send_to_process(from, *q, message);
    return true;
  }
  if (to.is_local_ref()) {
    if (ref_of(to)->is_alias()) send_to_alias(from, to, message);
    return true;
  }
  if (to.is_ref() || to.is_pid()) return true;  // of another node: not connected
  if (to.is_tuple() && to.tuple_arity() == 2 && to.element(0).is_atom() && to.element(1).is_atom()) return true;  // likewise
  raise_badarg(from);
  return false;
}

bool send_from_vm(Term pid, Fragment* f) {
  f->from_vm = 1;
  Process* q = process_table.find(pid);
  if (q) return push_message(*q, f, false);
  Fragment::destroy(f);
  return false;
}

}  // namespace vmrun
