// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "vm/base/allocate.hpp"

/// The stack that walks over terms use in place of C++ recursion, so that only memory bounds the
/// depth. The first entries lie inside the object. One thread uses it, for one walk.
namespace vmrun {

template <class T, std::size_t kInline = 64>
class WorkStack {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  WorkStack() : begin_(inline_storage()), top_(begin_), end_(begin_ + kInline) {}
  WorkStack(const WorkStack&) = delete;
  WorkStack& operator=(const WorkStack&) = delete;
  ~WorkStack() {
    if (begin_ != inline_storage()) free_bytes(begin_);
  }

  bool empty() const { return top_ == begin_; }
  void push(const T& value) {
    if (top_ == end_) [[unlikely]]
      grow();
    *top_++ = value;
  }
  T pop() { return *--top_; }

 private:
  T* inline_storage() { return reinterpret_cast<T*>(storage_); }

  void grow() {
    const std::size_t count = top_ - begin_, bytes = count * 2 * sizeof(T);
    auto* larger = static_cast<T*>(allocate_bytes(bytes, "the stack of a walk over a deep term"));
    std::memcpy(static_cast<void*>(larger), begin_, count * sizeof(T));
    if (begin_ != inline_storage()) free_bytes(begin_);
    begin_ = larger;
    top_ = larger + count;
    end_ = larger + count * 2;
  }

  alignas(T) unsigned char storage_[kInline * sizeof(T)];
  T* begin_;
  T* top_;
  T* end_;
};

}  // namespace vmrun
