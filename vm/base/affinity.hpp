// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sched.h>

#include <memory>
#include <optional>

/// The processors that a thread may run on: sched_setaffinity(2). The first thread, which is never
/// bound, has those of the whole program; taskset(1) changes them.
namespace vmrun {

/// A set of logical processors, as large as the kernel wants it.
class ProcessorSet {
 public:
  /// Returns the processors of a thread of this program (0: the calling one); nothing when the
  /// kernel does not tell.
  static std::optional<ProcessorSet> of_thread(int thread_id);
  /// Returns those that the program may use.
  static std::optional<ProcessorSet> of_program();

  unsigned size() const;
  bool has(int logical) const;
  /// Lets the thread run on these alone. Returns whether the kernel does that.
  bool give_to(pthread_t thread) const;
  /// Returns a set of this size with one processor only.
  ProcessorSet only(int logical) const;

 private:
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  explicit ProcessorSet(int bits);

  std::unique_ptr<cpu_set_t, Free> set_;
  std::size_t bytes_ = 0;
};

/// Binds a thread to a processor, or with -1 to none: it gets those of the program. Returns whether
/// that has been done. Any thread.
bool bind_thread(pthread_t thread, int logical);

/// A new thread inherits the binding of the thread that has started it. It calls this.
void drop_inherited_binding();

/// While this object lives, the calling thread is not bound, for a child that it starts. Bindings
/// of all threads stay as they are meanwhile.
class WithoutBinding {
 public:
  WithoutBinding();
  ~WithoutBinding();
  WithoutBinding(const WithoutBinding&) = delete;
  WithoutBinding& operator=(const WithoutBinding&) = delete;

 private:
  std::optional<ProcessorSet> before_;
};

}  // namespace vmrun
