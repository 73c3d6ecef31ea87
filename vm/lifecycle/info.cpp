// SPDX-License-Identifier: Apache-2.0
#include "vm/lifecycle/info.hpp"
#include "vm/base/release.hpp"

#include <atomic>

#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/backtrace.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/lifecycle_upcalls.hpp"
#include "vm/message/deferred_decoding.hpp"
#include "vm/message/priority.hpp"
#include "vm/message/receiver.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/core.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/dirty_state.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/process_upcalls.hpp"
#include "vm/process/registry.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/heap_sizes.hpp"
#include "vm/trace/saved_calls.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

constexpr unsigned kStacktraceDepth = 8;

Term pair(Heap& out, Term a, Term b) {
  Term* hp = out.alloc(3);
  return make_tuple(hp, a, b);
}
Term mfa(Heap& out, Term m, Term f, unsigned arity) {
  Term* hp = out.alloc(4);
  return make_tuple(hp, m, f, Term::small(arity));
}
Term cons(Heap& out, Term head, Term tail) {
  Term* hp = out.alloc(2);
  return make_cons(hp, head, tail);
}

struct ItemContext {
  Process& p;
  Heap& out;
  bool running;
};

Term registered_name(ItemContext& a) {
  const std::uint32_t name = a.p.registered_name.load(std::memory_order_relaxed);
  return name ? Term::atom(name - 1) : Term::nil();
}
/// Whether the process waits for messages outside of a receive: hibernate leaves nothing on the
/// stack, and the ip is the stub of the function that is called when it wakes.
bool hibernates(const ItemContext& a) {
  return !a.running && a.p.wait_kind == WaitKind::kReceive && a.p.ip && export_of_stub(a.p.ip);
}
bool waits_for_busy_port(const Process& p) {
  return p.wait_kind == WaitKind::kBusyPort && !p.resume_requested;
}
/// Returns what a process that waits for a busy port has called, or, with a busy connection, the
/// function that it is suspended in; nullptr for others. Its stack is that of its caller.
const Export* suspended_in(const ItemContext& a) {
  if (a.running || !(waits_for_busy_port(a.p) || (a.p.extra && a.p.extra->waits_for_connection)))
    return nullptr;
  return a.p.extra->suspended_in;
}
Term current_function(ItemContext& a) {
  if (hibernates(a)) return mfa(a.out, atoms::erlang, atoms::hibernate, 3);
  if (const Export* in = suspended_in(a)) return mfa(a.out, in->module, in->function, in->arity);
  const DirtyJob* job = is_with_dirty(a.p) ? dirty_job_of(a.p) : nullptr;
  if (job && job->handles_signals) return mfa(a.out, job->name.module, job->name.function, job->name.arity);
  const FunctionName f = resume_function(a.p);
  return mfa(a.out, f.module, f.function, f.arity);
}
Term stacktrace(ItemContext& a) {
  if (hibernates(a)) return Term::nil();
  return current_stacktrace(a.p, a.out, kStacktraceDepth);
}
Term without_location(Heap& out, Term m, Term f, unsigned arity) {
  Term* hp = out.alloc(5);
  return make_tuple(hp, m, f, Term::small(arity), Term::nil());
}
Term current_location(ItemContext& a) {
  if (hibernates(a)) return without_location(a.out, atoms::erlang, atoms::hibernate, 3);
  if (const Export* in = suspended_in(a)) return without_location(a.out, in->module, in->function, in->arity);
  const Term trace = current_stacktrace(a.p, a.out, 1);
  return trace.is_list() ? trace.head() : atoms::undefined;
}
Term backtrace(ItemContext& a) {
  const std::string text = is_sensitive(a.p) ? "" : program_counter_text(a.p.ip) + stack_text(a.p);
  return make_binary(a.out, text.data(), text.size());
}
Term initial_call(ItemContext& a) {
  return mfa(a.out, a.p.initial_module, a.p.initial_function, a.p.initial_arity);
}
Term status(ItemContext& a) {
  if (a.running || (is_with_dirty(a.p) && !is_queued_for_dirty(a.p))) return atoms::running;
  if (a.p.exit_pending) return atoms::exiting;
  if (a.p.suspend_count) return atoms::suspended;
  if (waits_for_busy_port(a.p)) return atoms::suspended;
  if (a.p.wait_kind == WaitKind::kNone || is_with_dirty(a.p) || a.p.mailbox.unseen() || a.p.resume_requested)
    return atoms::runnable;
  return atoms::waiting;
}
Term message_queue_len(ItemContext& a) { return Term::small(static_cast<SWord>(a.p.mailbox.exact_length())); }
Term messages(ItemContext& a) {
  Term head = Term::nil();
  if (is_sensitive(a.p)) return head;
  Term* tail = nullptr;
  for (Fragment* f = inner_queue(a.p); f; f = f->next) {
    const Term message = copy_to(a.out, f->message);
    const Term cell = cons(a.out, message, Term::nil());
    if (tail) *tail = cell;
    else head = cell;
    tail = cell.list_ptr() + 1;
  }
  return head;
}
/// The ports of files are left out; they end with their owners by such links.
Term links(ItemContext& a) {
  Term list = Term::nil();
  if (!a.p.extra) return list;
  a.p.extra->links.for_each([&](Term other) {
    if (other.is_local_port() && !process_upcalls.port_is_seen_by_programs(other)) return;
    list = cons(a.out, copy_to(a.out, other), list);
  });
  return list;
}
Term monitors(ItemContext& a) {
  Term list = Term::nil();
  if (a.p.extra)
    a.p.extra->monitors.for_each([&](const RefKey&, const MonitorOut& m) {
      const Term what = m.name.is_nil() ? copy_to(a.out, m.target) : pair(a.out, m.name, local_node_name());
      const Term kind = what == atoms::clock_service ? atoms::time_offset
                        : m.is_port                  ? atoms::port
                                                     : atoms::process;
      list = cons(a.out, pair(a.out, kind, what), list);
    });
  return list;
}
Term monitored_by(ItemContext& a) {
  Term list = Term::nil();
  // The process that counts the users of drivers is part of the machine; in OTP there is no such
  // process (runtime/lib/ddll_server.erl).
  static const Term drivers = intern_atom("erl_ddll");
  if (a.p.extra)
    a.p.extra->monitored_by.for_each([&](const RefKey& key, const MonitorIn& m) {
      if (m.watcher == whereis(drivers)) return;
      const Term watcher = receiver_of(m.watcher).as_watcher(m.watcher, key, a.out);
      if (watcher) list = cons(a.out, watcher, list);
    });
  return list;
}
Term dictionary(ItemContext& a) {
  Term list = Term::nil();
  if (!a.p.extra || is_sensitive(a.p)) return list;
  const Dictionary& d = a.p.extra->dictionary;
  for (std::size_t i = d.size(); i-- > 0;) {  // in the order of get()
    const Term key = copy_to(a.out, d.key(i)), value = copy_to(a.out, d.value(i));
    list = cons(a.out, pair(a.out, key, value), list);
  }
  return list;
}
/// Returns a copy of what the dictionary has for the key.
Term in_dictionary(ItemContext& a, Term key) {
  if (!a.p.extra || is_sensitive(a.p)) return atoms::undefined;
  return copy_to(a.out, a.p.extra->dictionary.get(key));
}
/// Returns what proc_lib:set_label/1 has set.
Term label(ItemContext& a) {
  static const Term key = intern_atom("$process_label");
  return in_dictionary(a, key);
}
Term trap_exit(ItemContext& a) { return a.p.trap_exit ? atoms::true_ : atoms::false_; }
Term error_handler(ItemContext& a) {
  return a.p.extra && a.p.extra->error_handler.is_atom() ? a.p.extra->error_handler : atoms::error_handler;
}
Term priority(ItemContext& a) {
  static constexpr Term kNames[] = {atoms::low, atoms::normal, atoms::high, atoms::max};
  return kNames[a.p.own_priority.load(std::memory_order_relaxed)];
}
Term group_leader(ItemContext& a) { return copy_to(a.out, a.p.group_leader); }
Word old_words(const Heap& h) { return static_cast<Word>(h.old_end - h.old_start); }
Term total_heap_size(ItemContext& a) {
  const Heap& h = a.p.heap;
  const Word words = h.block_words() + old_words(h) + h.fragment_words + message_words_of(a.p);
  return Term::small(static_cast<SWord>(words));
}
Term heap_size(ItemContext& a) { return Term::small(static_cast<SWord>(a.p.heap.block_words())); }
Term stack_size(ItemContext& a) { return Term::small(static_cast<SWord>(a.p.heap.stack_words())); }
Term reductions(ItemContext& a) {
  auto done = static_cast<SWord>(a.p.reductions_done);
  if (a.running) done += this_core()->slice - a.p.reductions;
  return Term::small(done);
}
Term memory(ItemContext& a) { return Term::small(static_cast<SWord>(process_memory_bytes(a.p))); }
Word least_heap(const Process& p) { return p.min_heap_words ? p.min_heap_words : kToldHeapWords; }
Term max_heap_size(ItemContext& a) { return max_heap_term(a.out, a.p.max_heap); }
Term min_heap_size(ItemContext& a) { return Term::small(static_cast<SWord>(least_heap(a.p))); }
Term min_bin_vheap_size(ItemContext& a) { return Term::small(static_cast<SWord>(off_heap_limit_of(a.p))); }
Term fullsweep_after(ItemContext& a) { return Term::small(a.p.fullsweep_after); }
Term garbage_collection(ItemContext& a) {
  const SWord minor = a.p.minor_collections == Process::kNeverCollected ? 0 : a.p.minor_collections;
  Term list = cons(a.out, pair(a.out, atoms::minor_gcs, Term::small(minor)), Term::nil());
  list = cons(a.out, pair(a.out, atoms::fullsweep_after, fullsweep_after(a)), list);
  list = cons(a.out, pair(a.out, atoms::min_heap_size, min_heap_size(a)), list);
  list = cons(a.out, pair(a.out, atoms::min_bin_vheap_size, min_bin_vheap_size(a)), list);
  return cons(a.out, pair(a.out, atoms::max_heap_size, max_heap_size(a)), list);
}
Term garbage_collection_info(ItemContext& a) { return heap_sizes(a.p, message_words_of(a.p), a.out); }
Term suspending(ItemContext& a) {
  Term list = Term::nil();
  if (a.p.extra)
    a.p.extra->suspending.for_each([&](Term pid, const Suspending& s) {
      if (!process_table.find(pid)) return;
      const Term times = Term::small(s.times), none = Term::small(0);
      Term* hp = a.out.alloc(4);
      list = cons(a.out, make_tuple(hp, pid, s.is_active ? times : none, s.is_active ? none : times), list);
    });
  return list;
}
/// [{Address, Bytes, References}] of the objects outside of the heap to which the process has
/// handles of kind `sub`.
Term outside(ItemContext& a, Term::Sub sub, const Binary* (*of)(const OffHeapObject*)) {
  Term list = Term::nil();
  for (const OffHeapObject* const first : {a.p.heap.off_heap, a.p.heap.old_off_heap})
    for (const OffHeapObject* o = first; o; o = o->next) {
      if (o->header.header_sub() != sub) continue;
      list = cons(a.out, binary_info(a.out, *of(o)), list);
    }
  return list;
}
Term binary(ItemContext& a) {
  return outside(a, Term::Sub::kRefcBinary, [](const OffHeapObject* o) -> const Binary* {
    return reinterpret_cast<const RefcBinary*>(o)->binary;
  });
}
Term magic_ref(ItemContext& a) {
  return outside(a, Term::Sub::kMagicRef, [](const OffHeapObject* o) -> const Binary* {
    return reinterpret_cast<const MagicRefObject*>(o)->resource;
  });
}
Term parent(ItemContext& a) { return a.p.parent.is_nil() ? atoms::undefined : copy_to(a.out, a.p.parent); }
Term message_queue_data(ItemContext& a) {
  return a.p.extra && a.p.extra->off_heap_messages ? atoms::off_heap : atoms::on_heap;
}
Term async_dist(ItemContext& a) { return bool_term(a.p.extra && a.p.extra->async_dist); }
Term priority_messages(ItemContext& a) { return bool_term(receives_priority_messages(a.p)); }
Term zero(ItemContext&) { return Term::small(0); }
Term sequential_trace_token(ItemContext& a) { return seq_token_term(a.p, a.out); }
Term trace_flags(ItemContext& a) {
  const Tracing* t = tracing_of(a.p, default_session()->number);
  return Term::small(t ? t->flags : 0);
}
Term last_calls(ItemContext& a) { return saved_calls(a.p, a.out); }

