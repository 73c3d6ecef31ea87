// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/process/dirty_job.hpp"

/// What erts_debug:set_internal_state/2 changes in other files of built-in functions. Any thread.
namespace vmrun {

/// The number of steps that a function does before it continues on a dirty scheduler.
struct LoopLimit {
  explicit constexpr LoopLimit(SWord n) : usual(n), steps(n) {}
  operator SWord() const { return steps.load(std::memory_order_relaxed); }
  const SWord usual;
  std::atomic<SWord> steps;
};
extern LoopLimit binary_loop_limit, unicode_loop_limit;  // steps (reduction_budget.hpp)
extern LoopLimit re_loop_limit;                          // what PCRE2 counts in one match

/// Returns the table of persistent terms: #{table => slots}.
Term persistent_term_state(Process& p);

}  // namespace vmrun
