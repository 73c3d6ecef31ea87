// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/term/layout.hpp"

struct erl_drv_binary;  // vm/include/erl_driver.h

/// Data that a driver keeps because its device takes no more: the queue behind driver_enq,
/// driver_pushq, driver_deq, driver_peekq… It is a sequence of windows on reference-counted
/// binaries, kept as the vectors that peeking returns. So peeking costs nothing, however much is
/// queued, and writing a queue in parts is linear in its length. It belongs to a port; only the
/// port's holder, or a thread that has its port data lock, uses it. (erl_driver(3), "The driver
/// queue".)
namespace vmrun {

class IoQueue {
 public:
  IoQueue() = default;
  IoQueue(const IoQueue&) = delete;
  ~IoQueue() { clear(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Add at the end or at the front. The forms with a binary retain `binary`; the forms with bytes
  /// copy.
  void append(Binary* binary, std::size_t offset, std::size_t size);
  void append(const void* bytes, std::size_t size);
  void prepend(Binary* binary, std::size_t offset, std::size_t size);
  void prepend(const void* bytes, std::size_t size);
  /// Drops `size` bytes at the front; returns what is left.
  std::size_t consume(std::size_t size);
  /// Returns vectors over the whole queue, and their binaries as drivers see them. Valid until the
  /// queue changes.
  const iovec* vectors(std::size_t* count) const {
    *count = vectors_.size() - first_;
    return vectors_.data() + first_;
  }
  erl_drv_binary** binaries() { return binaries_.data() + first_; }
  void clear();

 private:
  void push_back(Binary* binary, void* bytes, std::size_t size);
  void push_front(Binary* binary, void* bytes, std::size_t size);
  void make_room_in_front();

  // Parallel vectors; elements before first_ are gone already. An empty queue holds no memory.
  std::vector<iovec> vectors_;
  std::vector<erl_drv_binary*> binaries_;
  std::size_t first_ = 0;
  // The binary into which bytes at the end were last copied, and how much of it is used.
  Binary* tail_ = nullptr;
  std::size_t tail_used_ = 0;
  std::size_t size_ = 0;
};

}  // namespace vmrun
