// SPDX-License-Identifier: Apache-2.0
#include "vm/message/send.hpp"
#include "vm/message/mailbox_probe.hpp"

#include "vm/base/epoch.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/literal.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/end_signals.hpp"
#include "vm/message/process_receiver.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/paths_enabled.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/message_pattern.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"
#include "vm/trace/tracer.hpp"

namespace vmrun {
namespace {

/// Whether a message is so large that a dirty scheduler copies it when the sender is a process.
bool too_large_here(Term message) {
  return dirty_thread_kind() == DirtyKind::kNone && copy_size_words_here(message) > kWordsCopiedHere;
}

enum class Size : bool { kAny, kCopiedHere };

/// Copies the message into a fragment of its own; nullptr when it is larger than kSize allows.
template <Size kSize>
[[gnu::always_inline]] inline Fragment* message_fragment(Term message) {
  if (message.is_immed()) {
    Fragment* f = new_fragment(0);
    f->message = message;
    return f;
  }
  const Word words = kSize == Size::kAny ? copy_size_words(message) : copy_size_words_here(message);
  if (kSize != Size::kAny && words > kWordsCopiedHere) [[unlikely]]
    return nullptr;
  Fragment* f = new_fragment(words);
  Term* hp = f->words;
  f->message = copy_term(message, hp, f->off_heap);
  f->used_words = static_cast<std::uint32_t>(hp - f->words);
  return f;
}

/// Copies a message with token and tag, or with its sender. Within one process too this is a copy
/// like any other.
[[gnu::cold, gnu::noinline]] Fragment* carrying_fragment(Process& from, Term to, Term message,
                                                         bool with_sender) {
  const bool carries = sends_token(from);
  if (carries) seq_trace_send(from, to, message);
  Fragment* f = new_fragment(copy_size_words(message) + (carries ? token_room_words(from) : 0) +
                             (with_sender ? kSenderWords : 0));
  if (with_sender) put_sender(*f, from.id);
  f->message = copy_into(*f, message);
  if (carries) attach_token(from, *f);
  return f;
}

/// whole: the message to an alias, whose fragment contains more than the message; otherwise
/// nullptr.
void fire_send(Process& from, Term to, Fragment& f, const Term* whole = nullptr) {
  if (!probe::message_send_in_full()) return probe::count_message_send();
  const Word words = whole ? size_words(*whole) : message_words(f);
  fired_message = whole ? *whole : f.message;
  const auto [label, previous, current] = SeqArguments::of_message(f);
  probe::message_number = message_id(f);
  probe::fire_message_send(from.id, to, words, label, previous, current);
}

/// Sends while the process or all messages are traced. Within one process the message is not
/// reported as copied or queued.
[[gnu::cold, gnu::noinline]] bool send_traced(Process& from, Process& to, Term as_given, Term message) {
  trace_send(from, as_given, message);
  const bool to_self = &from == &to;
  const bool with_sender = wants_senders();
  const bool carries = sends_token(from) || with_sender;
  Word words = 0;
  if (probe::copy_struct_enabled() && !carries && !to_self && !message.is_immed())
    words = announce_copy(message);
  Fragment* f =
      carries ? carrying_fragment(from, to.id, message, with_sender) : message_fragment<Size::kAny>(message);
  note_message_words(*f, words);
  bump_reductions(from, 1 + (f->used_words >> 4));
  if (probe::message_send_enabled()) fire_send(from, to.id, *f);
  return push_message(to, f, to_self);
}

bool is_send_traced(const Process& from) {
  return from.observed & (kSendsToken | kTraceSend | kPathsEnabled);
}

/// as_given is the destination as the program wrote it. The copy is made here, however large it is.
bool send_to_process(Process& from, Process& to, Term as_given, Term message) {
  if (is_send_traced(from)) [[unlikely]]
    return send_traced(from, to, as_given, message);
  Fragment* f = message_fragment<Size::kAny>(message);
  bump_reductions(from, 1 + (f->used_words >> 4));
  return push_message(to, f, Disabled::kMessageAndQueueProbes);
}

void send_to_alias(Process& from, Term alias, Term message, bool priority) {
  trace_send(from, alias, message);
  Process* to = process_table.find(ref_of(alias)->owner);
  if (!to) return;
  const bool carries = sends_token(from);
  if (carries) [[unlikely]]
    seq_trace_send(from, alias, message);
  const bool to_self = to == &from;
  if (probe::copy_struct_enabled() && !message.is_immed() && (carries || !to_self)) [[unlikely]]
    announce_copy(message);
  Fragment* f =
      new_signal(SignalKind::kAliasMessage, 4 + kAliasRefWords + copy_size_words(message) +
                                                (carries ? token_room_words(from) : 0) + kSenderWords);
  if (wants_senders()) put_sender(*f, from.id);
  Term* hp = f->words;
  const Term copy = copy_term(message, hp, f->off_heap);
  const Term ref = make_alias_ref(hp, ref_key(alias), to->id);
  const unsigned marks = (to_self ? kOwnMessage : 0) | (priority ? kPriorityMessage : 0);
  f->message = marks ? make_tuple(hp, ref, copy, Term::small(marks)) : make_tuple(hp, ref, copy);
  f->used_words = static_cast<std::uint32_t>(hp - f->words);
  if (carries) [[unlikely]]
    attach_token(from, *f);
  bump_reductions(from, 1 + (f->used_words >> 4));
  if (probe::message_send_enabled()) [[unlikely]]
    fire_send(from, to->id, *f, &message);
  if (!push_signal(*to, f)) Fragment::destroy(f);
}

/// Sends to a process or an alias.
Term send_large(Process& from, const Term* a) {
  EpochGuard guard;  // until the message, which may share literals, is in the mailbox
  look_at_leaving_literals();
  const Term to = a[0], as_given = a[1], message = a[2];
  if (!to.is_local_pid()) send_to_alias(from, to, message, as_given == atoms::priority);
  else if (Process* q = process_table.find(to)) send_to_process(from, *q, as_given, message);
  return atoms::ok;
}

/// Moves the sender to a dirty scheduler (kWaits), which sends the message; afterwards the sender
/// is called again (kDone). So its messages stay in order, and the message goes to the process that
/// the name meant at the first call.
[[gnu::cold, gnu::noinline]] SendResult send_on_dirty(Process& from, Term to, Term as_given, Term message) {
  const Term args[] = {to, as_given, message};
  return run_on_dirty(from, send_large, args, 3).is_value() ? SendResult::kDone : SendResult::kWaits;
}

/// Returns the result of a message that was sent on a dirty scheduler, whatever its destination.
SendResult sent_on_dirty(Process& from) {
  return continue_on_dirty(from).is_value() ? SendResult::kDone : SendResult::kWaits;
}

/// Sends to a process, for a program.
[[gnu::always_inline]] inline SendResult send_or_leave(Process& from, Process& to, Term as_given,
                                                       Term message) {
  if (is_send_traced(from)) [[unlikely]] {
    if (too_large_here(message)) return send_on_dirty(from, to.id, as_given, message);
    send_traced(from, to, as_given, message);
    return SendResult::kDone;
  }
  Fragment* f = message_fragment<Size::kCopiedHere>(message);
  if (!f) [[unlikely]]
    return send_on_dirty(from, to.id, as_given, message);
  bump_reductions(from, 1 + (f->used_words >> 4));
  (void)push_message(to, f, Disabled::kMessageProbes);
  return SendResult::kDone;
}

}  // namespace

[[gnu::no_stack_protector]] SendResult ProcessReceiver::send(Process& from, const Destination& to,
                                                             Term message, SendOptions) {
  if (Process* q = process_table.find(to.who)) return send_or_leave(from, *q, to.given, message);
  if (!to.bare_name) trace_send(from, to.given, message);
  return SendResult::kDone;
}

// Only the owner knows whether it still is an alias.
SendResult AliasReceiver::send(Process& from, const Destination& to, Term message, SendOptions options) {
  if (too_large_here(message))
    return send_on_dirty(from, to.who, options.priority ? atoms::priority : to.who, message);
  send_to_alias(from, to.who, message, options.priority);
  return SendResult::kDone;
}

// The owner is not told unless it still has the alias, but the probe fires: the signal has been
// sent.
bool AliasReceiver::exit(Term to, const ExitSignal& signal) {
  Process* q = process_table.find(ref_of(to)->owner);
  if (!q) return true;
  const bool carries = signal.carrier && sends_token(*signal.carrier);
  Fragment* f =
      new_signal(SignalKind::kAliasExit,
                 kAliasExitWords + copy_size_words(signal.from) + copy_size_words(signal.reason) +
                     (carries ? token_room_words(*signal.carrier) : token_copy_words(signal.token)));
  const Term reason = copy_into(*f, signal.reason), from = copy_into(*f, signal.from);
  finish_exit_signal(*f, from, reason);
  if (carries) [[unlikely]] {
    seq_trace_send(*signal.carrier, q->id, f->message);
    attach_token(*signal.carrier, *f);
  } else if (!signal.token.is_nil()) [[unlikely]] {
    attach_token(signal.token, *f);
  }
  if (probe::process_exit_signal_enabled()) [[unlikely]]
    probe::fire_process_exit_signal(signal.from, q->id,
                                    signal.reason == atoms::kill ? atoms::killed : signal.reason);
  address_to_alias(*f, ref_key(to), q->id, signal.priority);
  if (!push_signal(*q, f)) Fragment::destroy(f);
  return true;
}

[[gnu::no_stack_protector]] SendResult send_with_options(Process& from, Term given, Term message,
                                                         SendOptions options) {
  if (came_back(from)) [[unlikely]]
    return sent_on_dirty(from);
  const Destination to = find_destination(given);
  return to.at ? to.at->send(from, to, message, options) : SendResult::kBadArgument;
}

namespace {

/// send_message for everything but pids of this node.
[[gnu::noinline]] bool send_to_other(Process& from, Term given, Term message) {
  const SendResult result = send_with_options(from, given, message, {});
  if (result == SendResult::kBadArgument) raise_badarg(from);
  if (result == SendResult::kTooLarge) raise_system_limit(from);
  if (result != SendResult::kDone) return false;
  return !from.suspend_count || wait_when_sent(from, message).is_value();
}

}  // namespace

[[gnu::no_stack_protector]] bool send_message(Process& from, Term to, Term message) {
  if (!to.is_local_pid()) [[unlikely]]
    return send_to_other(from, to, message);
  if (Process* q = process_table.find(to)) return send_or_leave(from, *q, to, message) == SendResult::kDone;
  if (came_back(from)) [[unlikely]]  // the receiver has ended since
    return sent_on_dirty(from) == SendResult::kDone;
  trace_send(from, to, message, false);
  return true;
}

bool send_from_native(Process* from, Term to, Term message) {
  Process* q = process_table.find(to);
  if (!q) return false;
  if (from) return send_to_process(*from, *q, to, message);
  if (probe::copy_struct_enabled() && !message.is_immed()) [[unlikely]]
    announce_copy(message);
  Fragment* f = message_fragment<Size::kAny>(message);
  f->from_vm = 1;
  return push_message(*q, f, false);
}

bool send_from_vm(Term pid, Fragment* f) {
  f->from_vm = 1;
  Process* q = process_table.find(pid);
  if (q) return push_message(*q, f, false);
  Fragment::destroy(f);
  return false;
}

bool send_from_vm(Term pid, Term message) {
  Fragment* f = new_fragment(copy_size_words(message));
  f->message = copy_into(*f, message);
  return send_from_vm(pid, f);
}

}  // namespace vmrun
