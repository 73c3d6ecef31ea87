// SPDX-License-Identifier: Apache-2.0
#include "vm/process/process.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "runtime/bif/here_or_was.hpp"
#include "runtime/bif/or_reason.hpp"
#include "runtime/bif/process_options.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/epoch.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/code/module.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/answer.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/info.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/handle.hpp"
#include "vm/message/receiver.hpp"
#include "vm/message/request.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/core.hpp"
#include "vm/process/dirty_state.hpp"
#include "vm/process/give_up_slice.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/scheduler_binding.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/saved_calls.hpp"

/// Built-in functions about processes: exceptions, flags, information, dictionary, suspension.
namespace vmrun {

Term bif_erlang_self_0(Process& p, const Term*) { return p.id; }

// ---- Ending and raising -------------------------------------------------------------------------

namespace {

/// Raises an exception of the program: the built-in function does not appear in the stack trace.
Term raise_plainly(Process& p, ExceptionClass cls, Term value) {
  raise(p, cls, value);
  p.exception_trace = atoms::true_;
  return kNonValue;
}

/// Raises with arguments that replace the calling function's arity in the trace.
Term raise_with_arguments(Process& p, Term reason, Term arguments, Term info) {
  raise(p, ExceptionClass::kError, reason);
  if (arguments == atoms::none && !info) p.exception_trace = atoms::true_;
  else if (!info) p.exception_trace = new_tuple(p.heap, arguments);
  else p.exception_trace = new_tuple(p.heap, arguments, info);
  return kNonValue;
}

}  // namespace

Term bif_erlang_exit_1(Process& p, const Term* a) { return raise_plainly(p, ExceptionClass::kExit, a[0]); }
Term bif_erlang_throw_1(Process& p, const Term* a) { return raise_plainly(p, ExceptionClass::kThrow, a[0]); }
Term bif_erlang_error_1(Process& p, const Term* a) { return raise_plainly(p, ExceptionClass::kError, a[0]); }
Term bif_erlang_error_2(Process& p, const Term* a) {
  if (a[1] != atoms::none && !a[1].is_cons_or_nil()) return raise_plainly(p, ExceptionClass::kError, a[0]);
  return raise_with_arguments(p, a[0], a[1], kNonValue);
}
/// If one option is invalid, all options are ignored, as in OTP.
Term bif_erlang_error_3(Process& p, const Term* a) {
  static const Term error_info = intern_atom("error_info");
  Term info = kNonValue, options = a[2];
  for (; options.is_list(); options = options.tail()) {
    const Term o = options.head();
    if (!o.is_tuple() || o.tuple_arity() != 2 || o.element(0) != error_info || !o.element(1).is_map()) break;
    info = o.element(1);
  }
  if (a[1] != atoms::none && !a[1].is_cons_or_nil()) return raise_plainly(p, ExceptionClass::kError, a[0]);
  return raise_with_arguments(p, a[0], a[1], options.is_nil() ? info : kNonValue);
}
/// Unlike error/1 it is itself in the stack trace, with its arguments.
Term bif_erlang_nif_error_1(Process& p, const Term* a) { return raise_error(p, a[0]); }
Term bif_erlang_nif_error_2(Process& p, const Term* a) { return raise_error(p, a[0]); }

Term bif_erlang_raise_3(Process& p, const Term* a) {
  ExceptionClass cls;
  if (a[0] == atoms::error) cls = ExceptionClass::kError;
  else if (a[0] == atoms::exit) cls = ExceptionClass::kExit;
  else if (a[0] == atoms::throw_) cls = ExceptionClass::kThrow;
  else return atoms::badarg;  // returned, not raised: as documented
  return raise_with_trace(p, cls, a[1], a[2]) ? kNonValue : atoms::badarg;
}

namespace {

/// Sends an exit signal. To an alias it goes since OTP 28.
Term send_exit(Process& p, Term to, Term reason, bool priority) {
  const bool to_ref = to.is_ref() && release_has(Trait::kPriorityMessages);
  if (!to.is_pid() && !to.is_local_port() && !to_ref) return raise_badarg(p);
  bump_reductions(p, 8);
  Receiver& receiver = !to.is_local_ref() ? receiver_of(to)
                       : is_alias(to)     ? *receivers.alias
                                          : *receivers.nobody;
  const bool sent = receiver.exit(to, {.from = p.id, .reason = reason, .priority = priority});
  return sent ? atoms::true_ : raise_system_limit(p);
}

}  // namespace

/// Like exit/2, but the signal to the caller itself also arrives after those sent before.
Term bif_erlang_exit_signal_2(Process& p, const Term* a) { return send_exit(p, a[0], a[1], false); }
Term bif_erlang_exit_signal_3(Process& p, const Term* a) {
  bool priority = false;
  return read_link_options(a[2], &priority) ? send_exit(p, a[0], a[1], priority) : raise_badarg(p);
}
Term exit_cause(Process&, unsigned, const Term* a) {
  bool priority;
  return read_link_options(a[2], &priority) ? kNonValue : atoms::badopt;
}

Term bif_erlang_exit_2(Process& p, const Term* a) {
  if (a[0] != p.id) return bif_erlang_exit_signal_2(p, a);
  // A signal to itself takes effect at once.
  const Term reason = a[1] == atoms::kill ? atoms::killed : a[1];
  if (probe::process_exit_signal_enabled()) [[unlikely]]
    probe::fire_process_exit_signal(p.id, p.id, reason);
  if (!p.trap_exit || a[1] == atoms::kill) return exit_now(p, reason);
  Fragment* f = new_fragment(4 + copy_size_words(a[1]));
  const Term copy = copy_into(*f, a[1]);
  Term* hp = fragment_alloc(*f, 4);
  f->message = make_tuple(hp, atoms::exit_upper, p.id, copy);
  handle_arrivals(p);  // messages that were sent before stay in front
  append_own_message(p, f);
  return atoms::true_;
}

Term bif_erlang_exit_3(Process& p, const Term* a) {
  bool priority = false;
  if (!read_link_options(a[2], &priority)) return raise_badarg(p);
  return a[0] == p.id ? bif_erlang_exit_2(p, a) : send_exit(p, a[0], a[1], priority);
}

// ---- Flags --------------------------------------------------------------------------------------

namespace {

Term set_trap_exit(Process& p, Term value) {
  if (value != atoms::true_ && value != atoms::false_) return kNonValue;
  const bool old = p.trap_exit;
  // Signals that arrived earlier are handled with the old flag.
  if (p.mailbox.has_arrivals()) handle_arrivals(p);
  p.trap_exit = value == atoms::true_;
  if (p.exit_pending) p.reductions = 0;
  return bool_term(old);
}

Term set_priority(Process& p, Term value) {
  static constexpr Term kNames[] = {atoms::low, atoms::normal, atoms::high, atoms::max};
  const std::uint8_t old = p.priority;
  if (!read_priority(value, &p.priority)) return kNonValue;
  p.own_priority.store(p.priority, std::memory_order_relaxed);
  return kNames[old];
}

Term set_min_heap_size(Process& p, Term value) {
  SWord n;
  if (!small_in_range(value, 0, SWord{1} << 32, &n)) return kNonValue;
  const Word old = p.min_heap_words ? p.min_heap_words : kToldHeapWords;
  p.min_heap_words = static_cast<std::uint32_t>(next_heap_size(static_cast<Word>(n)));
  return Term::small(static_cast<SWord>(old));
}

Term set_fullsweep_after(Process& p, Term value) {
  SWord n;
  if (!small_in_range(value, 0, SWord{1} << 32, &n)) return kNonValue;
  const Term old = Term::small(p.fullsweep_after);
  p.fullsweep_after = static_cast<std::uint16_t>(n > 65535 ? 65535 : n);
  return old;
}

Term set_max_heap_size(Process& p, Term value) {
  MaxHeap most = p.max_heap;
  if (!read_max_heap(value, p.min_heap_words, &most)) return kNonValue;
  const Term old = process_info_item(p, atoms::max_heap_size, p.heap, true).element(1);
  p.max_heap = most;
  return old;
}

Term set_message_queue_data(Process& p, Term value) {
  if (value != atoms::on_heap && value != atoms::off_heap) return kNonValue;
  Extra& extra = extra_of(p);
  const bool old = extra.off_heap_messages;
  extra.off_heap_messages = value == atoms::off_heap;
  return old ? atoms::off_heap : atoms::on_heap;
}

Term set_error_handler(Process& p, Term value) {
  if (!value.is_atom()) return kNonValue;
  Extra& extra = extra_of(p);
  const Term old = extra.error_handler.is_atom() ? extra.error_handler : atoms::error_handler;
  extra.error_handler = value == atoms::error_handler ? Term::nil() : value;
  return old;
}

Term set_sensitive(Process& p, Term value) {
  if (value != atoms::true_ && value != atoms::false_) return kNonValue;
  return bool_term(p.sensitive.exchange(value == atoms::true_, std::memory_order_relaxed));
}

Term set_async_dist(Process& p, Term value) {
  if (value != atoms::true_ && value != atoms::false_) return kNonValue;
  return bool_term(std::exchange(extra_of(p).async_dist, value == atoms::true_));
}

Term set_min_bin_vheap_size(Process& p, Term value) {
  SWord n;
  if (!small_in_range(value, 0, Term::kSmallMax, &n)) return kNonValue;
  const Term old = Term::small(static_cast<SWord>(off_heap_limit_of(p)));
  extra_of(p).min_bin_vheap_words = next_heap_size(static_cast<Word>(n));
  p.heap.off_heap_limit_words = std::max(off_heap_limit_of(p), 2 * p.heap.off_heap_words);
  return old;
}

/// The caller also sets it by a request to itself, so that it continues in a slice that saves
/// calls.
Term set_save_calls(Process& p, Term pid, Term value) {
  SWord n;
  if (!pid.is_local_pid() || !small_in_range(value, 0, kMostSavedCalls, &n)) return raise_badarg(p);
  const Term old = ask(p, pid, RequestKind::kSaveCalls, value, atoms::badarg);
  return old == atoms::badarg ? raise_badarg(p) : old;
}

struct ProcessFlag {
  Term name;
  Term (*set)(Process& p, Term value);  // old value; the non-value: badarg
};
Term set_scheduler(Process& p, Term value) {
  SWord n;
  if (!small_in_range(value, 0, scheduler_count(), &n)) return kNonValue;
  const Term old = Term::small(is_bound(p) ? p.extra->bound_to : 0);
  if (n == 0) unbind(p);
  else bind_to_scheduler(p, static_cast<std::uint16_t>(n));
  if (n != 0 && this_scheduler()->number != n) p.reductions = 0;  // its next slice runs on that scheduler
  return old;
}

constexpr ProcessFlag kProcessFlags[] = {
    {atoms::trap_exit, set_trap_exit},
    {atoms::priority, set_priority},
    {atoms::min_heap_size, set_min_heap_size},
    {atoms::min_bin_vheap_size, set_min_bin_vheap_size},
    {atoms::fullsweep_after, set_fullsweep_after},
    {atoms::max_heap_size, set_max_heap_size},
    {atoms::message_queue_data, set_message_queue_data},
    {atoms::error_handler, set_error_handler},
    {atoms::sensitive, set_sensitive},
    {atoms::async_dist, set_async_dist},
    {atoms::scheduler, set_scheduler},
};

bool is_of_nodes(Term flag) {
  return flag == atoms::monitor_nodes ||
         (flag.is_tuple() && flag.tuple_arity() == 2 && flag.element(0) == atoms::monitor_nodes);
}

}  // namespace

Term bif_erlang_process_flag_2(Process& p, const Term* a) {
  if (is_of_nodes(a[0])) {
    const Term times = set_monitor_nodes(p, a[0], a[1]);
    return times ? times : raise_badarg(p);
  }
  if (a[0] == atoms::save_calls) return set_save_calls(p, p.id, a[1]);
  for (const ProcessFlag& flag : kProcessFlags) {
    if (flag.name != a[0]) continue;
    const Term old = flag.set(p, a[1]);
    return old ? old : raise_badarg(p);
  }
  return raise_badarg(p);
}

Term bif_erlang_process_flag_3(Process& p, const Term* a) {
  return a[1] == atoms::save_calls ? set_save_calls(p, a[0], a[2]) : raise_badarg(p);
}
Term process_flag_cause(Process&, unsigned arity, const Term* a) {
  if (arity == 2) {
    const bool is_flag =
        is_of_nodes(a[0]) || a[0] == atoms::save_calls ||
        std::ranges::find(kProcessFlags, a[0], &ProcessFlag::name) != std::end(kProcessFlags);
    return is_flag ? kNonValue : atoms::badopt;
  }
  const bool is_there = a[0].is_local_pid() && process_table.find(a[0]);
  return is_there ? kNonValue : intern_atom("badtype");
}
/// Returns the old value, badarg or badtype.
Term bif_erts_internal_process_flag_3(Process& p, const Term* a) {
  const Term old = or_reason(p, bif_erlang_process_flag_3(p, a));
  const Term cause = old == atoms::badarg ? process_flag_cause(p, 3, a) : kNonValue;
  return cause ? cause : old;
}

// ---- Information --------------------------------------------------------------------------------

namespace {

/// Copies what has been built in `arena` to the process.
Term copy_of_info(Process& p, Term there, const Arena& arena) {
  if (probe::copy_object_enabled() && !there.is_immed()) [[unlikely]]
    probe::fire_copy_object(p.id, size_words(there));
  if (probe::copy_struct_enabled() && !there.is_immed()) [[unlikely]]
    announce_copy(there);
  bump_reductions(p, static_cast<SWord>(arena.fragment_words / 16));
  return copy_to(p.heap, there);
}

/// Calls look() with a process that waits and has no new signals; the caller owns it meanwhile.
/// Returns the non-value when the process cannot be taken.
template <class F>
Term with_waiting(Process& q, F&& look) {
  if (!q.mailbox.unpark()) return kNonValue;
  const bool is_here = !is_with_dirty(q) && !q.exiting.load(std::memory_order_relaxed);
  const Term found = is_here ? look() : kNonValue;
  if (!q.mailbox.park()) make_runnable(q);
  return found;
}

/// Whether the signals that the caller has sent to it have taken effect, and it is alive.
bool is_up_to_date(const Process& q) {
  return q.mailbox.signals_are_handled(q.signals) && !q.exiting.load(std::memory_order_acquire);
}

/// Returns information without asking the process, or the non-value when it has to be asked.
Term info_at_once(Process& p, Process& q, Term what) {
  Arena arena;
  if (const Term info =
          with_waiting(q, [&] { return copy_of_info(p, process_info(q, what, arena, false), arena); }))
    return info;
  if (what == atoms::true_ || !is_up_to_date(q)) return kNonValue;
  const Term there = process_info_now(q, what, arena);
  return there ? copy_of_info(p, there, arena) : kNonValue;
}

Term info_of_process(Process& p, Term pid, Term what) {
  if (!is_process_info(what)) return raise_badarg(p);
  if (is_of_former_self(pid)) return atoms::undefined;
  if (!pid.is_local_pid()) return raise_badarg(p);
  if (pid != p.id) {
    Process* const q = has_asked(p) ? nullptr : process_table.find(pid);
    const Term info = q ? info_at_once(p, *q, what) : kNonValue;
    return info ? info : ask(p, pid, RequestKind::kProcessInfo, what, atoms::undefined);
  }
  if (p.mailbox.has_arrivals()) handle_arrivals(p);  // messages are counted and shown from the inner queue
  return process_info(p, what, p.heap, true);
}

}  // namespace

/// (Process, backtrace): writes the process's stack to standard error. Returns true, badarg or
/// badopt.
Term bif_erts_internal_process_display_2(Process& p, const Term* a) {
  if (a[1] != atoms::backtrace) return atoms::badopt;
  if (!a[0].is_local_pid()) return atoms::badarg;
  const Term shown = info_of_process(p, a[0], atoms::backtrace);
  if (!shown) return kNonValue;
  if (shown == atoms::undefined) return atoms::badarg;
  const BytesOf text(shown.element(1));
  std::fwrite(text.data(), 1, text.size(), stderr);
  return atoms::true_;
}

Term process_display_cause(Process&, unsigned, const Term* a) {
  return a[1] == atoms::backtrace ? kNonValue : atoms::badopt;
}

Term bif_erlang_process_display_2(Process& p, const Term* a) {
  const Term answer = bif_erts_internal_process_display_2(p, a);
  return !answer || answer == atoms::true_ ? answer : raise_badarg(p);
}

Term bif_erlang_process_info_1(Process& p, const Term* a) { return info_of_process(p, a[0], atoms::true_); }
Term bif_erlang_process_info_2(Process& p, const Term* a) {
  return a[1] == atoms::true_ ? raise_badarg(p) : info_of_process(p, a[0], a[1]);
}

Term bif_erlang_is_process_alive_1(Process& p, const Term* a) {
  if (is_of_former_self(a[0])) return atoms::false_;
  if (!a[0].is_local_pid()) return raise_badarg(p);
  if (a[0] == p.id) return atoms::true_;
  if (!p.extra || p.extra->request_id == 0) {
    const Process* q = process_table.find(a[0]);
    if (!q) return atoms::false_;
    if (is_up_to_date(*q)) return atoms::true_;
  }
  return ask(p, a[0], RequestKind::kIsAlive, Term::nil(), atoms::false_);
}

Term bif_erlang_group_leader_0(Process& p, const Term*) { return p.group_leader; }
Term bif_erlang_group_leader_2(Process& p, const Term* a) {
  if (!a[0].is_pid() || !a[1].is_pid() || is_of_former_self(a[1])) return raise_badarg(p);
  if (a[1] == p.id) {
    p.group_leader = a[0];
    return atoms::true_;
  }
  if (a[1].is_local_pid()) {
    Process* const q = has_asked(p) ? nullptr : process_table.find(a[1]);
    const auto set = [&] {
      set_group_leader(*q, a[0]);
      return atoms::true_;
    };
    if (q && with_waiting(*q, set)) return atoms::true_;
    const Term done = ask(p, a[1], RequestKind::kGroupLeader, a[0], atoms::false_);
    return done == atoms::false_ ? raise_badarg(p) : done;
  }
  return receiver_of(a[1]).group_leader(a[1], a[0]) == Reached::kYes ? atoms::true_ : raise_badarg(p);
}

// ---- Dictionary ---------------------------------------------------------------------------------

Term bif_erlang_put_2(Process& p, const Term* a) { return extra_of(p).dictionary.put(a[0], a[1]); }
Term bif_erlang_get_1(Process& p, const Term* a) {
  return p.extra ? p.extra->dictionary.get(a[0]) : atoms::undefined;
}
Term bif_erlang_erase_1(Process& p, const Term* a) {
  return p.extra ? p.extra->dictionary.erase(a[0]) : atoms::undefined;
}

namespace {

/// Returns a list of what `element` makes of the dictionary's entries, without those for which it
/// returns the non-value. When there are many entries, `self` is repeated with these arguments on a
/// dirty scheduler.
template <class Element>
Term dictionary_list(Process& p, const Term* a, unsigned arity, BifFn self, Element element) {
  const std::size_t n = p.extra ? p.extra->dictionary.size() : 0;
  if (too_long(n)) return run_on_dirty(p, self, a, arity);
  ListBuilder list(p.heap);
  for (std::size_t i = 0; i < n; ++i)
    if (const Term t = element(p.extra->dictionary.key(i), p.extra->dictionary.value(i))) list.add(t);
  charge(p, static_cast<SWord>(n));
  return list.finish();
}

}  // namespace

Term bif_erlang_get_0(Process& p, const Term* a) {
  return dictionary_list(p, a, 0, bif_erlang_get_0,
                         [&p](Term key, Term value) { return new_tuple(p.heap, key, value); });
}
Term bif_erlang_erase_0(Process& p, const Term* a) {
  const Term all = bif_erlang_get_0(p, a);
  if (all && p.extra) p.extra->dictionary.clear();
  return all;
}
Term bif_erlang_get_keys_0(Process& p, const Term* a) {
  return dictionary_list(p, a, 0, bif_erlang_get_keys_0, [](Term key, Term) { return key; });
}
Term bif_erlang_get_keys_1(Process& p, const Term* a) {
  return dictionary_list(p, a, 1, bif_erlang_get_keys_1,
                         [a](Term key, Term value) { return equal_exact(value, a[0]) ? key : kNonValue; });
}

// ---- Giving up the core -------------------------------------------------------------------------

Term bif_erlang_yield_0(Process& p, const Term*) {
  give_up_slice(p);
  return atoms::true_;
}

Term bif_erlang_bump_reductions_1(Process& p, const Term* a) {
  SWord n;
  if (!small_in_range(a[0], 0, Term::kSmallMax, &n)) return raise_badarg(p);
  bump_reductions(p, std::min<SWord>(n, std::max(p.reductions, 0)));  // the slice has no more
  return atoms::true_;
}

/// Goes on behind the call when there is a message. The call is repeated then.
Term bif_erlang_hibernate_0(Process& p, const Term*) {
  if (p.mailbox.has_arrivals()) handle_arrivals(p);
  if (p.exit_pending) return exit_now(p, p.exit_reason);
  if (p.mailbox.first) return atoms::ok;
  if (probe::process_hibernate_enabled()) [[unlikely]]
    probe::fire_process_hibernate(p.id, {atoms::erlang, atoms::hibernate, 0});
  p.trap_target = nullptr;
  p.mailbox.save = &p.mailbox.first;
  p.bif_action = BifAction::kHibernate;
  return kNonValue;
}

Term bif_erlang_hibernate_3(Process& p, const Term* a) {
  const SWord arity = list_length(a[2]);
  if (!a[0].is_atom() || !a[1].is_atom() || arity < 0) return raise_badarg(p);
  if (arity > 255) return raise_system_limit(p);
  if (probe::process_hibernate_enabled()) [[unlikely]]
    probe::fire_process_hibernate(p.id, {a[0], a[1], static_cast<unsigned>(arity)});
  p.trap_target = export_entry(a[0], a[1], static_cast<unsigned>(arity));
  Term* x = this_scheduler()->x;
  for (Term rest = a[2]; rest.is_list(); rest = rest.tail()) *x++ = rest.head();
  p.mailbox.save = &p.mailbox.first;  // all messages are new to the code that runs next
  p.bif_action = BifAction::kHibernate;
  return kNonValue;
}

namespace {

constexpr Word kWordsPerStep = 8;  // of collected heap

/// Runs on a dirty scheduler; the registers of the call are saved.
Term collect_here(Process& p, const Term* a) {
  const int cost = a[0] == atoms::minor ? collect(p, 0, p.saved_regs, p.live_saved)
                                        : collect_major(p, 0, p.saved_regs, p.live_saved);
  if (cost < 0) {  // exceeds its limit
    p.exit_pending = true;
    p.exit_reason = atoms::killed;
  }
  return atoms::true_;
}

Term collect_garbage(Process& p, Term pid, Term options) {
  Term type = atoms::major, async_id = kNonValue;
  for (; options.is_list(); options = options.tail()) {
    const Term o = options.head();
    if (!o.is_tuple() || o.tuple_arity() != 2) return raise_badarg(p);
    if (o.element(0) == atoms::type && (o.element(1) == atoms::major || o.element(1) == atoms::minor))
      type = o.element(1);
    else if (o.element(0) == atoms::async) async_id = o.element(1);
    else return raise_badarg(p);
  }
  if (!options.is_nil() || !is_here_or_was(pid)) return raise_badarg(p);
  // A collection that another process asks for is answered in answer.cpp.
  const bool asked = p.extra && p.extra->request_id != 0;
  const Word words = p.heap.block_words() + static_cast<Word>(p.heap.old_top - p.heap.old_start);
  if (pid == p.id && !async_id && !asked && (came_back(p) || too_long(words / kWordsPerStep)))
    return run_on_dirty(p, collect_here, &type, 1);
  if (!async_id) return ask(p, pid, RequestKind::kGarbageCollect, type, atoms::false_);
  ask_async(p, pid, RequestKind::kGarbageCollect, type, atoms::garbage_collect, async_id, atoms::false_);
  return atoms::async;
}

}  // namespace

Term bif_erlang_garbage_collect_0(Process& p, const Term*) { return collect_garbage(p, p.id, Term::nil()); }
Term bif_erlang_garbage_collect_1(Process& p, const Term* a) { return collect_garbage(p, a[0], Term::nil()); }
Term bif_erlang_garbage_collect_2(Process& p, const Term* a) { return collect_garbage(p, a[0], a[1]); }

namespace {

struct SuspendOptions {
  bool unless_suspending = false, asynchronous = false;
  Term async_id = kNonValue;
};

void take_back_suspension(Process& p, Term pid, Suspending& suspending) {
  if (--suspending.times == 0) p.extra->suspending.erase(pid);
  ask_async(p, pid, RequestKind::kResume, Term::nil(), Term::nil(), Term::nil(), Term::nil());
}

bool read_suspend_options(Term list, SuspendOptions* options) {
  for (; list.is_list(); list = list.tail()) {
    const Term o = list.head();
    const bool names_answer = o.is_tuple() && o.tuple_arity() == 2 && o.element(0) == atoms::asynchronous;
    if (o == atoms::unless_suspending) options->unless_suspending = true;
    else if (o == atoms::asynchronous || names_answer) options->asynchronous = true;
    else return false;
    if (names_answer) options->async_id = o.element(1);
  }
  return list.is_nil();
}

Term suspend(Process& p, Term pid, const SuspendOptions& options) {
  if (!pid.is_local_pid() || pid == p.id) return raise_badarg(p);
  Extra& extra = extra_of(p);
  if (extra.request_id == 0) {
    Suspending* suspending = extra.suspending.find(pid);
    if (suspending && options.unless_suspending && (suspending->is_active || options.asynchronous))
      return atoms::false_;
    if (!process_table.find(pid)) {
      if (!options.asynchronous) return raise_badarg(p);
      if (options.async_id)
        ask_async(p, pid, RequestKind::kSuspend, Term::nil(), atoms::undefined, options.async_id,
                  atoms::badarg);
      return atoms::true_;
    }
    if (!suspending) extra.suspending.insert(pid, {});
    else ++suspending->times;
  }
  if (!options.asynchronous) {
    const Term done = ask(p, pid, RequestKind::kSuspend, Term::nil(), atoms::badarg);
    if (Suspending* suspending = done == atoms::true_ ? extra.suspending.find(pid) : nullptr) {
      suspending->is_active = true;
      // The call waited for a suspension that was under way. It does not count a second time, so it
      // is undone.
      if (options.unless_suspending && suspending->times > 1) {
        take_back_suspension(p, pid, *suspending);
        return atoms::false_;
      }
    }
    if (done != atoms::badarg) return done;
    extra.suspending.erase(pid);
    return raise_badarg(p);
  }
  ask_async(p, pid, RequestKind::kSuspend, Term::nil(), options.async_id ? atoms::suspended : Term::nil(),
            options.async_id ? options.async_id : Term::nil(), atoms::exited);
  return atoms::true_;
}

}  // namespace

Term bif_erlang_suspend_process_1(Process& p, const Term* a) { return suspend(p, a[0], {}); }
Term bif_erlang_suspend_process_2(Process& p, const Term* a) {
  SuspendOptions options;
  return read_suspend_options(a[1], &options) ? suspend(p, a[0], options) : raise_badarg(p);
}
Term suspend_process_cause(Process&, unsigned, const Term* a) {
  SuspendOptions options;
  return !a[0].is_local_pid() || read_suspend_options(a[1], &options) ? kNonValue : atoms::badopt;
}
/// true, false, badarg or badopt.
Term bif_erts_internal_suspend_process_2(Process& p, const Term* a) {
  const Term cause = suspend_process_cause(p, 2, a);
  return cause ? cause : or_reason(p, bif_erlang_suspend_process_2(p, a));
}
Term bif_erlang_resume_process_1(Process& p, const Term* a) {
  Suspending* suspending = a[0].is_local_pid() && p.extra ? p.extra->suspending.find(a[0]) : nullptr;
  if (!suspending) return raise_badarg(p);
  take_back_suspension(p, a[0], *suspending);
  return atoms::true_;
}

}  // namespace vmrun
