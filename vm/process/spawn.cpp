#include "vm/process/spawn.hpp"

#include "probes/probes.hpp"
#include "vm/bif.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/gc.hpp"
#include "vm/process/signal.hpp"
#include "vm/process/table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"

namespace vmrun {

SpawnOptions spawn_defaults;

namespace {

constexpr Word kArgumentRoomWords = 64;  // left for the stack when the first block is made to fit large arguments
Term boot_group_leader = Term::nil();

unsigned list_length(Term list) {
  unsigned n = 0;
  for (; list.is_list(); list = list.tail()) ++n;
  return n;
}

}  // namespace

void set_boot_group_leader(Term pid) { boot_group_leader = pid; }

Term spawn_process(Process* parent, Term module, Term function, Term arguments, const SpawnOptions& options, RefKey* monitor_key) {
  if (!process_table.reserve()) return kNonValue;
  const Word argument_words = copy_size_words(arguments);
  if (probe::copy_struct_enabled() && !arguments.is_immed()) [[unlikely]] probe::copy_struct(static_cast<std::uint32_t>(size_words(arguments)));

  Process& p = *allocate_process();
  Word least = options.min_heap_words;
  if (argument_words + kArgumentRoomWords > kDefaultHeapWords && argument_words + kArgumentRoomWords > least) least = argument_words + kArgumentRoomWords;
  init_heap(p.heap, least);
  p.min_heap_words = static_cast<std::uint32_t>(options.min_heap_words);
  p.fullsweep_after = options.fullsweep_after;
  p.max_heap_words = options.max_heap_words;
  p.max_heap_kill = options.max_heap_kill;
  p.max_heap_log = options.max_heap_log;
  p.priority = options.priority;

  p.inline_regs[0] = module;
  p.inline_regs[1] = function;
  p.inline_regs[2] = copy_term(arguments, p.heap.top, p.heap.off_heap);
  p.live_saved = 3;
  p.initial_module = module;
  p.initial_function = function;
  p.initial_arity = static_cast<std::uint8_t>(module == atoms::erlang && function == atoms::apply ? 2 : list_length(arguments));
  p.exception_trace = Term::nil();
  p.scheduler = this_scheduler();
  p.group_leader = boot_group_leader;
  p.parent = Term::nil();
  if (options.off_heap_messages) extra_of(p).off_heap_messages = true;
  if (parent) {
    p.parent = parent->id;
    p.group_leader = parent->group_leader;
    bump_reductions(*parent, 16);
  }

  process_table.publish(p);
  const Term pid = p.id;
  if (parent && options.link) set_links(*parent, p);
  if (parent && options.monitor) {
    // As if the monitor signal were the child's first: it has never run, so its side can be written here.
    const RefKey key = next_ref_key();
    MonitorOut monitor{pid, Term::nil(), nullptr, options.monitor_alias};
    if (options.monitor_tag) {
      monitor.tag = new_fragment(copy_size_words(options.monitor_tag));
      monitor.tag->message = copy_into(*monitor.tag, options.monitor_tag);
    }
    Extra& extra = extra_of(*parent);
    extra.monitors.insert(key, monitor);
    if (options.monitor_alias != AliasMode::kNone) extra.aliases.insert(key, options.monitor_alias);
    extra_of(p).monitored_by.insert(key, {parent->id, Term::nil()});
    *monitor_key = key;
  }
  if (probe::process_spawn_enabled()) [[unlikely]]
    probe::process_spawn(PidText(pid), MfaText(p.initial_module, p.initial_function, p.initial_arity));
  make_runnable(p);
  return pid;
}

}  // namespace vmrun
