// SPDX-License-Identifier: Apache-2.0
#include "runtime/dump/machine_view.hpp"

#include <cstring>
#include <memory>
#include <mutex>

#include "runtime/bif/memory_items.hpp"
#include "runtime/bif/system_texts.hpp"
#include "runtime/dump/dump_terms.hpp"
#include "runtime/ets/table.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/release.hpp"
#include "vm/code/code_server.hpp"
#include "vm/lifecycle/backtrace.hpp"
#include "vm/lifecycle/info.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/port.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/dirty_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/return_address.hpp"
#include "vm/sched/run_queue.hpp"
#include "vm/sched/stop_the_world.hpp"
#include "vm/term/node.hpp"
#include "vm/term/print.hpp"

namespace vmrun::dump {
namespace {

// A process that does not stop within this time is shown as running.
constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::size_t kShownBytes = 4000;  // of a term, for people

std::mutex& stopping = *new std::mutex;  // never destroyed: dirty schedulers outlive main

}  // namespace

// ---- Stopping -----------------------------------------------------------------------------------

struct StoppedMachine::Held {
  std::lock_guard<std::mutex> alone{stopping};
  DirtyStop dirty;
  StopTheWorld schedulers{kPatience};
  EpochGuard epoch;  // what ends meanwhile is not freed
};

namespace {

const Process* running_on(const Scheduler& s) {
  const Process* p = s.current;
  std::atomic_thread_fence(std::memory_order_acquire);  // makes what the process was before its slice visible
  return p;
}

}  // namespace

StoppedMachine::StoppedMachine() : held_(new Held) {
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    Scheduler& s = scheduler_at(i);
    if (held_->schedulers.is_stopped(s)) continue;
    // The scheduler is still in the slice in which it was asked to stop: from now on `current` can
    // only become null.
    const Process* p = running_on(s);
    if (p) running_[p] = "ACTIVE | RUNNING";
  }
  for_each_dirty_scheduler([&](DirtyKind kind, unsigned, const Process* p) {
    if (p)
      running_[p] = kind == DirtyKind::kIo ? "ACTIVE | DIRTY_IO_PROC | DIRTY_RUNNING"
                                           : "ACTIVE | DIRTY_CPU_PROC | DIRTY_RUNNING";
  });
}
StoppedMachine::~StoppedMachine() { delete held_; }

const char* StoppedMachine::activity(const Process& p) const {
  const auto found = running_.find(&p);
  return found == running_.end() ? nullptr : found->second;
}

// ---- Schedulers ---------------------------------------------------------------------------------

void write_schedulers(DumpFile& out, const StoppedMachine& stopped) {
  static constexpr const char* kQueues[] = {"Low", "Normal", "High", "Max"};
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    Scheduler& s = scheduler_at(i);
    const bool stands = stopped.held_->schedulers.is_stopped(s);
    out.print(
        "=scheduler:{}\nScheduler Sleep Info Flags: {}\nScheduler Sleep Info Aux Work: \nCurrent Port: \n",
        s.number, stands ? "" : "NOT_STOPPED");
    for (unsigned q = 4; q-- > 0;)
      out.print("Run Queue {} Length: {}\n", kQueues[q],
                std::atomic_ref(s.queues[q].count).load(std::memory_order_relaxed));
    out.print("Run Queue Port Length: {}\nRun Queue Flags: \n", waiting_ports(s));
    const Process* p = stands ? nullptr : running_on(s);
    out.print("Current Process: {}\n", p ? pid_text(p->id) : "");
    if (p) out.put("Current Process State: Running\n");
  }
  for_each_dirty_scheduler([&](DirtyKind kind, unsigned number, const Process* p) {
    out.print("={}:{}\nScheduler Sleep Info Flags: \nScheduler Sleep Info Aux Work: \nCurrent Process: {}\n",
              kind == DirtyKind::kIo ? "dirty_io_scheduler" : "dirty_cpu_scheduler",
              scheduler_count() + number, p ? pid_text(p->id) : "");
    if (p) out.put("Current Process State: Running\n");
  });
}

// ---- Memory, code, atoms ------------------------------------------------------------------------

void write_memory(DumpFile& out) {
  out.put("=memory\n");
  for (const auto& [name, bytes] : memory_items()) out.print("{}: {}\n", name, bytes);
}

void write_modules(DumpFile& out) {
  Word current = 0, old = 0;
  const std::vector<Module*> modules = loaded_modules();
  for (const Module* m : modules) {
    current += module_bytes(*m);
    if (const Module* before = old_module(m->name)) old += module_bytes(*before);
  }
  out.print("=loaded_modules\nCurrent code: {}\nOld code: {}\n", current, old);
  for (const Module* m : modules) {
    out.print("=mod:{}\nCurrent size: {}\n", atom_text(m->name), module_bytes(*m));
    if (const Module* before = old_module(m->name)) out.print("Old size: {}\n", module_bytes(*before));
  }
}

