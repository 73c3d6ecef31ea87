// SPDX-License-Identifier: Apache-2.0
#include "vm/port/io_queue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vm/base/allocate.hpp"
#include "vm/port/driver_api.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kMostTail = 16 * 1024;

Binary* new_binary(std::size_t size) {
  Binary* b = Binary::create(size);
  if (!b) out_of_memory("a driver's queue", size);
  return b;
}

}  // namespace

void IoQueue::push_back(Binary* binary, void* bytes, std::size_t size) {
  vectors_.push_back({bytes, size});
  binaries_.push_back(driver_binary(binary));
  size_ += size;
}

/// Makes as much room as the queue has elements, so that a queue that grows at its front is not
/// moved each time.
void IoQueue::make_room_in_front() {
  const std::size_t more = vectors_.size() + 4;
  vectors_.insert(vectors_.begin(), more, {});
  binaries_.insert(binaries_.begin(), more, nullptr);
  first_ = more;
}

void IoQueue::push_front(Binary* binary, void* bytes, std::size_t size) {
  if (!first_) make_room_in_front();
  vectors_[--first_] = {bytes, size};
  binaries_[first_] = driver_binary(binary);
  size_ += size;
}

void IoQueue::append(Binary* binary, std::size_t offset, std::size_t size) {
  if (size == 0) return;
  auto* bytes = binary->data + offset;
  if (!empty() && binaries_.back() == driver_binary(binary)) {
    iovec& last = vectors_.back();
    if (static_cast<char*>(last.iov_base) + last.iov_len == reinterpret_cast<char*>(bytes)) {
      last.iov_len += size;  // bytes right behind the last part make it longer
      size_ += size;
      return;
    }
  }
  binary->retain();
  push_back(binary, bytes, size);
}

void IoQueue::append(const void* bytes, std::size_t size) {
  if (size == 0) return;
  if (!tail_ || tail_->capacity_bytes - tail_used_ < size) {
    if (tail_) tail_->release();
    // As much as the queue has already, so that a queue of many small pieces is a few large ones.
    tail_ = new_binary(std::max(size, std::min(size_, kMostTail)));
    tail_used_ = 0;
  }
  std::memcpy(tail_->data + tail_used_, bytes, size);
  append(tail_, tail_used_, size);
  tail_used_ += size;
}

void IoQueue::prepend(Binary* binary, std::size_t offset, std::size_t size) {
  if (size == 0) return;
  binary->retain();
  push_front(binary, binary->data + offset, size);
}

void IoQueue::prepend(const void* bytes, std::size_t size) {
  if (size == 0) return;
  Binary* b = new_binary(size);
  std::memcpy(b->data, bytes, size);
  push_front(b, b->data, size);
}

std::size_t IoQueue::consume(std::size_t size) {
  while (size && !empty()) {
    iovec& first = vectors_[first_];
    if (size < first.iov_len) {
      first.iov_base = static_cast<char*>(first.iov_base) + size;
      first.iov_len -= size;
      size_ -= size;
      break;
    }
    size -= first.iov_len;
    size_ -= first.iov_len;
    binary_of(binaries_[first_])->release();
    ++first_;
  }
  if (empty()) {
    std::vector<iovec>().swap(vectors_);
    std::vector<erl_drv_binary*>().swap(binaries_);
    first_ = 0;
    if (tail_) std::exchange(tail_, nullptr)->release();
  } else if (first_ > 3 * (vectors_.size() - first_) + 64) {  // more than it needs to grow
    const auto gone = static_cast<std::ptrdiff_t>(first_);
    vectors_.erase(vectors_.begin(), vectors_.begin() + gone);
    binaries_.erase(binaries_.begin(), binaries_.begin() + gone);
    first_ = 0;
  }
  return size_;
}

void IoQueue::clear() { consume(size_); }

}  // namespace vmrun
