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
/// one package, as /sys or the user tells. With one node for all of them both are -1.
struct ProcessorPlace {
  int node = -1, package = -1, part = -1, core = -1, logical = -1;
  int thread = -1;  // of its core; -1: they are in the order of `logical`
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
/// Returns the places that the user has defined, or else those that the system tells. Sorted by
/// package and what is inside.
std::vector<ProcessorPlace> known_places();
/// Returns the places that /sys tells; none when it does not. The first call reads /sys, so a start
/// does not pay for it.
std::vector<ProcessorPlace> detected_places();
/// Returns what define_places was told; empty: nothing.
std::vector<ProcessorPlace> defined_places();
/// Takes what settle_places has accepted, or nothing: then those of the system count again.
void define_places(std::vector<ProcessorPlace> places);
/// From now on /sys does not tell any places. Called before the first call of known_places.
void leave_places_unknown();

/// Sorts the places, and removes a node that is around all of them. Returns what is wrong with them
/// in the words of erl(1), or a null pointer.
const char* settle_places(std::vector<ProcessorPlace>& places);
/// Reads everything again. Returns whether anything has changed.
bool update_processors();

// The functions behind those above. root stands in front of /proc and /sys, for tests.

/// cgroup(7): cpu.max of version 2, cpu.cfs_quota_us and cpu.cfs_period_us of version 1.
std::optional<unsigned> cpu_quota(const std::string& root, unsigned most);
std::vector<ProcessorPlace> processor_places(const std::string& root);

}  // namespace vmrun
