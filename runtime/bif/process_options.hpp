#pragma once

#include "vm/lifecycle/spawn.hpp"

/// Options that several built-in functions about processes share.
namespace vmrun {

/// Adds the options of spawn_opt to *options. False: not a proper list, or an unknown option.
[[nodiscard]] bool read_spawn_options(Term list, SpawnOptions* options);
/// Options of monitor/3.
[[nodiscard]] bool read_monitor_options(Term list, Term* tag, AliasMode* alias);
/// low | normal | high | max; false for anything else.
[[nodiscard]] bool read_priority(Term t, std::uint8_t* priority);

/// process_flag(monitor_nodes | {monitor_nodes, Map}, Value): how often before; the non-value:
/// badarg (nodes.cpp).
Term set_monitor_nodes(Process& p, Term name, Term value);

struct MaxHeap {
  Word words = 0;
  bool kill = true, log = true;
};
/// A number of words, or a map with size, kill, error_logger, include_shared_binaries.
[[nodiscard]] bool read_max_heap(Term t, MaxHeap* out);
/// The same for one process: the size must be given, and be no smaller than its heap to start with.
[[nodiscard]] bool read_own_max_heap(Term t, Word min_heap_words, MaxHeap* out);

}  // namespace vmrun
