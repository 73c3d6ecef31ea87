// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bump allocation for one compilation: syntax trees, interned names, and the nodes of the middle
// forms live in a NodeArena and die together with it, so nothing in them needs a destructor. Owned
// by one compilation; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace vmrun {

class NodeArena {
 public:
  NodeArena() = default;
  NodeArena(const NodeArena&) = delete;
  NodeArena& operator=(const NodeArena&) = delete;

  void* alloc(size_t bytes, size_t align) {
    uintptr_t at = (next_ + align - 1) & ~(uintptr_t(align) - 1);
    if (at + bytes > end_) {
      grow(bytes + align);
      at = (next_ + align - 1) & ~(uintptr_t(align) - 1);
    }
    next_ = at + bytes;
    return reinterpret_cast<void*>(at);
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "arena objects are never destroyed");
    return new (alloc(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  /// Copies a sequence into the arena.
  template <class T>
  std::span<T> copy(const T* items, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) return {};
    T* to = static_cast<T*>(alloc(sizeof(T) * count, alignof(T)));
    std::memcpy(static_cast<void*>(to), items, sizeof(T) * count);
    return {to, count};
  }
  template <class T>
  std::span<T> copy(const std::vector<T>& items) {
    return copy(items.data(), items.size());
  }
  std::string_view copy(std::string_view text) {
    auto s = copy(text.data(), text.size());
    return {s.data(), s.size()};
  }

 private:
  void grow(size_t least) {
    size_t bytes = blocks_.empty() ? 16 * 1024 : 128 * 1024;
    if (bytes < least) bytes = least;
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    next_ = reinterpret_cast<uintptr_t>(blocks_.back().get());
    end_ = next_ + bytes;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  uintptr_t next_ = 0;
  uintptr_t end_ = 0;
};

}  // namespace vmrun
