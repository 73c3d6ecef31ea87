// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/internal_state.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>

#include "runtime/bif/bif_upcalls.hpp"
#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/process_list.hpp"
#include "runtime/bif/relations_inside.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_texts.hpp"
#include "vm/base/bind_order.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/release.hpp"
#include "vm/code/change_permission.hpp"
#include "vm/code/line_breakpoints.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/dist/node_events.hpp"
#include "vm/heap/copy.hpp"
#include "vm/hot/heating.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/info.hpp"
#include "vm/nif/resource.hpp"
#include "vm/nif/resource_select.hpp"
#include "vm/port/port.hpp"
#include "vm/port/select.hpp"
#include "vm/process/core.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/report.hpp"
#include "vm/sched/balance.hpp"
#include "vm/sched/stop_the_world.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external_atoms.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"
#include "vm/trace/system_monitor.hpp"

/// erts_debug:get_internal_state/1 and set_internal_state/2: what OTP's own tests read and change
/// inside its machine, as far as this one has it. Both exist only after
/// set_internal_state(available_internal_state, true).
namespace vmrun {

LoopLimit binary_loop_limit{static_cast<SWord>(kStepsOnScheduler)},
    unicode_loop_limit{static_cast<SWord>(kStepsOnScheduler)};

namespace {

std::atomic<bool> is_available{false};

Term make_available(Process& p, bool available) {
  if (available)
    report_warning(pid_text(p.id) + " may look into the machine and change it from now on: for tests only\n");
  return bool_term(is_available.exchange(available));
}

template <class Table>
Term next_of(const Table& table) {
  return Term::small(static_cast<SWord>(table.next_number()));
}

// ---- Setting ------------------------------------------------------------------------------------

Term set_reductions_left(Process& p, Term value) {
  SWord n;
  if (!value.is_small()) return raise_badarg(p);
  if (small_in_range(value, 0, this_core()->slice, &n)) p.reductions = static_cast<std::int32_t>(n);
  return atoms::true_;
}

void sleep_for(SWord ms) {
  timespec left{ms / 1000, ms % 1000 * 1'000'000};
  while (nanosleep(&left, &left) < 0 && errno == EINTR) {}
}

/// The scheduler sleeps, and with it the processes that wait for it.
Term sleep_here(Process& p, Term value) {
  if (!value.is_small()) return raise_badarg(p);
  if (value.small_value() > 0) sleep_for(value.small_value());
  return atoms::true_;
}

/// Runs on a dirty scheduler; the schedulers are stopped meanwhile.
Term hold_everything(Process&, const Term* ms) {
  const StopTheWorld schedulers{std::chrono::milliseconds(1000)};
  sleep_for(ms->small_value());
  return atoms::true_;
}
Term block_all(Process& p, Term value) {
  if (!value.is_small()) return raise_badarg(p);
  return value.small_value() > 0 ? run_on_dirty(p, hold_everything, &value, 1, DirtyKind::kIo) : atoms::true_;
}

/// Lengthens collections that a process monitors.
Term lengthen_collections(Process& p, Term value) {
  SWord ms;
  if (!small_in_range(value, 0, 10'000, &ms)) return raise_badarg(p);
  monitored_collections_take_ms.store(static_cast<Word>(ms), std::memory_order_relaxed);
  return atoms::true_;
}

/// Makes the calling process collect garbage, if the process in the argument is alive.
Term force_collection(Process& p, Term pid) {
  const Term alive = pid == p.id ? atoms::true_ : bif_erlang_is_process_alive_1(p, &pid);
  if (alive != atoms::true_) return alive;
  const Term minor = atoms::minor;
  return bif_erts_internal_garbage_collect_1(p, &minor);
}

/// Leaves no room in the heap of the caller, so that whatever is built next collects.
Term fill_heap(Process& p, Term) {
  const Word free = p.heap.free_words();
  if (free > kStackReserveWords) {
    const Word words = free - kStackReserveWords;
    std::fill_n(p.heap.alloc(words), words, Term::nil());
  }
  return atoms::ok;
}

/// Sets whether the caller is collected; returns the old setting.
Term set_gc_state(Process& p, Term value) {
  if (value != atoms::true_ && value != atoms::false_) return raise_badarg(p);
  const bool was = !collections_are_forbidden(p);
  forbid_collections(p, value == atoms::false_);
  return bool_term(was);
}

/// `start`: stops collections of the caller and returns a tuple with a false header. Called with
/// that tuple: repairs it and allows collections again.
Term break_heap(Process& p, Term value) {
  static const Term start = intern_atom("start");
  constexpr Word kTrueArity = 2, kFalseArity = 1234;
  if (value == start) {
    Term* hp = p.heap.alloc(1 + kTrueArity);
    const Term broken = make_tuple(hp, start, start);
    *broken.boxed_ptr() = Term::header(Term::Sub::kTuple, kFalseArity);
    broken.boxed_ptr()[1] = broken.boxed_ptr()[2] = Term::boxed(broken.boxed_ptr() + 1);
    forbid_collections(p, true);
    return broken;
  }
  if (!value.is_tuple() || value.tuple_arity() != kFalseArity || !collections_are_forbidden(p))
    return raise_badarg(p);
  Term* hp = value.boxed_ptr();
  (void)make_tuple(hp, start, start);
  forbid_collections(p, false);
  return atoms::ok;
}

/// {Reference, Address} of a resource that keeps some memory of the machine.
ErlNifResourceType& kept_memory_type() {
  static auto& type = new_resource_type(intern_atom("erts_debug"), atoms::magic_ref);
  return type;
}
Term address_of(Process& p, const Resource& r) {
  return make_unsigned(p.heap, reinterpret_cast<Word>(&r.binary));
}
Term make_something(Process& p, Term what) {
  if (what != atoms::magic_ref) return raise_badarg(p);
  Resource* r = new_zeroed_resource(kept_memory_type(), sizeof(Word));
  if (!r) return raise_system_limit(p);
  const Term reference = make_magic_ref(p.heap, *r);
  r->binary.release();  // the reference has its own
  return new_tuple(p.heap, reference, address_of(p, *r));
}

/// Returns the old limit.
Term set_loop_limit(Process& p, LoopLimit& limit, Term value) {
  static const Term usual = intern_atom("default");
  SWord n = limit.usual;
  if (value != usual && !small_in_range(value, 1, UINT32_MAX, &n)) return raise_badarg(p);
  return Term::small(limit.steps.exchange(n));
}

/// Waits until every scheduler has passed a slice: memory that was unlinked before is freed, and
/// requests to the schedulers are done.
Term wait_for_progress(Process& p, Term what) {
  if (!what.is_atom()) return raise_badarg(p);
  for (const char* name : {"deallocations", "timer_cancellations", "aux_work", "thread_progress"})
    if (atom_text(what) == name) return bif_erts_internal_system_check_1(p, nullptr);
  // All functions that were to be compiled are.
  if (atom_text(what) == "machine_code")
    return run_on_dirty(
        p, [](Process&, const Term*) { return await_compiler(), atoms::ok; }, nullptr, 0);
  return raise_badarg(p);
}

/// Returns nullptr when there is no connection.
std::shared_ptr<dist::Connection> connection_to(Term node) {
  dist::Channel* const channel = dist::find_channel_to(node);
  return channel ? channel->connection() : nullptr;
}

Term kill_connection(Process& p, Term node) {
  if (!node.is_atom()) return raise_badarg(p);
  const auto connection = connection_to(node);
  if (connection) connection->end(atoms::killed);
  return bool_term(connection != nullptr);
}

Term set_marker_counter(Process& p, Term value) {
  std::uint64_t n;
  if (!integer_to_uint64(value, &n)) return raise_badarg(p);
  extra_of(p).next_marker = static_cast<std::uint32_t>(n);
  return atoms::ok;
}

/// As with +D.
Term set_debugger_support(Process&, Term value) {
  if (value != atoms::true_) return atoms::badarg;
  debugger_supported.store(true, std::memory_order_relaxed);
  return atoms::ok;
}

/// Gives the caller alone the permission to change code, or gives it back.
Term set_code_permission(Process& p, Term value) {
  if (value == atoms::false_) return bool_term(give_code_permission_back(p));
  if (value != atoms::true_) return raise_badarg(p);
  return take_code_permission(p) ? atoms::true_ : kNonValue;
}

/// Sets the number that the next process or port gets: the one behind N. In OTP they go round at
/// 2^28. Here numbers only grow, so none occurs twice.
template <class Table>
Term set_next(Process& p, Table& table, Term value) {
  std::uint64_t n;
  if (!integer_to_uint64(value, &n)) return raise_badarg(p);
  table.go_on_from(n + 1);
  return next_of(table);
}

/// Sets how many monotonic integers have been given out; a negative number counts back from 2^64.
Term set_monotonic_integer(Process&, Term value) {
  std::uint64_t n;
  std::int64_t below;
  if (!integer_to_uint64(value, &n)) {
    if (!integer_to_int64(value, &below)) return atoms::false_;
    n = static_cast<std::uint64_t>(below);
  }
  set_last_monotonic_integer(n);
  return atoms::true_;
}

/// Sets how many milliseconds nodes without references stay; a negative number restores the
/// default.
Term set_node_delay(Process& p, Term ms) {
  static const Word usual = node_delay_ns.load(std::memory_order_relaxed);
  if (!ms.is_small()) return raise_badarg(p);
  const SWord n = ms.small_value();
  node_delay_ns.store(n < 0 ? usual : static_cast<Word>(n) * 1'000'000, std::memory_order_relaxed);
  return atoms::ok;
}

/// Flags that the node does not offer from now on. Mandatory ones must remain.
Term remove_flags(Process& p, Term value) {
  SWord flags;
  if (!small_in_range(value, 0, Term::kSmallMax, &flags)) return raise_badarg(p);
  const auto removed = static_cast<dist::Flags>(flags);
  if (removed & dist::flags_that_are(dist::kMandatory, release_number)) return raise_badarg(p);
  dist::removed_flags.store(removed, std::memory_order_relaxed);
  return atoms::ok;
}

struct Setting {
  const char* name;
  Term (*set)(Process& p, Term value);
};

constexpr Setting kSettings[] = {
    {"reds_left", set_reductions_left},
    {"sleep", sleep_here},
    {"test_long_gc_sleep", lengthen_collections},
    {"block_scheduler", sleep_here},
    {"block", block_all},
    {"force_gc", force_collection},
    {"gc_state", set_gc_state},
    {"fill_heap", fill_heap},
    {"inconsistent_heap", break_heap},
    {"make", make_something},
    {"binary_loop_limit", [](Process& p, Term v) { return set_loop_limit(p, binary_loop_limit, v); }},
    {"unicode_loop_limit", [](Process& p, Term v) { return set_loop_limit(p, unicode_loop_limit, v); }},
    {"re_loop_limit", [](Process& p, Term v) { return set_loop_limit(p, re_loop_limit, v); }},
    {"next_pid", [](Process& p, Term v) { return set_next(p, process_table, v); }},
    {"next_port", [](Process& p, Term v) { return set_next(p, port_table, v); }},
    {"wait", wait_for_progress},
    {"kill_dist_connection", kill_connection},
    {"process_uniq_counter", set_marker_counter},
    {"code_write_permission", set_code_permission},
    {"debugger_support", set_debugger_support},
    {"code_mod_permission", set_code_permission},  // its name since OTP 26
    {"node_tab_delayed_delete", set_node_delay},
    // Its names before and since OTP 28.
    {"remove_hopefull_dflags", remove_flags},
    {"remove_dflags", remove_flags},
    {"unique_monotonic_integer_state", set_monotonic_integer},
    // Whether many processes may send to the process at once without waiting for each other. Here
    // this is always so.
    {"proc_sig_buffers", [](Process&, Term) { return atoms::true_; }},
    // Controls how OTP splits an ordered set that many processes write to. No table is split here.
    {"ets_force_split", [](Process&, Term) { return atoms::ok; }},
    {"ets_debug_random_split_join", [](Process&, Term) { return atoms::ok; }},
    // Returns a copy of the term.
    {"mbuf", [](Process& p, Term v) { return copy_to(p.heap, v, Literals::kCopied); }},
    // As in an OTP that was built without it.
    {"ets_force_trap", [](Process&, Term) { return intern_atom("notsup"); }},
};

// ---- Asking -------------------------------------------------------------------------------------

struct Question {
  const char* name;
  Term (*answer)(Process& p);
};

/// On an I/O dirty scheduler, because a scheduler must not wait for the schedulers.
Term all_node_references(Process& p) {
  const auto answer = [](Process& q, const Term*) { return bif_upcalls.node_references(q); };
  return run_on_dirty(p, answer, nullptr, 0, DirtyKind::kIo);
}

/// How processes/0 walks its table: {ptab_list_bif_info, reductions needed to begin, chunks of the
/// table, places in a chunk, places per reduction; then for processes that end meanwhile:
/// reductions to remove one, how many are examined per reduction, reductions for all; conses per
/// reduction, level of its checks}. A process that has ended meanwhile costs no more than a live
/// one.
Term processes_info(Process& p) {
  constexpr Word kChunk = ProcessTable::kChunk;
  return new_tuple(p.heap, intern_atom("ptab_list_bif_info"), Term::small(0),
                   Term::small(static_cast<SWord>(process_table.limit() / kChunk)),
                   Term::small(static_cast<SWord>(kChunk)), Term::small(kPlacesPerReduction), Term::small(0),
                   Term::small(0), Term::small(0), Term::small(kReductionsPerListed), Term::small(0));
}

/// Returns how many bytes of the scheduler's own stack are left.
Term stack_left(Process& p) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes)) return raise_badarg(p);
  void* lowest;
  std::size_t size;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const auto here = reinterpret_cast<Word>(__builtin_frame_address(0));
  return make_unsigned(p.heap, here - reinterpret_cast<Word>(lowest));
}

/// {Closed, Open, OfPorts, OfNativeCode}: how many of the descriptors that are selected or owned
/// are no longer open files, how many are, and whose they are.
Term check_io_state(Process& p) {
  const SelectedDescriptors ports = selected_descriptors();
  const SelectedByNative native = selected_by_native();
  const Word closed = ports.closed + native.closed;
  const auto number = [&](Word n) { return make_unsigned(p.heap, n); };
  return new_tuple(p.heap, number(closed), number(ports.known + native.known - closed), number(ports.known),
                   number(native.known));
}

constexpr Question kQuestions[] = {
    {"available_internal_state", [](Process&) { return atoms::true_; }},
    {"reds_left", [](Process& p) { return Term::small(p.reductions > 0 ? p.reductions : 0); }},
    {"debugger_support",
     [](Process&) { return bool_term(debugger_supported.load(std::memory_order_relaxed)); }},
    {"nbalance", [](Process& p) { return make_unsigned(p.heap, balances_done()); }},
    {"processes", list_processes_at_once},
    {"memory", [](Process& p) { return bif_erlang_memory_0(p, nullptr); }},
    {"processes_bif_info", processes_info},
    {"next_pid", [](Process&) { return next_of(process_table); }},
    {"next_port", [](Process&) { return next_of(port_table); }},
    {"unique_monotonic_integer_state",
     [](Process& p) { return make_unsigned(p.heap, last_monotonic_integer()); }},
    {"min_unique_monotonic_integer", [](Process& p) { return unique_integer_term(p.heap, 0, false); }},
    {"scheduler_dump", [](Process&) { return atoms::true_; }},
    {"force_heap_frags", [](Process&) { return atoms::false_; }},
    {"process_info_args",
     [](Process& p) {
       ListBuilder list(p.heap);
       for (const Term name : process_info_items()) list.add(name);
       return list.finish();
     }},
    {"max_atom_out_cache_index", [](Process&) { return Term::small(AtomReferences::kPlaces - 1); }},
    {"monitoring_nodes", [](Process& p) { return dist::subscription_list(p.heap); }},
    {"node_and_dist_references", all_node_references},
    {"persistent_term", persistent_term_state},
    {"stack_check", stack_left},
    {"check_io_debug", check_io_state},
    // As in an OTP whose hashes are not made worse for tests.
    {"hashmap_collision_bonanza", [](Process&) { return atoms::false_; }},
    // As in an OTP that was built without it.
    {"lc_graph", [](Process&) { return intern_atom("notsup"); }},
    {"flxctr_memory_usage", [](Process&) { return intern_atom("notsup"); }},
};

Term status_of(Process& p, Term pid) {
  const Term question[] = {pid, atoms::status};
  const Term status = bif_erlang_process_info_2(p, question);
  return status && status.is_tuple() ? status.element(1) : status;
}

/// heap_binary, or {refc_binary, Size, {binary, Allocated}, Flags}, for the bytes that the binary
/// refers to.
Term binary_info(Process& p, Term t) {
  if (!t.is_bitstring()) return raise_badarg(p);
  const Term* object = original_of(t).boxed_ptr();
  if (object->header_sub() != Term::Sub::kRefcBinary) return intern_atom("heap_binary");
  const auto* r = reinterpret_cast<const RefcBinary*>(object);
  const Term allocated = new_tuple(p.heap, atoms::binary, make_unsigned(p.heap, r->binary->capacity_bytes));
  return new_tuple(p.heap, intern_atom("refc_binary"), make_unsigned(p.heap, r->size_bytes), allocated,
                   make_unsigned(p.heap, r->flags));
}

Term atom_of_index(Process& p, Term index) {
  SWord n;
  return small_in_range(index, 0, static_cast<SWord>(atom_count()) - 1, &n) ? Term::atom(static_cast<Word>(n))
                                                                            : atoms::false_;
}

/// Returns the port or process that carries the connection to a node.
Term controller_of(Process& p, Term node) {
  if (!node.is_atom()) return raise_badarg(p);
  const auto connection = connection_to(node);
  return connection ? connection->controller : atoms::undefined;
}

Term place_in_cache(Process& p, Term atom) {
  return atom.is_atom() ? Term::small(AtomReferences::place_of(atom)) : raise_badarg(p);
}

/// {Address, References, whether make_something has made it}. true: a reference to a resource that
/// is gone, or one that is not resolved yet. false: any other term.
Term magic_reference(Process& p, Term t) {
  if (!t.is_boxed_sub(Term::Sub::kMagicRef))
    return bool_term(t.is_local_ref() && is_in(RefSpace::kResources, ref_key(t)));
  const Resource& r = *Resource::of_binary(magic_ref_of(t)->resource);
  const auto references = static_cast<SWord>(r.binary.references.load(std::memory_order_relaxed));
  return new_tuple(p.heap, address_of(p, r), Term::small(references),
                   bool_term(r.type == &kept_memory_type()));
}

struct QuestionOf {
  const char* name;
  Term (*answer)(Process& p, Term what);
};

/// All processors in the order of a bind type, whether or not there are schedulers for them.
Term bindings_by_type(Process& p, Term name) {
  const std::optional<BindType> type = name.is_atom() ? bind_type_named(atom_text(name)) : std::nullopt;
  if (!type) return raise_badarg(p);
  const std::vector<int> order = bind_order(known_places(), *type);
  if (order.empty()) return atoms::false_;
  Term* hp = p.heap.alloc(order.size() + 1);
  hp[0] = Term::header(Term::Sub::kTuple, order.size());
  for (std::size_t i = 0; i < order.size(); ++i) hp[i + 1] = Term::small(order[i]);
  return Term::boxed(hp);
}

constexpr QuestionOf kQuestionsOf[] = {
    {"process_status", status_of},
    {"binary_info", binary_info},
    {"atom", atom_of_index},
    {"dist_ctrl", controller_of},
    {"atom_out_cache_index", place_in_cache},
    {"magic_ref", magic_reference},
    {"fake_scheduler_bindings", bindings_by_type},
    {"link_list", link_list_of},
    {"monitor_list", monitor_list_of},
    // The hash that determines the first eight levels of a map's trie.
    {"internal_hash", [](Process& p, Term t) { return make_unsigned(p.heap, map_hash(t) & UINT32_MAX); }},
};

/// {check_time_config, Correction, Mode}: whether the machine can run with these. It always can.
bool asks_for_time_config(Term question) {
  return question.is_tuple() && question.tuple_arity() == 3 &&
         question.element(0) == intern_atom("check_time_config");
}

template <class Row, std::size_t N>
const Row* find(const Row (&rows)[N], Term name) {
  if (!name.is_atom()) return nullptr;
  for (const Row& row : rows)
    if (atom_text(name) == row.name) return &row;
  return nullptr;
}

}  // namespace

