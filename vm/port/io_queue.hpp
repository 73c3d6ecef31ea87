#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vm/term/layout.hpp"

struct erl_drv_binary;  // vm/include/erl_driver.h

/// Data a driver holds back because its device takes no more: the queue behind driver_enq,
/// driver_pushq, driver_deq, driver_peekq… A sequence of windows on reference-counted binaries.
/// Belongs to a port; only its holder, or a thread that has its port data lock, touches it.
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
  /// Vectors over the whole queue, valid until it changes.
  const iovec* vectors(std::size_t* count);
  /// The binaries behind them, as drivers see them; valid until the queue changes or they are asked
  /// for again.
  erl_drv_binary** binaries();
  void clear();

 private:
  struct Part {
    Binary* binary;
    std::size_t offset, size;
  };
  std::span<const Part> parts() const { return {parts_.data() + first_, parts_.size() - first_}; }
  void push_front(Part part);

  // Those before first_ are gone already. A queue that is empty holds no memory.
  std::vector<Part> parts_;
  std::size_t first_ = 0;
  // What bytes at the end were last copied into, and how much of it is taken.
  Binary* tail_ = nullptr;
  std::size_t tail_used_ = 0;
  std::vector<iovec> vectors_;
  std::vector<erl_drv_binary*> binaries_;
  std::size_t size_ = 0;
};

}  // namespace vmrun
