// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

/// A port as the schedulers see it: something that can be queued. Port derives from it.
namespace vmrun {

struct Scheduler;

struct RunnablePort {
  RunnablePort* next_in_queue = nullptr;  // a scheduler's queue or inbox; later the list of retired ports
  std::atomic<Scheduler*> scheduler{nullptr};  // ran it last; any thread reads
};

}  // namespace vmrun