void write_atoms(DumpFile& out) {
  out.put("=atoms\n");
  for (Word i = atom_count(); i-- > 0 && !out.full();) {
    std::string text;
    append_atom_text(text, Term::atom(i));
    out.print("{}\n", text);
  }
}

// ---- Ports and tables ---------------------------------------------------------------------------

void write_ports(DumpFile& out) {
  port_table.for_each([&](Port& p) {
    const bool held = p.run.load(std::memory_order_acquire) == Port::Run::kRunning;
    out.print("=port:{}\nState: {}\nSlot: {}\n", port_text(p.id),
              !p.is_open() ? "CLOSING"
              : p.binary   ? "CONNECTED|BINARY_IO"
                           : "CONNECTED",
              p.id.id_number());
    if (p.owner_now()) out.print("Connected: {}\n", pid_text(p.owner_now()));
    if (const std::uint32_t name = p.registered_name.load(std::memory_order_relaxed))
      out.print("Registered as: {}\n", atom_text(Term::atom(name - 1)));
    if (!held) {
      std::string links;
      p.links.for_each([&](Term pid) { links += (links.empty() ? "" : ", ") + term_text(pid, kShownBytes); });
      if (!links.empty()) out.print("Links: {}\n", links);
      const std::string driver = p.driver ? p.driver->name : "";
      out.print("Port controls {}: {}\n", p.os_pid >= 0 ? "external process" : "linked-in driver",
                p.os_pid >= 0 ? p.name : driver);
    }
    out.print("Input: {}\nOutput: {}\n", p.input_bytes.load(std::memory_order_relaxed),
              p.output_bytes.load(std::memory_order_relaxed));
  });
}

namespace {

const char* kind_text(ets::Kind kind) {
  switch (kind) {
    case ets::Kind::kSet: return "set";
    case ets::Kind::kOrderedSet: return "ordered_set";
    case ets::Kind::kBag: return "bag";
    case ets::Kind::kDuplicateBag: return "duplicate_bag";
  }
  return "";
}
const char* protection_text(ets::Protection p) {
  switch (p) {
    case ets::Protection::kPublic: return "public";
    case ets::Protection::kProtected: return "protected";
    case ets::Protection::kPrivate: return "private";
  }
  return "";
}

}  // namespace

void write_tables(DumpFile& out) {
  ets::for_each_table([&](const ets::Table& t) {
    out.print("=ets:{}\nSlot: {}\nTable: {}\nName: {}\n", pid_text(t.owner), t.slot, atom_text(t.name),
              atom_text(t.name));
    out.print("Fixed: {}\nObjects: {}\nWords: {}\n", !t.fixers.empty(), t.store->count(),
              t.store->memory_words());
    out.print("Type: {}\nProtection: {}\nCompressed: {}\nWrite Concurrency: {}\nRead Concurrency: {}\n",
              kind_text(t.store->kind()), protection_text(t.protection), t.compressed,
              atom_text(t.write_concurrency), t.read_concurrency);
  });
}

// ---- Processes ----------------------------------------------------------------------------------

