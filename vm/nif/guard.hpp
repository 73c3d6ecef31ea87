#pragma once

#include <optional>

#include "vm/base/epoch.hpp"
#include "vm/sched/scheduler.hpp"

/// Functions of the native interface may be called by any thread. While one of these lives, process
/// pointers are good: schedulers see to that themselves.
namespace vmrun {

struct ProcessPointers {
  ProcessPointers() {
    if (!this_scheduler()) guard_.emplace();
  }

 private:
  std::optional<EpochGuard> guard_;
};

}  // namespace vmrun
