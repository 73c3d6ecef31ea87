// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

/// Names what the calling thread does when it does not run an Erlang function, for a profiler whose
/// signal interrupts it (probes/attach/sample_notes.cpp). The mark is one pointer, so the signal
/// handler never sees half of a change.
namespace vmrun {

struct Process;

struct Activity {
  const char* name;  // [gc]: the name as a profile shows it
  const Process* process = nullptr;
};
extern constinit thread_local const Activity* activity_here;

/// Marks the calling thread with the activity while the object lives. The activity must outlive the
/// object.
class InKnownActivity {
 public:
  explicit InKnownActivity(const Activity& activity) : before_(activity_here) {
    // The handler runs in this thread, so only the compiler must keep the order.
    std::atomic_signal_fence(std::memory_order_release);
    activity_here = &activity;
  }
  ~InKnownActivity() { activity_here = before_; }
  InKnownActivity(const InKnownActivity&) = delete;

 private:
  const Activity* const before_;
};

/// Marks the thread as InKnownActivity does, with an activity that the object itself holds.
class InActivity {
 public:
  explicit InActivity(const char* name, const Process* process = nullptr)
      : mine_{name, process}, in_mine_(mine_) {}

 private:
  const Activity mine_;
  const InKnownActivity in_mine_;
};

}  // namespace vmrun
