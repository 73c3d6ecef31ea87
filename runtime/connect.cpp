// SPDX-License-Identifier: Apache-2.0
#include "runtime/connect.hpp"

#include "probes/attach/attach_upcalls.hpp"
#include "probes/attach/firing.hpp"
#include "probes/attach/sample_firing.hpp"
#include "probes/inside.hpp"
#include "runtime/bif/bif_upcalls.hpp"
#include "runtime/bif/crash_report.hpp"
#include "runtime/bif/ddll.hpp"
#include "runtime/bif/machine_totals.hpp"
#include "runtime/bif/process_options.hpp"
#include "runtime/bif/relations_inside.hpp"
#include "runtime/bif/scheduling.hpp"
#include "runtime/bif/trace_actions.hpp"
#include "runtime/dump/asking.hpp"
#include "runtime/dump/machine_view.hpp"
#include "runtime/ets/table.hpp"
#include "vm/dist/dist_upcalls.hpp"
#include "vm/lifecycle/lifecycle_upcalls.hpp"
#include "vm/machine.hpp"
#include "vm/port/port_upcalls.hpp"
#include "vm/process/process_upcalls.hpp"
#include "vm/trace/trace_upcalls.hpp"

// As in vm/machine.cpp, a function for each folder.
namespace vmrun {
namespace {

void connect_attach() {
  probe::fire_inside = attach::fire_inside;
  probe::counts_of_thread = attach::make_counts;
  process_upcalls.deliver_samples = attach::deliver_samples;
  process_upcalls.note_sampled_process = attach::note_sampled_process;
}

void connect_ets() { lifecycle_upcalls.give_up_tables = ets::give_up_tables; }

void connect_bif() {
  attach_upcalls.each_total = each_machine_total;
  process_upcalls.report = report_text;
  trace_upcalls.match_call = match_traced_call;
  trace_upcalls.match_message = match_traced_message;
  lifecycle_upcalls.release_flags = release_flags;
  lifecycle_upcalls.report_crash = report_crash;
  lifecycle_upcalls.report_max_heap = report_max_heap;
  lifecycle_upcalls.inner_item = relations_item;
  port_upcalls.driver_unloaded = tell_driver_server;
  dist_upcalls.read_spawn_options = read_spawn_options;
}

void connect_dump() {
  bif_upcalls.processes_text = dump::text_of_processes;
  bif_upcalls.running_process_text = dump::text_of_running;
  bif_upcalls.fun_references = dump::count_fun_references;
  bif_upcalls.node_references = dump::references_of_nodes;
}

}  // namespace

void connect_runtime() {
  connect_machine();
  connect_attach();
  connect_ets();
  connect_bif();
  connect_dump();
}

}  // namespace vmrun
