#pragma once

#include <atomic>

#include "vm/process/dirty_job.hpp"

/// What erts_debug:set_internal_state/2 changes in other files of built-in functions. Any thread.
namespace vmrun {

/// Steps (weight.hpp) that functions of the modules binary and unicode do before they go on
/// elsewhere.
struct LoopLimit {
  static constexpr SWord kUsual = static_cast<SWord>(kStepsOnScheduler);
  std::atomic<SWord> steps{kUsual};
  operator SWord() const { return steps.load(std::memory_order_relaxed); }
};
extern LoopLimit binary_loop_limit, unicode_loop_limit;

/// The table of persistent terms: #{table => slots}.
Term persistent_term_state(Process& p);

}  // namespace vmrun
