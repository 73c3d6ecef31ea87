// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

/// A value that only its owner writes and that any thread may read. It costs what a plain variable
/// costs and orders nothing: a reader learns what the value was a moment ago.
namespace vmrun {

template <class T>
class Relaxed {
 public:
  constexpr Relaxed(T value = T{}) : value_(value) {}  // NOLINT: as if it were the value
  Relaxed(const Relaxed&) = delete;

  operator T() const { return load(); }  // NOLINT: likewise
  T operator->() const { return load(); }
  T load() const { return value_.load(std::memory_order_relaxed); }

  Relaxed& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  Relaxed& operator=(const Relaxed& other) { return *this = other.load(); }
  /// For the owner. No other thread writes, so the operation need not be atomic.
  Relaxed& operator+=(T more) { return *this = static_cast<T>(load() + more); }
  Relaxed& operator++() { return *this += 1; }
  Relaxed& operator--() { return *this = static_cast<T>(load() - 1); }

 private:
  std::atomic<T> value_;
};

}  // namespace vmrun
