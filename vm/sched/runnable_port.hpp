#pragma once

/// What a port is to the schedulers: something that can be queued. Port derives from it.
namespace vmrun {

struct RunnablePort {
  RunnablePort* next_in_queue = nullptr;  // a scheduler's queue or inbox; later those that are retired
};

}  // namespace vmrun
