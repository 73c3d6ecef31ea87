#include "vm/port/io_queue.hpp"

#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/port/driver_api.hpp"

namespace vmrun {
namespace {

Binary* new_binary(const void* bytes, std::size_t size) {
  Binary* b = Binary::create(size);
  if (!b) out_of_memory("a driver's queue", size);
  std::memcpy(b->data, bytes, size);
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
  parts_.push_back({new_binary(bytes, size), 0, size});
  size_ += size;
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
  push_front({new_binary(bytes, size), 0, size});
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