// ---- While the process runs on ------------------------------------------------------------------

// Called in another thread. They look at what does not change, and at what any thread may read.
// They return the non-value if that does not suffice.

Term group_leader_now(ItemContext& a) {
  const Term leader = std::atomic_ref(a.p.group_leader).load(std::memory_order_relaxed);
  return leader.is_immed() ? leader : kNonValue;
}
Term message_queue_len_now(ItemContext& a) {
  const Word length = a.p.mailbox.length_now();
  return length == Mailbox::kUnknown ? kNonValue : Term::small(static_cast<SWord>(length));
}
/// The reductions of earlier slices.
Term reductions_now(ItemContext& a) {
  const auto done = static_cast<SWord>(a.p.reductions_done);
  return done < 0 ? kNonValue : Term::small(done);  // it is just giving up its first slice
}
/// A process that is about to wait, or has just been woken, has to be asked.
Term status_now(ItemContext& a) {
  if (a.p.suspend_count) return atoms::suspended;
  const WaitKind kind = a.p.wait_kind;
  if (kind == WaitKind::kDirty) return is_queued_for_dirty(a.p) ? atoms::runnable : atoms::running;
  if (kind != WaitKind::kNone) return kNonValue;
  const Core* on = a.p.scheduler;
  return on && on->current == &a.p ? atoms::running : atoms::runnable;
}

