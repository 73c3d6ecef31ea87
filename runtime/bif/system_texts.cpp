// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/system_texts.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>

#include <fmt/format.h>

#include "runtime/bif/allocators.hpp"
#include "runtime/bif/bif_upcalls.hpp"
#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/memory_items.hpp"
#include "runtime/bif/scheduling.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/microstate.hpp"
#include "vm/base/processors.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/module.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/message/send.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/port/select.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/taints.hpp"
#include "vm/sched/online.hpp"
#include "vm/sched/poll.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/big.hpp"
#include "vm/term/node.hpp"

// Information about the inside of OTP's machine. Where this machine is built differently, the
// answer is that of an OTP without the feature. There are no allocators of OTP's kind: each one
// that OTP names is reported as switched off.

namespace vmrun {

std::string distribution_text() {
  std::string text = "=node:" + term_text(local_node_name()) + "\n";
  if (!dist::is_alive()) text += "=no_distribution\n";
  dist::for_each_channel([&](dist::Channel& channel) {
    const auto connection = channel.connection();
    const char* kind = !connection                ? "not_connected"
                       : connection->is_visible() ? "visible_node"
                                                  : "hidden_node";
    text += fmt::format("={}:{}\nName: {}", kind, channel.number, term_text(channel.name));
    if (connection) text += "\nController: " + term_text(connection->controller);
    text += '\n';
  });
  return text;
}

namespace {

struct InsideItem {
  const char* name;
  Term (*value)(Process& p);
};

std::string memory_text() {
  std::string text = "=memory\n";
  for (const auto& [name, bytes] : memory_items()) text += fmt::format("{}: {}\n", name, bytes);
  return text;
}

/// Returns a line for each module, behind their total.
std::string loaded_text() {
  Word current = 0, old = 0;
  std::string lines;
  for (const Module* m : loaded_modules()) {
    const Word bytes = module_bytes(*m);
    current += bytes;
    append_atom_text(lines, m->name);
    lines += fmt::format(" {}", bytes);
    if (const Module* before = old_module(m->name)) {
      old += module_bytes(*before);
      lines += fmt::format(" ({} old)", module_bytes(*before));
    }
    lines += '\n';
  }
  return fmt::format("Current code: {}\nOld code: {}\n{}", current, old, lines);
}

std::string info_text() {
  return memory_text() +
         fmt::format("=index_table:atom_tab\nlimit: {}\nentries: {}\n", atom_limit(), atom_count());
}

/// Returns the modules that have, or had, a library of native functions.
Term taints_list(Process& p) {
  ListBuilder list(p.heap);
  for (const Term name : taints()) list.add(name);
  return list.finish();
}

/// There is one set of descriptors, polled by epoll, which is told of each change at once.
Term check_io(Process& p) {
  ListBuilder items(p.heap);
  const auto add = [&](const char* name, Term value) {
    items.add(new_tuple(p.heap, intern_atom(name), value));
  };
  rlimit most;
  getrlimit(RLIMIT_NOFILE, &most);
  const SelectedDescriptors selected = selected_descriptors();
  const Word in_set = poll_set_size();
  add("name", intern_atom("erts_poll"));
  add("primary", intern_atom("epoll"));
  add("kernel_poll", intern_atom("epoll"));
  add("memory_size", make_unsigned(p.heap, selected.bytes));
  add("total_poll_set_size", make_unsigned(p.heap, in_set));
  add("lazy_updates", atoms::false_);
  add("pending_updates", Term::small(0));
  add("batch_updates", atoms::false_);
  add("concurrent_updates", atoms::true_);
  add("fallback", atoms::false_);
  add("max_fds", make_unsigned(p.heap, most.rlim_cur));
  add("active_fds", make_unsigned(p.heap, selected.active));
  add("poll_threads", Term::small(in_set ? 1 : 0));  // started with the set
  ListBuilder sets(p.heap);
  sets.add(items.finish());
  return sets.finish();
}

/// The flags of the compiler are not recorded.
Term compile_info(Process& p) {
  ListBuilder list(p.heap);
  for (const char* name : {"ldflags", "cflags", "config_h"})
    list.add(new_tuple(p.heap, intern_atom(name), Term::nil()));
  return list.finish();
}

/// While multi-scheduling is blocked only one is active.
Term schedulers_active(bool blocked) { return Term::small(blocked ? 1 : schedulers_online()); }

Term schedulers_state(Process& p) {
  return new_tuple(p.heap, Term::small(scheduler_count()), Term::small(schedulers_online()),
                   schedulers_active(is_blocked(Blocked::kNormal)));
}

/// {Kind, Total, Online, Active} of each kind. I/O dirty schedulers are always online, and none is
/// active where all of multi-scheduling is blocked.
Term all_schedulers_state(Process& p) {
  const Term total = Term::small(scheduler_count()), online = Term::small(schedulers_online()),
             dirty = Term::small(dirty_cpu_schedulers()),
             dirty_online = Term::small(dirty_cpu_schedulers_online()),
             io = Term::small(dirty_io_schedulers());
  ListBuilder list(p.heap);
  const bool normal_blocked = is_blocked(Blocked::kNormal), blocked = is_blocked(Blocked::kAll);
  const Term none = Term::small(0);
  list.add(new_tuple(p.heap, intern_atom("normal"), total, online, schedulers_active(normal_blocked)));
  list.add(new_tuple(p.heap, intern_atom("dirty_cpu"), dirty, dirty_online, blocked ? none : dirty_online));
  list.add(new_tuple(p.heap, intern_atom("dirty_io"), io, io, blocked ? none : io));
  return list.finish();
}

/// {Processor, Group}: processors do not share anything by groups here, so each is a group of its
/// own.
Term groups_map(Process& p) {
  ListBuilder list(p.heap);
  for (unsigned i = 0; i < processors().configured; ++i)
    list.add(new_tuple(p.heap, Term::small(i), Term::small(i + 1)));
  return list.finish();
}

/// {Queue, Executed, Migrated}. OTP counts these only in special builds, and answers zeros in
/// others.
Term scheduling_statistics(Process& p) {
  ListBuilder list(p.heap);
  for (const char* queue : {"process_max", "process_high", "process_normal", "process_low", "port"})
    list.add(new_tuple(p.heap, intern_atom(queue), Term::small(0), Term::small(0)));
  return list.finish();
}

/// Writes a text for people to standard error, like OTP: the epoch, and the number of threads that
/// have taken part.
Term thread_progress(Process&) {
  const std::string text =
      fmt::format("--- thread progress ---\ncurrent={}\nthreads={}\n-----------------------\n",
                  epoch_stamp() - 1, epoch_slots_used());
  (void)!write(STDERR_FILENO, text.data(), text.size());
  return atoms::true_;
}

Term allocated_areas(Process& p) {
  ListBuilder list(p.heap);
  constexpr std::pair<const char*, const char*> kAreas[] = {
      {"atom", "atom_table"}, {"code", "loaded_code"}, {"ets", "ets_misc"}};
  for (const auto& [name, bytes] : memory_items())
    for (const auto& [item, area] : kAreas)
      if (std::string_view(name) == item)
        list.add(new_tuple(p.heap, intern_atom(area), make_unsigned(p.heap, bytes)));
  return list.finish();
}

/// The implementation of atomic operations: the compiler's, except for double words, which are not
/// needed.
Term ethread_info(Process& p) {
  constexpr const char* kAtomics[][2] = {{"32-bit native atomics", "std::atomic"},
                                         {"64-bit native atomics", "std::atomic"},
                                         {"Double word native atomics", "no"}};
  ListBuilder list(p.heap);
  for (const auto& [name, from] : kAtomics) {
    const Term what = text_list(p.heap, name), implementation = text_list(p.heap, from);
    list.add(new_tuple(p.heap, what, implementation, Term::nil()));
  }
  return list.finish();
}

Term all_heap_sizes(Process& p) {
  ListBuilder list(p.heap);
  for (const Word words : heap_sizes()) list.add(make_unsigned(p.heap, words));
  return list.finish();
}

/// In seconds.
Term node_delay(Process&) {
  const Word ns = node_delay_ns.load(std::memory_order_relaxed);
  return ns == kKeepNodes ? atoms::infinity : Term::small(static_cast<SWord>(ns / 1'000'000'000));
}

/// On an I/O dirty scheduler, because a scheduler must not wait for the schedulers.
Term processes(Process& p) {
  const auto text = [](Process& q, const Term*) { return text_binary(q.heap, bif_upcalls.processes_text()); };
  return run_on_dirty(p, text, nullptr, 0, DirtyKind::kIo);
}

/// The functions that are built-in in OTP too. In the files of their modules they have
/// specifications, and bodies that do nothing.
Term built_ins(Process& p) {
  ListBuilder list(p.heap);
  for (const BifRow& row : std::span(kBifRows, kBifRowCount))
    if (!(row.flags_now() & BifRow::kUnlisted) && row.exists())
      list.add(new_tuple(p.heap, intern_atom(row.module), intern_atom(row.name), Term::small(row.arity)));
  return list.finish();
}

const InsideItem kItems[] = {
    {"info", [](Process& p) { return text_binary(p.heap, info_text()); }},
    {"loaded", [](Process& p) { return text_binary(p.heap, loaded_text()); }},
    {"allocated_areas", allocated_areas},
    {"allocator", allocator_settings},
    {"check_io", check_io},
    {"compile_info", compile_info},
    {"dist", [](Process& p) { return text_binary(p.heap, distribution_text()); }},
    {"ethread_info", ethread_info},
    {"ethread_used_tse", [](Process& p) { return make_unsigned(p.heap, accounted_threads().size()); }},
    {"heap_sizes", all_heap_sizes},
    {"procs", processes},
    {"schedulers_state", schedulers_state},
    {"all_schedulers_state", all_schedulers_state},
    {"run_queues", [](Process&) { return Term::small(scheduler_count()); }},
    {"schedulers_total", [](Process&) { return Term::small(scheduler_count()); }},
    {"schedulers_active", [](Process&) { return schedulers_active(is_blocked(Blocked::kNormal)); }},
    {"scheduling_statistics", scheduling_statistics},
    {"total_scheduling_statistics", scheduling_statistics},
    {"reader_groups_map", groups_map},
    {"decentralized_counter_groups_map", groups_map},
    {"thread_progress", thread_progress},
    {"port_tasks", [](Process&) { return atoms::true_; }},
    {"io_thread", [](Process&) { return atoms::false_; }},
    {"snifs", built_ins},
    {"taints", taints_list},
    {"beam_jump_table", [](Process&) { return atoms::true_; }},  // interpreter.cpp jumps by label
    {"constant_pool_support", [](Process&) { return atoms::true_; }},
    {"context_reductions", [](Process&) { return Term::small(kSliceReductions); }},
    {"delayed_node_table_gc", node_delay},
    {"eager_check_io", [](Process&) { return atoms::true_; }},
    {"ets_realloc_moves", [](Process&) { return atoms::false_; }},
    {"hipe_architecture", [](Process&) { return atoms::undefined; }},
    {"lock_checking", [](Process&) { return atoms::false_; }},
};

}  // namespace

std::optional<Term> inside_info(Process& p, std::string_view name) {
  for (const InsideItem& item : kItems)
    if (name == item.name) return item.value(p);
  return {};
}

}  // namespace vmrun
