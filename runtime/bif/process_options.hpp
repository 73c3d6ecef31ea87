// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/release.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/message/links.hpp"

/// Options that several built-in functions about processes share.
namespace vmrun {

/// Adds the options of spawn_opt to *options. Returns false for an improper list or an unknown
/// option.
[[nodiscard]] bool read_spawn_options(Term list, SpawnOptions* options);
/// Reads options of monitor/3.
[[nodiscard]] bool read_monitor_options(Term list, MonitorOptions* options);
/// Reads options of link/2.
[[nodiscard]] bool read_link_options(Term list, bool* priority);
/// Reads an option of links and of exit signals, which exists since OTP 28.
inline bool is_priority_option(Term t) {
  return t == atoms::priority && release_has(Trait::kPriorityMessages);
}
/// Reads low | normal | high | max; returns false for anything else.
[[nodiscard]] bool read_priority(Term t, std::uint8_t* priority);

/// process_flag(monitor_nodes | {monitor_nodes, Map}, Value). Returns how often the process
/// monitored nodes before, or the non-value for badarg (nodes.cpp).
Term set_monitor_nodes(Process& p, Term name, Term value);

/// Reads the limit of a process: a number of words, or a map with size, kill, error_logger,
/// include_shared_binaries. The size must be given, and not be smaller than its initial heap.
[[nodiscard]] bool read_max_heap(Term t, Word min_heap_words, MaxHeap* out);

}  // namespace vmrun
