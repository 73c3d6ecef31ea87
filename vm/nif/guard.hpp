// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "vm/base/epoch.hpp"
#include "vm/sched/scheduler.hpp"

/// Any thread may call functions of the native interface. While one of these lives, process
/// pointers are valid. Schedulers protect them anyway.
namespace vmrun {

struct ProcessPointers {
  ProcessPointers() {
    if (!this_scheduler()) guard_.emplace();
  }

 private:
  std::optional<EpochGuard> guard_;
};

}  // namespace vmrun
