// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// The processors of the system, and how many of them this program may use: its affinity, and the
/// quota of processor time of its cgroup. Any thread.
namespace vmrun {

/// The place of a logical processor. A node (of memory) contains whole packages, or is a part of
/// one package, as /sys tells. With one node for all of them both are -1.
struct ProcessorPlace {
  int node = -1, package = -1, part = -1, core = -1, logical = -1;
  bool operator==(const ProcessorPlace&) const = default;
};

struct Processors {
  unsigned configured = 1, online = 1;  // of the system
  unsigned available = 1;               // by the affinity
  // Processor time in whole processors, at least 1 and at most `online`, which is also its value
  // without a limit. Nothing when no cgroup of this program is known.
  std::optional<unsigned> quota;

  /// How many threads can run at the same time. So many schedulers are online unless flags say
  /// otherwise.
  unsigned usable() const;
  bool operator==(const Processors&) const = default;
};

/// Returns what the first call or the last update has found.
Processors processors();
/// Returns the places of the processors, sorted; none when /sys does not tell. The first call reads
/// /sys, so a start does not pay for it.
std::vector<ProcessorPlace> known_places();
/// From now on no places are known. Called before the first call of known_places.
void leave_places_unknown();
/// Reads everything again. Returns whether anything has changed.
bool update_processors();

// The functions behind those above. root stands in front of /proc and /sys, for tests.

/// cgroup(7): cpu.max of version 2, cpu.cfs_quota_us and cpu.cfs_period_us of version 1.
std::optional<unsigned> cpu_quota(const std::string& root, unsigned most);
std::vector<ProcessorPlace> processor_places(const std::string& root);

}  // namespace vmrun
