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

void IoQueue::append(Binary* binary, std::size_t offset, std::size_t size) {
  if (size == 0) return;
  const bool was_empty = empty();
  size_ += size;
  if (!was_empty && parts_.back().binary == binary && parts_.back().offset + parts_.back().size == offset) {
    parts_.back().size += size;  // what comes right behind the last part makes it longer
    return;
  }
  binary->retain();
  parts_.push_back({binary, offset, size});
}

void IoQueue::append(const void* bytes, std::size_t size) {
  if (size == 0) return;
  if (!tail_ || tail_->capacity_bytes - tail_used_ < size) {
    if (tail_) tail_->release();
    // As much as there is already, so that a queue of many small pieces is few large ones.
    tail_ = new_binary(std::max(size, std::min(size_, kMostTail)));
    tail_used_ = 0;
  }
  std::memcpy(tail_->data + tail_used_, bytes, size);
  append(tail_, tail_used_, size);
  tail_used_ += size;
}

void IoQueue::push_front(Part part) {
  if (first_) parts_[--first_] = part;
  else parts_.insert(parts_.begin(), part);
  size_ += part.size;
}

void IoQueue::prepend(Binary* binary, std::size_t offset, std::size_t size) {
  if (size == 0) return;
  binary->retain();
  push_front({binary, offset, size});
}

void IoQueue::prepend(const void* bytes, std::size_t size) {
  if (size == 0) return;
  Binary* b = new_binary(size);
  std::memcpy(b->data, bytes, size);
  push_front({b, 0, size});
}

std::size_t IoQueue::consume(std::size_t size) {
  while (size && !empty()) {
    Part& first = parts_[first_];
    if (size < first.size) {
      first.offset += size;
      first.size -= size;
      size_ -= size;
      break;
    }
    size -= first.size;
    size_ -= first.size;
    first.binary->release();
    ++first_;
  }
  if (empty()) {
    std::vector<Part>().swap(parts_);
    std::vector<iovec>().swap(vectors_);
    std::vector<erl_drv_binary*>().swap(binaries_);
    first_ = 0;
    if (tail_) std::exchange(tail_, nullptr)->release();
  } else if (first_ > parts_.size() / 2) {
    parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  return size_;
}

const iovec* IoQueue::vectors(std::size_t* count) {
  vectors_.clear();
  for (const Part& part : parts()) vectors_.push_back({part.binary->data + part.offset, part.size});
  *count = vectors_.size();
  return vectors_.data();
}

erl_drv_binary** IoQueue::binaries() {
  binaries_.clear();
  for (const Part& part : parts()) binaries_.push_back(driver_binary(part.binary));
  return binaries_.data();
}

void IoQueue::clear() { consume(size_); }

}  // namespace vmrun
