// SPDX-License-Identifier: Apache-2.0
#include "vm/base/affinity.hpp"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>

namespace vmrun {
namespace {

/// Held while the processors of a thread change.
std::mutex& mutex() {
  static auto& m = *new std::mutex;  // never destroyed: threads outlive main
  return m;
}
/// Whether any thread has ever been bound.
std::atomic<bool> threads_are_bound{false};

}  // namespace

ProcessorSet::ProcessorSet(int bits)
    : set_(CPU_ALLOC(static_cast<std::size_t>(bits))),
      bytes_(CPU_ALLOC_SIZE(static_cast<std::size_t>(bits))) {
  if (set_) std::memset(set_.get(), 0, bytes_);
}

std::optional<ProcessorSet> ProcessorSet::of_thread(int thread_id) {
  // The kernel refuses a set that is smaller than its own.
  for (int bits = 1024; bits <= 1 << 20; bits *= 2) {
    ProcessorSet set(bits);
    if (!set.set_) return {};
    if (sched_getaffinity(thread_id, set.bytes_, set.set_.get()) == 0) return set;
  }
  return {};
}

std::optional<ProcessorSet> ProcessorSet::of_program() { return of_thread(getpid()); }

unsigned ProcessorSet::size() const { return static_cast<unsigned>(CPU_COUNT_S(bytes_, set_.get())); }

bool ProcessorSet::has(int logical) const {
  return logical >= 0 && CPU_ISSET_S(static_cast<std::size_t>(logical), bytes_, set_.get());
}

bool ProcessorSet::give_to(pthread_t thread) const {
  return pthread_setaffinity_np(thread, bytes_, set_.get()) == 0;
}

ProcessorSet ProcessorSet::only(int logical) const {
  ProcessorSet one(static_cast<int>(bytes_ * 8));
  if (one.set_) CPU_SET_S(static_cast<std::size_t>(logical), one.bytes_, one.set_.get());
  return one;
}

bool bind_thread(pthread_t thread, int logical) {
  const std::optional<ProcessorSet> program = ProcessorSet::of_program();
  if (!program || (logical >= 0 && !program->has(logical))) return false;
  const std::lock_guard guard(mutex());
  if (logical < 0) return program->give_to(thread);
  threads_are_bound.store(true, std::memory_order_relaxed);
  return program->only(logical).give_to(thread);
}

void drop_inherited_binding() {
  // Relaxed: what a thread that is bound starts begins after the store.
  if (threads_are_bound.load(std::memory_order_relaxed)) bind_thread(pthread_self(), -1);
}

WithoutBinding::WithoutBinding() {
  if (!threads_are_bound.load(std::memory_order_relaxed)) return;
  mutex().lock();
  before_ = ProcessorSet::of_thread(0);
  const std::optional<ProcessorSet> program = ProcessorSet::of_program();
  if (before_ && program) program->give_to(pthread_self());
  if (!before_) mutex().unlock();
}

WithoutBinding::~WithoutBinding() {
  if (!before_) return;
  before_->give_to(pthread_self());
  mutex().unlock();
}

}  // namespace vmrun
