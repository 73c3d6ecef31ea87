// SPDX-License-Identifier: Apache-2.0
#include "vm/message/spawn_answer.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/abandoned_spawns.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/priority.hpp"
#include "vm/message/receiver.hpp"
#include "vm/process/process_state.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

/// The answer to a request to spawn a process on another node, {Ref, Pid or reason, Flags}, in the
/// thread of the process that asked. Flags: 1 means that the new process is linked, 2 that it is
/// monitored.
namespace vmrun {
namespace {

struct Answer {
  explicit Answer(const Fragment& f) {
    const Term* e = f.message.tuple_elements();
    key = ref_key(e[0]);
    result = e[1];
    linked = e[2].small_value() & 1;
    monitored = e[2].small_value() & 2;
  }
  RefKey key;
  Term result;
  bool linked, monitored;
};

/// Undoes link and monitor for an asker that does not want the answer any more or is gone. if_none
/// is the reason if none has been kept.
void give_back(Term asker, const Answer& a, Term if_none) {
  Fragment* const left = take_abandoned_reason(a.key);
  const Term reason = left ? left->message : if_none;
  if (a.linked) receiver_of(a.result).exit(a.result, {.from = asker, .reason = reason, .by_link = true});
  if (a.monitored) receiver_of(a.result).demonitor(a.result, asker, a.key);
  if (left) Fragment::destroy(left);
}

void tell(Process& p, const SpawnRequested& asked, const Answer& a, const Fragment& signal) {
  const Term tag = asked.tag ? asked.tag->message : atoms::spawn_reply;
  Fragment* f = new_fragment(5 + kAliasRefWords + copy_size_words(tag) + copy_size_words(a.result) +
                             token_copy_words(signal.token));
  const Term tag_copy = copy_into(*f, tag), result = copy_into(*f, a.result);
  Term* hp = fragment_alloc(*f, asked.alias == AliasMode::kNone ? kRefWords : kAliasRefWords);
  const Term ref = asked.alias == AliasMode::kNone ? make_ref(hp, a.key) : make_alias_ref(hp, a.key, p.id);
  hp = fragment_alloc(*f, 5);
  f->message = make_tuple(hp, tag_copy, ref, result.is_pid() ? atoms::ok : atoms::error, result);
  if (!signal.token.is_nil()) attach_token(signal.token, *f);
  f->from_vm = signal.from_vm;
  append_own_message(p, f);
}

}  // namespace

void handle_spawn_answer(Process& p, Fragment* f) {
  const Answer a(*f);
  FlatTable<RefKey, SpawnRequested>::Entry entry;
  if (!p.extra || !p.extra->spawn_requests.take(a.key, &entry)) {
    give_back(p.id, a, atoms::abandoned);
    return Fragment::destroy(f);
  }
  const SpawnRequested& asked = entry.value;
  if (a.linked) {
    trace_procs(p, atoms::link, a.result);
    p.extra->links.set_by_other(a.result, 1);
    if (asked.priority_link) mark_priority_link(p, a.result, true);
  }
  if (a.monitored) {
    p.extra->monitors.insert(a.key,
                             {keep_identifier(a.result), Term::nil(), asked.monitor_tag, asked.alias, false});
  } else {
    asked.drop_monitor_tag();
    if (asked.priority_monitor) (void)unmark_priority_monitor(p, a.key);
  }
  if (asked.alias != AliasMode::kNone && !a.monitored) p.extra->aliases.erase(a.key);
  if (a.result.is_pid() ? asked.reply_success : asked.reply_error) tell(p, asked, a, *f);
  asked.drop_tag();
  Fragment::destroy(f);
}

void answer_spawn_answer_dead(Term asker, const Fragment& f) { give_back(asker, Answer(f), atoms::noproc); }

}  // namespace vmrun