Term bif_erts_debug_set_internal_state_2(Process& p, const Term* a) {
  static const Term available = intern_atom("available_internal_state");
  if (a[0] == available && (a[1] == atoms::true_ || a[1] == atoms::false_))
    return make_available(p, a[1] == atoms::true_);
  if (!is_available.load(std::memory_order_relaxed)) return raise_error(p, atoms::undef);
  const Setting* setting = find(kSettings, a[0]);
  return setting ? setting->set(p, a[1]) : raise_badarg(p);
}

Term bif_erts_debug_get_internal_state_1(Process& p, const Term* a) {
  if (!is_available.load(std::memory_order_relaxed)) return raise_error(p, atoms::undef);
  if (const Question* question = find(kQuestions, a[0])) return question->answer(p);
  if (asks_for_time_config(a[0])) return atoms::true_;
  if (!a[0].is_tuple() || a[0].tuple_arity() != 2) return raise_badarg(p);
  const QuestionOf* question = find(kQuestionsOf, a[0].element(0));
  return question ? question->answer(p, a[0].element(1)) : raise_badarg(p);
}

/// Returns ok once every scheduler has passed a slice (schedulers).
Term bif_erts_internal_system_check_1(Process& p, const Term* a) {
  static const Term schedulers = intern_atom("schedulers");
  static Export* const await = export_entry(intern_atom("erts_internal"), intern_atom("await_epoch"), 1);
  if (a && a[0] != schedulers) return raise_badarg(p);
  return trap_to(p, await, {Term::small(static_cast<SWord>(epoch_stamp()))});
}

/// (A result of epoch_stamp.)
Term bif_erts_internal_await_epoch_1(Process& p, const Term* a) {
  SWord stamp;
  if (!small_in_range(a[0], 0, Term::kSmallMax, &stamp)) return raise_badarg(p);
  const Word wanted = static_cast<Word>(stamp);
  return epoch_passed(wanted) >= wanted ? atoms::ok : yield_and_retry(p);
}

}  // namespace vmrun