struct Item {
  Term name;
  Term (*value)(ItemContext&);
  bool by_default;  // part of process_info/1, in this order
  Term (*now)(ItemContext&) = nullptr;
};

constexpr Item kItems[] = {
    {atoms::registered_name, registered_name, true, registered_name},
    {atoms::current_function, current_function, true},
    {atoms::initial_call, initial_call, true, initial_call},
    {atoms::status, status, true, status_now},
    {atoms::message_queue_len, message_queue_len, true, message_queue_len_now},
    {atoms::links, links, true},
    {atoms::dictionary, dictionary, true},
    {atoms::trap_exit, trap_exit, true, trap_exit},
    {atoms::error_handler, error_handler, true},
    {atoms::priority, priority, true, priority},
    {atoms::group_leader, group_leader, true, group_leader_now},
    {atoms::total_heap_size, total_heap_size, true},
    {atoms::heap_size, heap_size, true},
    {atoms::stack_size, stack_size, true},
    {atoms::reductions, reductions, true, reductions_now},
    {atoms::garbage_collection, garbage_collection, true},
    {atoms::suspending, suspending, true},
    {atoms::messages, messages, false},
    {atoms::monitors, monitors, false},
    {atoms::monitored_by, monitored_by, false},
    {atoms::current_location, current_location, false},
    {atoms::current_stacktrace, stacktrace, false},
    {atoms::backtrace, backtrace, false},
    {atoms::memory, memory, false},
    {atoms::binary, binary, false},
    {atoms::magic_ref, magic_ref, false},
    {atoms::parent, parent, false},
    {atoms::message_queue_data, message_queue_data, false},
    {atoms::min_heap_size, min_heap_size, false},
    {atoms::min_bin_vheap_size, min_bin_vheap_size, false},
    {atoms::fullsweep_after, fullsweep_after, false},
    {atoms::max_heap_size, max_heap_size, false},
    {atoms::garbage_collection_info, garbage_collection_info, false},
    {atoms::catchlevel, zero, false},
    {atoms::last_calls, last_calls, false},
    {atoms::sequential_trace_token, sequential_trace_token, false},
    {atoms::trace, trace_flags, false},
    {atoms::priority_messages, priority_messages, false},
    {atoms::async_dist, async_dist, false},
    {atoms::label, label, false},
};

