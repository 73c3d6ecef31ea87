// SPDX-License-Identifier: Apache-2.0
#include "drivers/ram_file/contents.hpp"

#include <algorithm>
#include <cstring>

namespace vmrun::ram_file {
namespace {

constexpr std::size_t kSlack = 4096;  // bytes of unneeded room that are kept nevertheless

}  // namespace

std::string_view Contents::piece(std::size_t at, std::size_t size) const {
  if (at >= size_) return {};
  return {room_.bytes() + at, std::min(size, size_ - at)};
}

bool Contents::reserve(std::size_t size) {
  const std::size_t had = room_ ? room_.size() : 0;
  if (size <= had) return true;
  // The room grows by half, so that a file written in small pieces is not moved for each of them.
  return (had && room_.resize(std::max(size, had + had / 2))) || room_.resize(size);
}

bool Contents::write(std::size_t at, const Data& data) {
  const std::size_t end = at + data.size();
  if (end > size_) {
    if (!reserve(end)) return false;
    if (at > size_) std::memset(room_.bytes() + size_, 0, at - size_);
    size_ = end;
  }
  std::size_t skip = data.begin;
  for (int i = 0; i < data.command.vsize; ++i) {
    const SysIOVec& vector = data.command.iov[i];
    const std::size_t begin = std::min<std::size_t>(skip, vector.iov_len), length = vector.iov_len - begin;
    if (length) std::memcpy(room_.bytes() + at, static_cast<const char*>(vector.iov_base) + begin, length);
    skip -= begin;
    at += length;
  }
  return true;
}

bool Contents::resize(std::size_t size) {
  if (size > size_) {
    if (!reserve(size)) return false;
    std::memset(room_.bytes() + size_, 0, size - size_);
  }
  size_ = size;
  if (!room_ || room_.size() <= 2 * size + kSlack) return true;
  if (size == 0) room_.reset();
  else (void)room_.resize(size);  // on failure it stays as large as it is
  return true;
}

}  // namespace vmrun::ram_file
