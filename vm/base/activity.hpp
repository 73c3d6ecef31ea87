#pragma once

#include <atomic>

/// What the calling thread does that is no Erlang function: for a profiler whose signal interrupts
/// it (probes/attach/sample_notes.cpp). The mark is one pointer, so the handler sees a whole one.
namespace vmrun {

struct Process;

struct Activity {
  const char* name;  // [gc]: as a profile shows it
  const Process* process = nullptr;
};
extern constinit thread_local const Activity* activity_here;

/// The calling thread does this as long as the object lives, and the activity has to live as long.
class InKnownActivity {
 public:
  explicit InKnownActivity(const Activity& activity) : before_(activity_here) {
    // The handler runs in this thread: only the compiler must keep the order.
    std::atomic_signal_fence(std::memory_order_release);
    activity_here = &activity;
  }
  ~InKnownActivity() { activity_here = before_; }
  InKnownActivity(const InKnownActivity&) = delete;

 private:
  const Activity* const before_;
};

/// Marks what the thread does as InKnownActivity does, with an activity of its own.
class InActivity {
 public:
  explicit InActivity(const char* name, const Process* process = nullptr)
      : mine_{name, process}, in_mine_(mine_) {}

 private:
  const Activity mine_;
  const InKnownActivity in_mine_;
};

}  // namespace vmrun
