// SPDX-License-Identifier: Apache-2.0
#include "probes/views/process_names.hpp"

namespace vmrun::d {
namespace {

constexpr std::size_t kMostKnown = 1 << 18;          // the most processes; beyond it, new ones stay pids
constexpr std::string_view kFun = "erlang:apply/2";  // how a process begins that is spawned with a fun

/// Returns what stands before a process when there are several machines.
std::string_view machine_of(std::string_view pid) { return pid.substr(0, pid.find('<')); }

/// A process without a registered name is called by how it began. One that began with a fun is
/// called by where it goes on.
std::string name_of(std::string_view pid, std::string_view registered, std::string_view label,
                    std::string_view function) {
  if (registered != pid) return std::string(machine_of(pid)) += registered;
  std::string text(pid);
  if (label != kFun) return (text += ' ') += label;
  return (text += " in ") += function;
}

}  // namespace

void ProcessNames::learn(Aggregates& aggregations) {
  for (std::uint32_t i = 0; i < aggregations.size(); ++i) {
    if (aggregations.description(i).name != "name") continue;
    for (const Aggregates::Line& line : aggregations.lines({i}, {})) {
      const auto& key = line.key->key;
      if (key.size() != 4 || key[0].is_null) continue;
      const std::string pid(key[0].bytes);
      const std::uint64_t when = line.columns[0]->values[0];
      const auto found = known_.find(pid);
      if (found == known_.end() && known_.size() >= kMostKnown) continue;
      Known& known = known_[pid];
      if (when < known.when) continue;
      known = {name_of(key[0].bytes, key[1].bytes, key[2].bytes, key[3].bytes), when};
    }
    aggregations.trunc(i, std::nullopt);
  }
}

std::string ProcessNames::of(std::string_view pid) const {
  const auto found = known_.find(std::string(pid));
  return found == known_.end() ? std::string(pid) : found->second.text;
}

}  // namespace vmrun::d
