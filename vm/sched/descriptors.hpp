// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "vm/base/small_limits.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/base/word.hpp"

/// The table of all descriptors that are waited for (poll.hpp): the user of each, and what epoll
/// knows of it. A descriptor has one user at a time: the ports that have selected it
/// (vm/port/select.cpp) or a resource of native code (vm/nif/resource_select.cpp). Another user may
/// take it over: as a rule the former one has closed it without a call, and the number is in use
/// again. Any thread may call.
namespace vmrun {

/// What remains of a user that has lost its descriptor. It is destroyed without the descriptor's
/// lock.
class FormerUser {
 public:
  virtual ~FormerUser() = default;
  /// For a report: " resource m:t"; empty when it is gone.
  virtual std::string text() const = 0;
};

class DescriptorUser {
 public:
  /// Is called when epoll reports these events, in a thread that has entered an epoch. The lock is
  /// held; release it before calling anything outside vm/sched.
  virtual void ready(std::uint32_t events, std::unique_lock<SpinLock>& lock) = 0;
  /// Is called when it has lost the descriptor. The lock is held.
  virtual std::unique_ptr<FormerUser> give_up() = 0;
  /// The resource whose selection this is; nullptr for ports.
  virtual const void* resource() const { return nullptr; }

 protected:
  ~DescriptorUser() = default;
};

struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}

  const int fd;
  SpinLock lock;                   // guards the rest, and what the user keeps of the descriptor
  DescriptorUser* user = nullptr;  // nullptr: not in use
  // Counts users that have come and gone. epoll reports it with each event, so that an event meant
  // for an earlier user is not given to the next one.
  std::uint32_t generation = 0;
  std::uint32_t armed = 0;  // epoll events that it is registered with; kSilent: none of them comes
  bool registered = false;  // epoll knows it

  /// With EPOLLONESHOT, after an event has come.
  static const std::uint32_t kSilent;
};

/// An element for each descriptor, made when it is first asked for, in chunks that stay.
template <class T>
class ByDescriptor {
 public:
  /// nullptr: that is no descriptor, or beyond all limits.
  T* at(int fd) {
    if (fd < 0 || fd >> kChunkBits >= kChunks) return nullptr;
    std::atomic<T*>& chunk = chunks_[fd >> kChunkBits];
    T* first = chunk.load(std::memory_order_acquire);
    if (!first) first = make(chunk, fd & ~(kChunkSize - 1));
    return first + (fd & (kChunkSize - 1));
  }
  /// Calls visit with each element there is.
  template <class Visit>
  void for_each(Visit visit) {
    for (const std::atomic<T*>& chunk : chunks_)
      if (T* first = chunk.load(std::memory_order_acquire))
        for (int i = 0; i < kChunkSize; ++i) visit(first[i]);
  }
  Word bytes() const {
    Word sum = 0;
    for (const std::atomic<T*>& chunk : chunks_)
      if (chunk.load(std::memory_order_relaxed)) sum += sizeof(T) * kChunkSize;
    return sum;
  }

 private:
  static constexpr int kChunkBits = usual_or_small<int>(10, 4), kChunkSize = 1 << kChunkBits,
                       kChunks = 1 << 12;

  static T* make(std::atomic<T*>& chunk, int first_fd) {
    std::allocator<T> memory;
    T* const fresh = memory.allocate(kChunkSize);
    for (int i = 0; i < kChunkSize; ++i) new (fresh + i) T(first_fd + i);
    T* there = nullptr;
    if (chunk.compare_exchange_strong(there, fresh, std::memory_order_acq_rel)) return fresh;
    std::destroy_n(fresh, kChunkSize);
    memory.deallocate(fresh, kChunkSize);
    return there;
  }

  std::atomic<T*> chunks_[kChunks] = {};
};

extern ByDescriptor<Descriptor> descriptors;

// With the descriptor's lock.

/// Has epoll report these events, or with 0 none: it is taken out then. Returns an errno, after
/// which it is not registered.
int arm(Descriptor& d, std::uint32_t events);
/// Makes this its user, and returns what remains of another one. A user may call it again.
std::unique_ptr<FormerUser> begin_use(Descriptor& d, DescriptorUser& user);
/// Ends its use. Events that are under way are dropped, so it may be closed.
std::unique_ptr<FormerUser> end_use(Descriptor& d);
/// Tells that the descriptor may have been closed and opened again, so that what epoll knows of it
/// need not be true.
void forget_registration(Descriptor& d);

/// Passes events that epoll has reported to the descriptor's user. tag: what epoll was given for
/// it. Called by the poller, within an epoch.
void descriptor_ready(Word tag, std::uint32_t events);

}  // namespace vmrun