namespace {

const char* state_of(Process& p, bool running) {
  if (running) return "Running";
  if (p.exiting.load(std::memory_order_acquire) || p.exit_pending) return "Exiting";
  if (p.suspend_count) return "Suspended";
  return p.mailbox.is_parked() && !is_queued_for_dirty(p) ? "Waiting" : "Scheduled";
}

void write_relations(DumpFile& out, const Extra& extra) {
  std::string text;
  Arena arena;
  const auto add = [&](const std::string& item) { text += (text.empty() ? "" : ", ") + item; };
  const auto add_monitor = [&](const char* which, Term who, const RefKey& key) {
    Term* hp = arena.alloc(kRefWords);
    add(fmt::format("{{{},{},{}}}", which, term_text(who, kShownBytes), ref_text(make_ref(hp, key))));
  };
  extra.links.for_each([&](Term who) { add(term_text(who, kShownBytes)); });
  extra.monitors.for_each([&](const RefKey& key, const MonitorOut& m) {
    Term* hp = arena.alloc(3);
    add_monitor("to", m.name.is_nil() ? m.target : make_tuple(hp, m.name, local_node_name()), key);
  });
  extra.monitored_by.for_each([&](const RefKey& key, const MonitorIn& m) {
    if (m.watcher != kResourceWatcher) add_monitor("from", m.watcher, key);
  });
  if (!text.empty()) out.print("Link list: [{}]\n", text);
}

/// Calls visit(fragment of a message), in the order of arrival.
template <class Visit>
void for_each_message(const Process& p, Visit visit) {
  const auto visit_message = [&](const Fragment& f) {
    if (f.kind == static_cast<std::uint32_t>(SignalKind::kMessage) ||
        f.kind == static_cast<std::uint32_t>(SignalKind::kPinnedMessage))
      visit(f);
  };
  for (const Fragment* f = p.mailbox.first; f; f = f->next) visit_message(*f);
  if (p.extra && p.extra->priority)  // a queue that is cut (PriorityReception)
    for (const Fragment* f = p.extra->priority->rest; f; f = f->next) visit_message(*f);
  std::vector<const Fragment*> arrivals;  // newest first
  for (const Fragment* f = p.mailbox.newest_arrival(); f; f = f->next) arrivals.push_back(f);
  for (std::size_t i = arrivals.size(); i-- > 0;) visit_message(*arrivals[i]);
}

/// Whether its heap can be read.
bool at_rest(Process& p, const StoppedMachine& stopped) {
  return !stopped.runs(p) && !p.mailbox.is_closed() && !p.exiting.load(std::memory_order_acquire);
}

// A process in OTP's order and words, because redbug, crashdump_viewer and others parse them.

/// The function at whose beginning the process ended its slice, or is to begin. OTP shows it then,
/// and shows nothing after a receive.
std::string called_at(const Process& p, const Word* at) {
  if (!at) return std::string(MfaText(p.initial_module, p.initial_function, p.initial_arity).view());
  const FunctionHeader* f = process_upcalls.header_at(at);
  return f && at == f->entry() ? std::string(MfaText(f->module, f->function, f->arity).view()) : "";
}

/// A line about the last slice of a process that runs or waits for its next one.
std::string call_line(const Process& p, const char* state) {
  const Core* const core = this_core();
  const bool runs_here = core && core->number && core->current == &p;
  const bool waits_for_slice = !strcmp(state, "Scheduled") && p.wait_kind == WaitKind::kNone;
  const std::string name = runs_here         ? called_at(p, static_cast<const Scheduler*>(core)->began_at)
                           : waits_for_slice ? called_at(p, p.ip)
                                             : "";
  return name.empty() ? "" : (runs_here ? "Last scheduled in for: " : "Current call: ") + name + "\n";
}

/// Writes what can be read while the process runs.
void write_identity(DumpFile& out, const Process& p, const char* state) {
  out.print("=proc:{}\nState: {}\n", pid_text(p.id), state);
  if (const std::uint32_t name = p.registered_name.load(std::memory_order_relaxed))
    out.print("Name: {}\n", atom_text(Term::atom(name - 1)));
  out.print("Spawned as: {}\n", MfaText(p.initial_module, p.initial_function, p.initial_arity).view());
  out.put(call_line(p, state));
}

/// For people. A crash dump has a section of its own for the dictionary.
void write_dictionary(DumpFile& out, const Process& p) {
  if (!p.extra || !p.extra->dictionary.size()) return;
  const Dictionary& d = p.extra->dictionary;
  std::string text;
  for (std::size_t i = 0; i < d.size(); ++i)
    text += fmt::format("{}{{{},{}}}", i ? "," : "", term_text(d.key(i), kShownBytes),
                        term_text(d.value(i), kShownBytes));
  out.print("Dictionary: [{}]\n", text);
}

void write_contents(DumpFile& out, Process& p, bool for_people) {
  out.print("Spawned by: {}\nMessage queue length: {}\n", p.parent.is_local_pid() ? pid_text(p.parent) : "[]",
            p.mailbox.exact_length());
  const Heap& h = p.heap;
  Word fragments = 0;
  for (const Fragment* f = h.fragments; f; f = f->next) ++fragments;
  out.print("Number of heap fragments: {}\nHeap fragment data: {}\n", fragments, h.fragment_words);
  if (p.extra) write_relations(out, *p.extra);
  if (for_people && !is_sensitive(p)) write_dictionary(out, p);
  out.print("Reductions: {}\nStack+heap: {}\nOldHeap: {}\nHeap unused: {}\nOldHeap unused: {}\n",
            p.reductions_done.load(), h.block_words(), h.old_end - h.old_start, h.free_words(),
            h.old_end - h.old_top);
  const auto unused = [](Word limit, Word used) { return limit - std::min(limit, used); };
  out.print("BinVHeap: {}\nOldBinVHeap: {}\nBinVHeap unused: {}\nOldBinVHeap unused: {}\nMemory: {}\n",
            h.off_heap_words, h.old_off_heap_words, unused(h.off_heap_limit_words, h.off_heap_words),
            unused(h.old_off_heap_limit_words, h.old_off_heap_words), process_memory_bytes(p));
}

/// activity: what the process does now, in OTP's flags, or "".
void write_internal_state(DumpFile& out, const Process& p, const char* activity) {
  static constexpr const char* kPriorities[] = {"LOW", "NORMAL", "HIGH", "MAX"};
  const char* const now = kPriorities[p.priority];
  const bool waits = std::string_view(activity).ends_with("IN_RUNQ");
  out.print("Internal State: ACT_PRIO_{} | USR_PRIO_{} | PRQ_PRIO_{}{}{}{}{}\n", now,
            kPriorities[p.own_priority.load(std::memory_order_relaxed)], now, waits ? " | IN_PRQ_" : "",
            waits ? now : "", *activity ? " | " : "", activity);
}

const char* activity_at_rest(Process& p) {
  if (p.exiting.load(std::memory_order_acquire) || p.exit_pending) return "EXITING";
  if (p.suspend_count) return p.mailbox.is_parked() ? "SUSPENDED" : "ACTIVE | SUSPENDED";
  return p.mailbox.is_parked() ? "" : "ACTIVE | IN_RUNQ";
}

}  // namespace

