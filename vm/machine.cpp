// SPDX-License-Identifier: Apache-2.0
#include "vm/machine.hpp"

#include "vm/base/base_upcalls.hpp"
#include "vm/code/code_upcalls.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/module.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/controller_process.hpp"
#include "vm/dist/message.hpp"
#include "vm/dist/outgoing.hpp"
#include "vm/heap/heap.hpp"
#include "vm/heap/heap_upcalls.hpp"
#include "vm/heap/literal.hpp"
#include "vm/heap/off_heap.hpp"
#include "vm/hot/heating.hpp"
#include "vm/lifecycle/lifecycle_upcalls.hpp"
#include "vm/message/clock_service.hpp"
#include "vm/message/message_upcalls.hpp"
#include "vm/message/send.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/nif/library.hpp"
#include "vm/nif/nif_library.hpp"
#include "vm/nif/resource.hpp"
#include "vm/port/operations.hpp"
#include "vm/port/signals.hpp"
#include "vm/port/task.hpp"
#include "vm/process/aliases.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_upcalls.hpp"
#include "vm/process/return_address.hpp"
#include "vm/sched/sched_upcalls.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/term_upcalls.hpp"
#include "vm/trace/trace.hpp"
#include "vm/trace/trace_upcalls.hpp"

// A function for each folder that supplies something, with all it supplies. The docs suite compares
// it with test/harness/arrows.tab.
namespace vmrun {
namespace {

void connect_heap() {
  term_upcalls.alloc_outside = [](TermSpace& s, Word words) {
    return static_cast<Heap&>(s).alloc_fragment(words);
  };
  term_upcalls.give_back = [](TermSpace& s, Term* from, Term* alloc_end) {
    static_cast<Heap&>(s).give_back_words(from, alloc_end);
  };
  term_upcalls.empty_tuple = empty_tuple_literal;
  term_upcalls.binary_allocated = fire_allocated;
  term_upcalls.binary_resized = fire_resized;
  term_upcalls.binary_released = fire_released;
}

void connect_process() {
  term_upcalls.alias_written = note_alias_written;
  term_upcalls.alias_owner = owner_of_written_alias;
  heap_upcalls.current_process_id = [] {
    const Process* p = process_here();
    return p ? p->id : kNonValue;
  };
}

void connect_trace() { process_upcalls.release_tracing = release_tracing; }

void connect_message() {
  base_upcalls.offset_changed = tell_of_time_offset;
  trace_upcalls.send_event = send_from_vm;
}

void connect_sched() {
  term_upcalls.let_others_run = let_others_run;
  process_upcalls.make_runnable = queue_process;
  process_upcalls.make_runnable_again = queue_process_again;
  process_upcalls.make_runnable_unobserved = queue_process_unobserved;
  process_upcalls.request_boost_scan = scan_for_boosts;
  trace_upcalls.scheduler_number = scheduler_number;
  trace_upcalls.note_idle_schedulers = note_idle_schedulers;
}

void connect_code() {
  term_upcalls.make_stub = make_stub;
  process_upcalls.header_at = function_header_at;
  process_upcalls.location = source_place;
  process_upcalls.stacktrace = stack_frames;
  process_upcalls.runs_old_code = runs_old_code;
  process_upcalls.take_part_in_reclaim = take_part_in_reclaim;
  process_upcalls.hold_reclaim = hold_reclaim;
  process_upcalls.release_reclaim = release_reclaim;
  trace_upcalls.is_replaced = is_of_replaced_version;
  trace_upcalls.is_end_awaited = is_end_awaited;
  ends_of_calls[0] = bare_operation(op::ends_calls);
  end_of_process[0] = bare_operation(op::process_end);
  line_breakpoint_end[0] = bare_operation(op::line_breakpoint_end);
}

void connect_hot() {
  code_upcalls.look_for_heat = look_for_heat;
  code_upcalls.cool = cool;
  code_upcalls.forget_heat = forget_heat;
  code_upcalls.compile_all = compile_all;
  code_upcalls.guessed_wrong = guessed_wrong;
}

void connect_port() {
  process_upcalls.port_name = port_name;
  process_upcalls.port_is_open = port_takes_name;
  process_upcalls.port_is_seen_by_programs = [](Term port) { return port_table.is_seen_by_programs(port); };
  trace_upcalls.port_is_there = is_open_port;
  trace_upcalls.send_event_to_port = send_trace_event_to_port;
  trace_upcalls.mark_ports = mark_profiled_ports;
  receivers.port = &port_receiver();
  sched_upcalls.run_port = run_port;
  sched_upcalls.port_timer_fired = port_timer_fired;
  sched_upcalls.reclaim_ports = reclaim_ports;
}

void connect_dist() {
  term_upcalls.release_channel = [](void* channel) { static_cast<dist::Channel*>(channel)->release(); };
  message_upcalls.decode_payload_of = dist::decode_late;
  message_upcalls.refuse_undecodable = dist::refuse_late;
  message_upcalls.link_signal_arrives = dist::link_signal_arrives;
  receivers.remote = &dist::remote_receiver;
  lifecycle_upcalls.leave_distribution = dist::leave_distribution;
  lifecycle_upcalls.end_connections = dist::end_connections;
}

void connect_nif() {
  term_upcalls.destroy_resource = destroy_resource;
  term_upcalls.expose_resource = expose_resource;
  term_upcalls.find_resource = find_resource;
  trace_upcalls.native_is_there = traces_by_library;
  trace_upcalls.call_native = call_library_tracer;
  receivers.resource = &resource_receiver();
  sched_upcalls.run_dirty = run_dirty;
  code_upcalls.native_library_path = [](const NifLibrary* l) -> const std::string& { return l->path; };
}

}  // namespace

void connect_machine() {
  connect_heap();
  connect_process();
  connect_trace();
  connect_message();
  connect_sched();
  connect_code();
  connect_hot();
  connect_port();
  connect_dist();
  connect_nif();
}

}  // namespace vmrun
