#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/term/layout.hpp"

struct erl_drv_binary;  // vm/include/erl_driver.h

/// Data a driver holds back because its device takes no more: the queue behind driver_enq,
/// driver_pushq, driver_deq, driver_peekq… A sequence of windows on reference-counted binaries,
/// kept as the vectors that peeking shows: that costs the same whatever is queued, and writing a
/// queue in parts costs what its length is. Belongs to a port; only its holder, or a thread that
/// has its port data lock, touches it.
/// (erl_driver(3), "The driver queue".)
namespace vmrun {

class IoQueue {
 public:
  IoQueue() = default;
  IoQueue(const IoQueue&) = delete;
  ~IoQueue() { clear(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// At the end / at the front. The binary forms retain `binary`; the byte forms copy.
  void append(Binary* binary, std::size_t offset, std::size_t size);
  void append(const void* bytes, std::size_t size);
  void prepend(Binary* binary, std::size_t offset, std::size_t size);
  void prepend(const void* bytes, std::size_t size);
  /// Drops `size` bytes at the front; returns what is left.
  std::size_t consume(std::size_t size);
  /// Vectors over the whole queue, and the binaries behind them as drivers see them; valid until it
  /// changes.
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

  // Side by side; those before first_ are gone already. A queue that is empty holds no memory.
  std::vector<iovec> vectors_;
  std::vector<erl_drv_binary*> binaries_;
  std::size_t first_ = 0;
  // What bytes at the end were last copied into, and how much of it is taken.
  Binary* tail_ = nullptr;
  std::size_t tail_used_ = 0;
  std::size_t size_ = 0;
};

}  // namespace vmrun
