// SPDX-License-Identifier: Apache-2.0
#include "vm/lifecycle/spawn.hpp"

#include "vm/heap/copy.hpp"
#include "vm/heap/off_heap.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/links.hpp"
#include "vm/message/priority.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/core.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/scheduler_binding.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

SpawnOptions spawn_defaults;

namespace {

// left for the stack when the first block is sized for large arguments
constexpr Word kArgumentRoomWords = 64;
Term boot_group_leader = Term::nil();

unsigned list_length(Term list) {
  unsigned n = 0;
  for (; list.is_list(); list = list.tail()) ++n;
  return n;
}

/// Returns {spawn_request, Ref, Parent, GroupLeader, MFA, Options, Tag, Arguments} and {Tag, Ref,
/// ok, Child}: the messages that a spawn counts as in sequential traces.
SpawnEvents spawn_as_messages(Heap& heap, const Process& p, Term arguments, const SpawnOptions& options,
                              RefKey key) {
  Term* hp = heap.alloc(kRefWords);
  const Term ref = make_ref(hp, key);
  const Term tag = options.request ? options.request->tag : atoms::spawn_reply;
  Term shown = options.as_given;
  for (const auto& [given, name] :
       {std::pair{options.monitor, atoms::monitor}, std::pair{options.link, atoms::link}}) {
    if (!given || !options.as_given.is_nil()) continue;
    hp = heap.alloc(2);
    shown = make_cons(hp, name, shown);
  }
  hp = heap.alloc(4);
  const Term mfa = make_tuple(hp, p.initial_module, p.initial_function, Term::small(p.initial_arity));
  hp = heap.alloc(9);
  const Term request =
      make_tuple(hp, atoms::spawn_request, ref, p.parent, p.group_leader, mfa, shown, tag, arguments);
  hp = heap.alloc(5);
  return {request, make_tuple(hp, tag, ref, atoms::ok, p.id), false};
}

void inherit_token(Process& parent, Process& p, Term arguments, const SpawnOptions& options, RefKey key) {
  Arena arena;
  SpawnEvents events{};
  if (seq_tracer_listens()) events = spawn_as_messages(arena, p, arguments, options, key);
  events.reply_is_message = options.request && options.request->answer;
  inherit_seq_token(parent, p, events);
}

/// Sends the answer of spawn_request, as if the child had sent it.
void answer_request(Process& parent, Process& p, const SpawnOptions& options, RefKey key) {
  const Term tag = options.request->tag;
  const bool carries = p.observed & kHasTokenOrTag;
  Fragment* f = new_fragment(5 + kAliasRefWords + copy_size_words(tag) + (carries ? token_room_words(p) : 0));
  const Term tag_copy = copy_into(*f, tag);
  const bool alias = options.monitor && options.monitor_alias != AliasMode::kNone;
  Term* hp = fragment_alloc(*f, alias ? kAliasRefWords : kRefWords);
  const Term ref = alias ? make_alias_ref(hp, key, parent.id) : make_ref(hp, key);
  hp = fragment_alloc(*f, 5);
  f->message = make_tuple(hp, tag_copy, ref, atoms::ok, p.id);
  if (carries) attach_token(p, *f);
  push_message(parent, f, false);
}

// This is a function of its own: its room for texts would cost every spawn.
[[gnu::cold, gnu::noinline]] void fire_spawn(const Process& p) {
  probe::fire_process_spawn(p.id, {p.initial_module, p.initial_function, p.initial_arity});
}

}  // namespace

void set_boot_group_leader(Term pid) { boot_group_leader = pid; }

