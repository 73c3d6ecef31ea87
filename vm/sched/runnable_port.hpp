#pragma once

#include <atomic>

/// What a port is to the schedulers: something that can be queued. Port derives from it.
namespace vmrun {

struct Scheduler;

struct RunnablePort {
  RunnablePort* next_in_queue = nullptr;       // a scheduler's queue or inbox; later those that are retired
  std::atomic<Scheduler*> scheduler{nullptr};  // where it ran last; any thread reads
};

}  // namespace vmrun
