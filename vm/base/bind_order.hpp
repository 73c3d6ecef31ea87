// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "vm/base/processors.hpp"

/// In which order schedulers are bound to processors (erl(1), +sbt). Pure functions.
namespace vmrun {

enum class BindType {
  kUnbound,
  kNoSpread,
  kThreadSpread,
  kProcessorSpread,
  kSpread,
  kNoNodeThreadSpread,
  kNoNodeProcessorSpread,
  kThreadNoNodeProcessorSpread
};

/// Indexed by BindType.
inline constexpr struct {
  std::string_view letters, name;
} kBindTypes[] = {
    {"u", "unbound"},
    {"ns", "no_spread"},
    {"ts", "thread_spread"},
    {"ps", "processor_spread"},
    {"s", "spread"},
    {"nnts", "no_node_thread_spread"},
    {"nnps", "no_node_processor_spread"},
    {"tnnps", "thread_no_node_processor_spread"},
};

/// By the value of +sbt, where db stands for the default.
std::optional<BindType> bind_type_of_letters(std::string_view letters);
/// By the name that system_flag takes, where default_bind stands for the default.
std::optional<BindType> bind_type_named(std::string_view name);

/// Returns the logical processors of sorted places: the first one is for the first scheduler. Empty
/// for kUnbound.
std::vector<int> bind_order(const std::vector<ProcessorPlace>& places, BindType type);

}  // namespace vmrun
