// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "probes/print/aggregates.hpp"

/// What processes are called. The names come from an aggregation `@name[pid, registered name,
/// label, function] = max(timestamp)` that a view's script keeps. Only the consumer's thread uses
/// it.
namespace vmrun::d {

class ProcessNames {
 public:
  /// Takes in what the script knows by now. Does nothing without such an aggregation.
  void learn(Aggregates& aggregations);

  /// Returns `kernel_sup`, or `<0.85.0> worker:init/1`; an unknown pid is returned as it is.
  std::string of(std::string_view pid) const;

 private:
  struct Known {
    std::string text;
    std::uint64_t when = 0;
  };
  std::unordered_map<std::string, Known> known_;
};

}  // namespace vmrun::d