const Item* find_item(Term name) {
  if (name == atoms::label && !release_has(Trait::kProcessLabels)) return nullptr;
  for (const Item& item : kItems)
    if (item.name == name) return &item;
  return nullptr;
}

/// Whether it is {dictionary, Key}.
bool is_dictionary_key(Term what) {
  return what.is_tuple() && what.tuple_arity() == 2 && what.element(0) == atoms::dictionary &&
         release_has(Trait::kDictionaryItem);
}
bool is_item(Term what) { return find_item(what) || is_dictionary_key(what); }

Term default_items(ItemContext& a) {
  Term list = Term::nil();
  for (std::size_t i = std::size(kItems); i-- > 0;) {
    if (!kItems[i].by_default) continue;
    const Term value = kItems[i].value(a);
    if (kItems[i].name == atoms::registered_name && value.is_nil()) continue;
    list = cons(a.out, pair(a.out, kItems[i].name, value), list);
  }
  return list;
}

}  // namespace

Word process_memory_bytes(Process& p) {
  const Heap& h = p.heap;
  Word bytes = sizeof(Process) + 8 * (h.block_words() + old_words(h) + h.fragment_words);
  for (const Fragment* f = inner_queue(p); f; f = f->next)
    bytes += sizeof(Fragment) + 8 * Word{f->capacity_words};
  if (p.extra) {
    bytes += sizeof(Extra) + p.extra->dictionary.memory_bytes() + p.extra->links.memory_bytes() +
             p.extra->monitors.memory_bytes() + p.extra->monitored_by.memory_bytes();
  }
  return bytes;
}

