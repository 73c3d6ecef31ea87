// SPDX-License-Identifier: Apache-2.0
// Functions that OTP's preloaded modules call under the name erts_internal. Many of them are
// built-in functions of module erlang that return a reason where those raise it: bif.tab names
// them.

#include <algorithm>
#include <span>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/here_or_was.hpp"
#include "runtime/bif/or_reason.hpp"
#include "runtime/bif/process_options.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/epoch.hpp"
#include "vm/code/beam_file.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/message/request.hpp"
#include "vm/message/send.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/long_compare.hpp"
#include "vm/term/map.hpp"

namespace vmrun {

// ---- Ports --------------------------------------------------------------------------------------

/// Returns {ok, Answer}.
Term bif_erts_internal_port_call_3(Process& p, const Term* a) {
  const Term answer = bif_erlang_port_call_3(p, a);
  return answer ? new_tuple(p.heap, atoms::ok, answer) : or_reason(p, answer);
}

// ---- Processes ----------------------------------------------------------------------------------

/// (Leader, Process, Ref): returns ok; the answer is a message {Ref, true | badarg}.
Term bif_erts_internal_group_leader_3(Process& p, const Term* a) {
  if (!a[2].is_ref()) return raise_badarg(p);
  if (a[0].is_pid() && a[1].is_local_pid() && a[1] != p.id)
    ask_async(p, a[1], RequestKind::kGroupLeader, a[0], atoms::undefined, a[2], atoms::badarg);
  else send_from_vm(p.id, new_tuple(p.heap, a[2], or_reason(p, bif_erlang_group_leader_2(p, a))));
  return atoms::ok;
}

/// (Process, Ref): returns ok; the answer is a message {Ref, Bool}.
Term bif_erts_internal_is_process_alive_2(Process& p, const Term* a) {
  if (!a[0].is_local_pid() || !a[1].is_ref()) return raise_badarg(p);
  ask_async(p, a[0], RequestKind::kIsAlive, Term::nil(), atoms::undefined, a[1], atoms::false_);
  return atoms::ok;
}

/// (major | minor): collects the caller's garbage.
Term bif_erts_internal_garbage_collect_1(Process& p, const Term* a) {
  Term* hp = p.heap.alloc(2);
  const Term options = make_cons(hp, new_tuple(p.heap, atoms::type, a[0]), Term::nil());
  const Term with_options[] = {p.id, options};
  return bif_erlang_garbage_collect_2(p, with_options);
}

/// (Process, Priority, {Kind, Id, Argument}): returns ok; the answer is a message {Kind, Id,
/// Answer}. The process serves the request between two slices, at that priority if its own is
/// lower. A request to copy literals is refused, because the machine does that itself
/// (code/reclaim.hpp). A process of a former node of this name answers as one that has ended.
Term bif_erts_internal_request_system_task_3(Process& p, const Term* a) {
  static const Term check_process_code = intern_atom("check_process_code"), inherit = intern_atom("inherit"),
                    system_task_test = intern_atom("system_task_test");
  std::uint8_t priority = p.priority;
  if (!is_here_or_was(a[0]) || (a[1] != inherit && !read_priority(a[1], &priority)) || !a[2].is_tuple())
    return raise_badarg(p);
  const Word arity = a[2].tuple_arity();
  if (arity == 2 && a[2].element(0) == system_task_test) {  // for callers that only want to know when it is
                                                            // done
    ask_async(p, priority, a[0], RequestKind::kNothing, Term::nil(), system_task_test, a[2].element(1),
              atoms::false_);
    return atoms::ok;
  }
  if (arity != 3) return raise_badarg(p);
  const Term kind = a[2].element(0), id = a[2].element(1), argument = a[2].element(2);
  if (kind == atoms::garbage_collect && (argument == atoms::major || argument == atoms::minor))
    ask_async(p, priority, a[0], RequestKind::kGarbageCollect, argument, kind, id, atoms::false_);
  else if (kind == check_process_code && argument.is_atom())
    ask_async(p, priority, a[0], RequestKind::kRunsOldCode, argument, kind, id, atoms::false_);
  else return raise_badarg(p);
  return atoms::ok;
}
/// Takes the process that gets the answer in front. It must be the caller.
Term bif_erts_internal_request_system_task_4(Process& p, const Term* a) {
  return a[0] == p.id ? bif_erts_internal_request_system_task_3(p, a + 1) : raise_badarg(p);
}

Term bif_erts_internal_check_process_code_1(Process& p, const Term* a) {
  const Term of_caller[] = {p.id, a[0]};
  return bif_erlang_check_process_code_2(p, of_caller);
}

/// (Module, Function, Arguments, Options).
Term bif_erts_internal_spawn_request_4(Process& p, const Term* a) {
  if (a[2].is_atom()) return atoms::badarg;  // spawn_request/4 would take it for a function
  return or_reason(p, bif_erlang_spawn_request_4(p, a));
}

// ---- Terms --------------------------------------------------------------------------------------

/// Returns -1, 0 or 1 in the order of map keys; maps:iterator(Map, ordered) sorts by it. A long
/// comparison gives way in between, on the scheduler.
Term bif_erts_internal_cmp_term_2(Process&, const Term* a) {
  return Term::small(std::clamp(compare_keys_of_any_size(a[0], a[1]), -1, 1));
}

namespace {

const char* boxed_type(Term t) {
  using Sub = Term::Sub;
  switch (t.boxed_ptr()->header_sub()) {
    case Sub::kTuple: return "tuple";
    case Sub::kPosBig:
    case Sub::kNegBig: return "bignum";
    case Sub::kRef:
    case Sub::kMagicRef: return "reference";
    case Sub::kFun: return fun_of(t)->is_external ? "export" : "fun";
    case Sub::kFloat: return "hfloat";
    case Sub::kRefcBinary: return "refc_binary";
    case Sub::kHeapBinary: return "heap_binary";
    case Sub::kMatchContext:
    case Sub::kSubBinary: return "sub_binary";
    case Sub::kMap:
      return is_flat_map(t)                                   ? "flatmap"
             : map_kind(*t.boxed_ptr()) == MapKind::kHashRoot ? "hashmap"
                                                              : "hashmap_node";
    case Sub::kExternalPid: return "external_pid";
    case Sub::kExternalPort: return "external_port";
    case Sub::kExternalRef: return "external_reference";
    case Sub::kRecord: return "record";
  }
  return "unknown";
}

}  // namespace

/// Returns the representation of the term in the machine.
Term bif_erts_internal_term_type_1(Process&, const Term* a) {
  const Term t = a[0];
  const char* type = t.is_small()        ? "fixnum"
                     : t.is_atom()       ? "atom"
                     : t.is_nil()        ? "nil"
                     : t.is_list()       ? "list"
                     : t.is_local_pid()  ? "pid"
                     : t.is_local_port() ? "port"
                                         : boxed_type(t);
  return intern_atom(type);
}

/// Returns the keys of a map that is small enough to be flat, in order.
Term bif_erts_internal_map_to_tuple_keys_1(Process& p, const Term* a) {
  if (!a[0].is_map()) return raise_badmap(p, a[0]);
  return is_flat_map(a[0]) ? flatmap_of(a[0])->keys : raise_badarg(p);
}

// ---- The machine --------------------------------------------------------------------------------

/// The ticks per second of the clocks that erlang:monotonic_time/0 and os:perf_counter/0 read.
Term bif_erts_internal_time_unit_0(Process&, const Term*) { return Term::small(1'000'000'000); }

/// One for each scheduler, and one for all other threads.
Term bif_erts_internal_no_aux_work_threads_0(Process&, const Term*) {
  return Term::small(static_cast<SWord>(scheduler_count()) + 1);
}

/// (Bool): switches measuring on or off; returns the old setting.
Term bif_erts_internal_scheduler_wall_time_1(Process& p, const Term* a) {
  const Term flag[] = {intern_atom("scheduler_wall_time"), bool_term(a[0] == atoms::true_)};
  return bif_erlang_system_flag_2(p, flag);
}

/// Frees all literal areas that have been retired. The machine asks the processes itself, so there
/// is never an area for which the caller has to.
Term bif_erts_literal_area_collector_release_area_switch_0(Process& p, const Term*) {
  return give_back_all(p) ? kNonValue : atoms::false_;
}

/// Raises notsup: release_area_switch leaves nothing that would have to be requested.
Term bif_erts_literal_area_collector_send_copy_request_3(Process& p, const Term*) {
  return raise_error(p, intern_atom("notsup"));
}

/// Raises notsup for the processes that look after dirty native code as well.
Term bif_erts_internal_check_dirty_process_code_2(Process& p, const Term*) {
  return raise_error(p, intern_atom("notsup"));
}
Term bif_erts_internal_dirty_process_handle_signals_1(Process& p, const Term*) {
  return raise_error(p, intern_atom("notsup"));
}

/// Whether the process is on a dirty scheduler at this moment.
Term bif_erts_internal_is_process_executing_dirty_1(Process& p, const Term* a) {
  if (!a[0].is_local_pid()) return raise_badarg(p);
  const EpochGuard guard;
  bool found = false;
  for_each_dirty_scheduler([&](DirtyKind, unsigned, const Process* at) { found |= at && at->id == a[0]; });
  return bool_term(found);
}

/// Returns the number of messages about OTP's allocators that will follow: there are no such
/// allocators here.
Term bif_erts_internal_gather_alloc_histograms_1(Process& p, const Term* a) {
  return a[0].is_tuple() ? Term::small(0) : raise_badarg(p);
}
Term bif_erts_internal_gather_carrier_info_1(Process& p, const Term* a) {
  return a[0].is_tuple() ? Term::small(0) : raise_badarg(p);
}

// ---- Compiled modules ---------------------------------------------------------------------------

namespace {

bool read_chunk_name(Term list, ChunkName* name) {
  for (std::uint8_t& c : *name) {
    SWord n;
    if (!list.is_list() || !small_in_range(list.head(), 0, 255, &n)) return false;
    c = static_cast<std::uint8_t>(n);
    list = list.tail();
  }
  return list.is_nil();
}

}  // namespace

/// (Binary, "Name"): returns the chunk's bytes, or undefined when there is no such chunk.
Term bif_erts_internal_beamfile_chunk_2(Process& p, const Term* a) {
  ChunkName name;
  if (!is_binary(a[0]) || !read_chunk_name(a[1], &name)) return raise_badarg(p);
  const BytesOf bytes(a[0]);
  const std::span<const std::uint8_t> chunk = find_chunk(bytes.data(), bytes.size(), name);
  if (chunk.empty()) return atoms::undefined;
  const Term part[] = {a[0], Term::small(chunk.data() - bytes.data()),
                       Term::small(static_cast<SWord>(chunk.size()))};
  return bif_erlang_binary_part_3(p, part);
}

/// Returns what the module's module_info(md5) would be; undefined when the bytes are not a compiled
/// module.
Term bif_erts_internal_beamfile_module_md5_1(Process& p, const Term* a) {
  if (!is_binary(a[0])) return raise_badarg(p);
  if (too_long(bit_size_of(a[0]) / 8)) return run_on_dirty(p, bif_erts_internal_beamfile_module_md5_1, a, 1);
  const BytesOf bytes(a[0]);
  BeamFile file;
  BeamError error;
  if (!parse_beam(bytes.data(), bytes.size(), &file, &error)) return atoms::undefined;
  return make_binary(p.heap, file.md5, sizeof file.md5);
}

}  // namespace vmrun