Term spawn_process(Process* parent, Term module, Term function, Term arguments, const SpawnOptions& options,
                   RefKey* monitor_key, bool* too_large) {
  Word number = 0;
  const Word argument_words = too_large ? copy_size_words_here(arguments) : copy_size_words(arguments);
  if (too_large && argument_words > kWordsCopiedHere) [[unlikely]]
    return *too_large = true, kNonValue;
  // The new process comes behind its parent, in processes() too. A program that ends all processes
  // in that order, as OTP's init does, then ends first those that would see others end.
  const auto behind = parent ? std::optional(parent->id.id_number()) : std::nullopt;
  if (!process_table.reserve(&number, behind)) return kNonValue;
  if (probe::copy_struct_enabled() && !arguments.is_immed()) [[unlikely]]
    announce_copy(arguments);

  Process& p = *allocate_process();
  Word least = options.min_heap_words;
  if (const Word needed = argument_words + kArgumentRoomWords; needed > (least ? least : kDefaultHeapWords))
    least = needed;
  init_heap(p.heap, least);
  p.min_heap_words = static_cast<std::uint32_t>(options.min_heap_words);
  p.fullsweep_after = options.fullsweep_after;
  p.max_heap = options.max_heap;
  p.priority = options.priority;
  p.own_priority.store(options.priority, std::memory_order_relaxed);

  p.inline_regs[0] = module;
  p.inline_regs[1] = function;
  p.inline_regs[2] = copy_term(arguments, p.heap.top, p.heap.off_heap);
  p.live_saved = 3;
  p.initial_module = module;
  p.initial_function = function;
  p.initial_arity = static_cast<std::uint8_t>(
      module == atoms::erlang && function == atoms::apply ? 2 : list_length(arguments));
  p.exception_trace = Term::nil();
  p.scheduler = this_core() || !parent ? this_core() : parent->scheduler.load();
  p.group_leader = boot_group_leader;
  p.parent = Term::nil();
  if (options.async_dist) extra_of(p).async_dist = true;
  if (options.min_bin_vheap_words)
    p.heap.off_heap_limit_words = extra_of(p).min_bin_vheap_words = options.min_bin_vheap_words;
  if (options.scheduler) [[unlikely]]
    bind_to_scheduler(p, options.scheduler);
  if (options.off_heap_messages) extra_of(p).off_heap_messages = true;
  if (parent) {
    p.parent = parent->id;
    p.group_leader = parent->group_leader;
    if (!p.group_leader.is_immed()) [[unlikely]]  // one of another node lies in the parent's heap
      p.group_leader = copy_to(p.heap, p.group_leader);
    bump_reductions(*parent, 16);
  }

  if (const RemoteSpawn* other = options.remote_spawn) [[unlikely]] {
    p.parent = copy_to(p.heap, other->parent);
    p.group_leader = copy_to(p.heap, other->group_leader);
    p.initial_arity = other->arity;
  }

  process_table.publish(p, number);
  const Term pid = p.id;
  if (parent && options.link) {
    set_links(*parent, p);
    if (options.priority_link) mark_priority_link(*parent, pid, true);
  }
  RefKey key;
  if (options.request) key = options.request->key;
  else if (options.monitor || (parent && parent->observed & kHasToken)) key = next_ref_key();
  if (parent && options.monitor) {
    // The effect is as if the monitor signal were the child's first. The child has never run, so
    // its side can be written here.
    MonitorOut monitor{pid, Term::nil(), nullptr, options.monitor_alias};
    if (options.monitor_tag) {
      monitor.tag = new_fragment(copy_size_words(options.monitor_tag, Literals::kCopied));
      monitor.tag->message = copy_into(*monitor.tag, options.monitor_tag, Literals::kCopied);
    }
    Extra& extra = extra_of(*parent);
    extra.monitors.insert(key, monitor);
    if (options.priority_monitor) mark_priority_monitor(*parent, key);
    if (options.monitor_alias != AliasMode::kNone) extra.aliases.insert(key, options.monitor_alias);
    extra_of(p).monitored_by.insert(key, parent->id, Term::nil());
    *monitor_key = key;
  }
  if (parent && parent->observed & kHasToken) [[unlikely]]
    inherit_token(*parent, p, arguments, options, key);
  if (parent && (parent->observed & kTraceAll || new_processes_traced())) [[unlikely]]
    trace_spawn(*parent, p, arguments, options.link);
  if (options.request && options.request->answer) answer_request(*parent, p, options, key);
  if (probe::process_spawn_enabled()) [[unlikely]]
    fire_spawn(p);
  if (options.remote_spawn) [[unlikely]]
    options.remote_spawn->announce(options.remote_spawn->context, p);
  if (probe::binary_receive_enabled()) [[unlikely]]
    fire_received(pid, p.heap.off_heap);
  make_runnable(p);
  return pid;
}

}  // namespace vmrun
