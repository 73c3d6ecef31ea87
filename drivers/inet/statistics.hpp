// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace vmrun::inet {

/// Counts packets in one direction for inet:getstat/1.
class Traffic {
 public:
  void count(std::size_t bytes) {
    const auto size = static_cast<double>(bytes);
    total_bytes += bytes;
    ++packets;
    if (bytes > largest) largest = static_cast<std::uint32_t>(bytes);
    average_ += (size - average_) / packets;
    const double off = size > average_ ? size - average_ : average_ - size;
    deviation_ += (off - deviation_) / packets;
  }
  std::uint32_t average() const { return static_cast<std::uint32_t>(average_); }
  std::uint32_t deviation() const { return static_cast<std::uint32_t>(deviation_); }

  std::uint64_t total_bytes = 0;
  std::uint32_t packets = 0, largest = 0;

 private:
  double average_ = 0, deviation_ = 0;
};

}  // namespace vmrun::inet
