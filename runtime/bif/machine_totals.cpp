// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/machine_totals.hpp"

#include <string>

#include "runtime/bif/memory_items.hpp"
#include "runtime/bif/system_items.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/port/port.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/atom.hpp"

namespace vmrun {

void each_machine_total(const std::function<void(const char*, Word, Word)>& take) {
  take("process_count", process_table.count(), process_table.limit());
  take("port_count", port_table.count_seen_by_programs(), port_table.limit());
  take("atom_count", atom_count(), atom_limit());
  take("ets_count", table_count(), 0);  // ets_limit is a figure only: there may be more
  for (const auto& [name, bytes] : memory_items()) take((std::string("memory_") + name).c_str(), bytes, 0);
  take("reductions", total_reductions(), 0);
  take("garbage_collection", memory_counted(MemoryKind::kCollections), 0);
  take("reclaimed_words", memory_counted(MemoryKind::kReclaimedWords), 0);
  const PortTraffic bytes = port_traffic();
  take("io_input", bytes.input, 0);
  take("io_output", bytes.output, 0);
  take("wall_clock", (monotonic_ns() - machine_start_ns) / 1'000'000, 0);
  take("dirty_cpu_queue", dirty_load(DirtyKind::kCpu).waiting, 0);
  take("dirty_io_queue", dirty_load(DirtyKind::kIo).waiting, 0);
}

}  // namespace vmrun