void write_process(DumpFile& out, Process& p, const StoppedMachine& stopped, bool stack) {
  const char* activity = stopped.activity(p);
  write_identity(out, p, state_of(p, activity != nullptr));
  if (activity) return write_internal_state(out, p, activity);
  if (at_rest(p, stopped)) {
    write_contents(out, p, stack);
    if (stack) out.put("Stack dump:\n");
    out.put(program_counter_text(p.ip));
    out.print("arity = {}\n", p.live_saved);
    for (unsigned x = 0; stack && !is_sensitive(p) && x < p.live_saved; ++x)
      out.print("   {}\n", term_text(p.saved_regs[x], kShownBytes));
    if (stack && !is_sensitive(p)) out.put(stack_text(p));
  }
  write_internal_state(out, p, activity_at_rest(p));
}

void write_processes(DumpFile& out, const StoppedMachine& stopped) {
  process_table.for_each([&](Process& p) { write_process(out, p, stopped, /*stack=*/true); });
}

std::string text_of_processes() {
  std::string text;
  const StoppedMachine stopped;
  DumpFile out(&text);
  write_processes(out, stopped);
  out.flush();
  return text;
}

std::string text_of_running(Process& p, const Word* program_counter, const Word* returns_to) {
  std::string text;
  DumpFile out(&text);
  write_identity(out, p, "Running");
  write_contents(out, p, /*for_people=*/true);
  out.put("Stack dump:\n");
  out.put(program_counter_text(program_counter));
  out.put(stack_text(p, returns_to));
  write_internal_state(out, p, "ACTIVE | RUNNING");
  out.flush();
  return text;
}

namespace {

void write_messages(DumpFile& out, TermDump& terms, const Process& p) {
  for_each_message(p, [&](const Fragment& f) {
    terms.word(f.message);
    out.put(":");
    terms.word(f.token);
    out.put("\n");
  });
}

void write_stack(DumpFile& out, TermDump& terms, const Process& p) {
  unsigned y = 0;
  for (unsigned x = 0; p.ip && x < p.live_saved; ++x) {
    out.print("x{}:", x);
    terms.word(p.saved_regs[x]);
    out.put("\n");
  }
  for (const Term* s = p.heap.stop; s < p.heap.end; ++s) {
    if (s->is_header()) {
      if (!is_return_address(*s)) continue;
      out.print("0x{:016x}:SReturn addr 0x{:X} {}\n", reinterpret_cast<Word>(s), s->raw(),
                return_address_text(reinterpret_cast<const Word*>(s->raw())));
      y = 0;
      continue;
    }
    out.print("y{}:", y++);
    if (s->is_catch()) out.put("S" + catch_text(*s));
    else terms.word(*s);
    out.put("\n");
  }
}

void write_terms_of(DumpFile& out, Binaries& binaries, Process& p) {
  TermDump terms(out, binaries);
  const std::string pid = pid_text(p.id);
  if (p.mailbox.exact_length()) {
    out.print("=proc_messages:{}\n", pid);
    write_messages(out, terms, p);
  }
  if (p.extra && p.extra->dictionary.size()) {
    out.print("=proc_dictionary:{}\n", pid);
    const Dictionary& d = p.extra->dictionary;
    for (std::size_t i = 0; i < d.size(); ++i) {
      terms.pair(d.key(i), d.value(i));
      out.put("\n");
    }
  }
  out.print("=proc_stack:{}\n", pid);
  write_stack(out, terms, p);
  out.print("=proc_heap:{}\n", pid);
  terms.objects();
}

}  // namespace

void write_process_terms(DumpFile& out, const StoppedMachine& stopped) {
  Binaries binaries;
  process_table.for_each([&](Process& p) {
    if (at_rest(p, stopped) && !out.full()) write_terms_of(out, binaries, p);
  });
  write_binaries(out, binaries);
}

}  // namespace vmrun::dump
