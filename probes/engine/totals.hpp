// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The state of a whole machine in numbers, as the endpoint tells it (kTotals): the head of
/// `vmtrace top`. Plain data.
///
/// Its bytes: u64 at_ns; u32 number of schedulers, of each u32 queue, u64 idle_ns, u64 at_ns; then
/// of each total a text, u64 value, u64 limit, up to the end.
namespace vmrun::d {

struct Totals {
  struct Scheduler {
    std::uint32_t queue;    // processes that wait on its run queue
    std::uint64_t idle_ns;  // up to at_ns, since the machine began
    std::uint64_t at_ns;
  };
  struct Total {
    std::string name;  // runtime/bif/machine_totals.hpp says which there are
    std::uint64_t value;
    std::uint64_t limit;  // 0: none
  };
  std::uint64_t at_ns = 0;  // monotonic, of the machine's host
  std::vector<Scheduler> schedulers;
  std::vector<Total> totals;

  /// Returns null when there is no total of that name, as in a machine of another version.
  const Total* find(std::string_view name) const;
  std::uint64_t value(std::string_view name) const;
};

std::string pack_totals(const Totals& totals);
[[nodiscard]] bool unpack_totals(std::string_view body, Totals& totals);

}  // namespace vmrun::d
