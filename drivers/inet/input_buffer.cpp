// SPDX-License-Identifier: Apache-2.0
#include "drivers/inet/input_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace vmrun::inet {
namespace {

constexpr std::size_t kThreadBufferBytes = 64 * 1024;

/// One for each scheduler; empty while a socket uses it.
struct ThreadBuffer {
  ErlDrvBinary* binary = nullptr;
  ~ThreadBuffer() { driver_free_binary(binary); }
};
thread_local ThreadBuffer thread_buffer;

ErlDrvBinary* take_thread_buffer(std::size_t least) {
  ErlDrvBinary* mine = thread_buffer.binary;
  if (mine && static_cast<std::size_t>(mine->orig_size) >= least)
    return std::exchange(thread_buffer.binary, nullptr);
  return driver_alloc_binary(std::max(least, kThreadBufferBytes));
}

void give_back(ErlDrvBinary* binary) {
  const bool fits = static_cast<std::size_t>(binary->orig_size) == kThreadBufferBytes;
  if (fits && !thread_buffer.binary && driver_binary_get_refc(binary) == 1) thread_buffer.binary = binary;
  else driver_free_binary(binary);
}

}  // namespace

void InputBuffer::move_to(ErlDrvBinary* other, std::size_t at) {
  const std::size_t size = this->size();
  if (size) std::memcpy(other->orig_bytes + at, bytes(), size);
  if (binary_) give_back(binary_);
  binary_ = other;
  begin_ = at;
  end_ = at + size;
}

InputBuffer::Room InputBuffer::room(std::size_t wanted, std::size_t ahead, std::size_t usual) {
  const std::size_t have = size();
  const std::size_t least_wanted = wanted > have ? wanted - have : usual;
  const std::size_t most = std::max(least_wanted, ahead > have ? ahead - have : 0);
  if (binary_ && ahead && capacity() - end_ >= least_wanted)
    return {binary_->orig_bytes + end_, capacity() - end_};
  if (!binary_ || capacity() - end_ < most) {
    // A long packet gets a binary of its own, which its receiver will keep.
    const std::size_t least = have + most;
    const bool own = have || wanted > kThreadBufferBytes;
    ErlDrvBinary* larger = own ? driver_alloc_binary(least) : take_thread_buffer(least);
    if (!larger) return {nullptr, 0};
    move_to(larger, 0);
  }
  return {binary_->orig_bytes + end_, most};
}

void InputBuffer::add_binary(Message& m, std::size_t offset, std::size_t size) const {
  if (size >= capacity() / 2) m.binary(binary_, begin_ + offset, size);
  else m.binary(std::string_view(binary_->orig_bytes + begin_ + offset, size));
}

void InputBuffer::push_front(std::string_view bytes) {
  if (bytes.empty()) return;
  ErlDrvBinary* larger = driver_alloc_binary(bytes.size() + size());
  if (!larger) return;
  move_to(larger, bytes.size());
  begin_ = 0;
  std::memcpy(larger->orig_bytes, bytes.data(), bytes.size());
}

void InputBuffer::settle(std::size_t wanted, std::size_t ahead) {
  if (!binary_) return;
  if (size() == 0) return clear();
  const std::size_t needed = std::max(wanted, size());
  // A part of a packet stays, in a thread's buffer, or in one that is too small or too large.
  if (capacity() - begin_ >= needed && capacity() <= std::max(needed + needed / 2, ahead)) return;
  if (ErlDrvBinary* own = driver_alloc_binary(std::max(needed, ahead))) move_to(own, 0);
}

void InputBuffer::clear() {
  if (binary_) give_back(std::exchange(binary_, nullptr));
  begin_ = end_ = 0;
}

}  // namespace vmrun::inet
