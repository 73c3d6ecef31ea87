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

/// The calling thread does this as long as the object lives.
class InActivity {
 public:
  explicit InActivity(const char* name, const Process* process = nullptr)
      : mine_{name, process}, before_(activity_here) {
    // The handler runs in this thread: only the compiler must keep the order.
    std::atomic_signal_fence(std::memory_order_release);
    activity_here = &mine_;
  }
  ~InActivity() { activity_here = before_; }
  InActivity(const InActivity&) = delete;

 private:
  const Activity mine_;
  const Activity* const before_;
};

}  // namespace vmrun
