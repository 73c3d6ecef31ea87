// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "probes/engine/brief_lock.hpp"

/// Records set aside until the script decides. All threads share the one buffer of a speculation,
/// because the process that speculates may move from one thread to another. A commit puts the
/// buffer as a whole into the ring of the thread that commits.
namespace vmrun::d {

class Ring;

class Speculations {
 public:
  enum class Result { kDone, kNone, kFull, kBusy };

  ~Speculations();
  /// Returns false when there is no memory.
  bool open(std::uint32_t count, std::size_t bytes);

  /// Returns a number from 1, or 0 when none is free.
  std::uint64_t start();
  bool is_active(std::uint64_t number) const {
    return valid(number) && all_[number - 1].active.load(std::memory_order_relaxed);
  }
  /// Whether a speculation can have this number. That includes 0, which stands for none.
  bool can_be(std::uint64_t number) const { return number <= count_; }
  /// Returns kNone when this speculation is not under way.
  Result add(std::uint64_t number, const std::uint64_t* record, std::size_t words);
  Result commit(std::uint64_t number, Ring& ring);
  Result discard(std::uint64_t number);

 private:
  struct alignas(64) One {
    BriefLock lock;
    std::atomic<bool> active{false};
    std::size_t used = 0;
  };
  bool valid(std::uint64_t number) const { return number != 0 && number <= count_; }
  std::uint64_t* buffer(std::uint64_t number) const { return words_ + (number - 1) * room_; }

  std::unique_ptr<One[]> all_;
  std::uint64_t* words_ = nullptr;
  std::size_t count_ = 0, room_ = 0;  // room_: in words, for each
};

}  // namespace vmrun::d