Term max_heap_term(Heap& out, MaxHeap max_heap) {
  Term pairs[8] = {atoms::error_logger,
                   bool_term(max_heap.log),
                   atoms::kill,
                   bool_term(max_heap.kill),
                   atoms::size,
                   Term::small(static_cast<SWord>(max_heap.words)),
                   atoms::include_shared_binaries,
                   bool_term(max_heap.binaries)};
  return map_from_pairs(out, pairs, release_has(Trait::kBinariesInHeapLimit) ? 4 : 3);
}

Term process_info_item(Process& p, Term name, Heap& out, bool running) {
  ItemContext a{p, out, running};
  if (is_dictionary_key(name)) return pair(out, copy_to(out, name), in_dictionary(a, name.element(1)));
  const Item* item = find_item(name);
  if (!item) {
    if (!lifecycle_upcalls.inner_item) return kNonValue;
    const Term inner = lifecycle_upcalls.inner_item(p, name, out);
    return inner ? pair(out, name, inner) : kNonValue;
  }
  const Term value = item->value(a);
  // If only the name of a process without one is requested, the answer is [].
  return pair(out, name, value);
}

std::vector<Term> process_info_items() {
  std::vector<Term> names;
  for (const Item& item : kItems)
    if (find_item(item.name)) names.push_back(item.name);
  return names;
}

bool looks_through_heap(Term what) {
  const auto does = [](Term name) {
    return name == atoms::binary || name == atoms::magic_ref || name == atoms::backtrace;
  };
  if (!what.is_list()) return does(what);
  for (; what.is_list(); what = what.tail())
    if (does(what.head())) return true;
  return false;
}

bool is_process_info(Term what) {
  if (!what || what == atoms::true_) return true;
  if (!what.is_cons_or_nil()) return is_item(what);
  for (; what.is_list(); what = what.tail())
    if (!is_item(what.head())) return false;
  return what.is_nil();
}

namespace {

/// Whether an item shows messages themselves, or how much memory they take.
bool looks_at_messages(Term what) {
  const auto does = [](Term name) {
    return name == atoms::messages || name == atoms::total_heap_size || name == atoms::memory;
  };
  for (; what.is_list(); what = what.tail())
    if (does(what.head())) return true;
  return what == atoms::true_ || does(what);
}

}  // namespace

namespace {

/// Returns the non-value when an item is the non-value.
template <class F>
Term list_of(Term names, Heap& out, F&& item_of) {
  Term head = Term::nil();
  Term* tail = nullptr;
  for (; names.is_list(); names = names.tail()) {
    const Term item = item_of(names.head());
    if (!item) return kNonValue;
    const Term cell = cons(out, item, Term::nil());
    if (tail) *tail = cell;
    else head = cell;
    tail = cell.list_ptr() + 1;
  }
  return head;
}

}  // namespace

Term process_info(Process& p, Term what, Heap& out, bool running) {
  if (p.extra && p.extra->undecodable && looks_at_messages(what)) [[unlikely]]
    look_at_undecodable(p);
  if (what == atoms::true_) {
    ItemContext a{p, out, running};
    return default_items(a);
  }
  if (!what.is_cons_or_nil()) {
    if (what == atoms::registered_name && p.registered_name.load(std::memory_order_relaxed) == 0)
      return Term::nil();
    return process_info_item(p, what, out, running);
  }
  return list_of(what, out, [&](Term name) { return process_info_item(p, name, out, running); });
}

Term process_info_now(Process& p, Term what, Heap& out) {
  ItemContext a{p, out, false};
  const auto item_now = [&](Term name) {
    const Item* const item = find_item(name);
    const Term value = item && item->now ? item->now(a) : kNonValue;
    return value ? pair(out, name, value) : kNonValue;
  };
  if (what.is_cons_or_nil()) return list_of(what, out, item_now);
  const Term info = item_now(what);
  return what == atoms::registered_name && info.element(1).is_nil() ? Term::nil() : info;
}

Term binary_info(Heap& out, const Binary& binary) {
  const Term address = make_unsigned(out, reinterpret_cast<Word>(&binary));
  const auto references = static_cast<SWord>(binary.references.load(std::memory_order_relaxed));
  return new_tuple(out, address, Term::small(static_cast<SWord>(binary.used_bytes)), Term::small(references));
}

}  // namespace vmrun
