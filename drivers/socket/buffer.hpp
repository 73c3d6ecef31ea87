// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "drivers/socket/socket_terms.hpp"

/// Room for the bytes received in a call. A small buffer is on the stack, and its bytes are copied
/// to a binary of exactly their size; a large one is the binary itself.
namespace vmrun::sockets {

class Buffer {
 public:
  Buffer(ErlNifEnv* env, std::size_t size) : env_(env), size_(size) {
    if (size > sizeof few_) is_binary_ = enif_alloc_binary(size, &many_);
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() {
    if (is_binary_) enif_release_binary(&many_);
  }

  std::size_t size() const { return size_; }
  /// Returns nullptr when there is no memory.
  unsigned char* data() { return size_ <= sizeof few_ ? few_ : is_binary_ ? many_.data : nullptr; }

  /// Returns a binary of the first `bytes`. The buffer must not be used afterwards.
  ERL_NIF_TERM take(std::size_t bytes) {
    if (!is_binary_) return binary(env_, few_, bytes);
    if (bytes < size_) enif_realloc_binary(&many_, bytes);
    is_binary_ = false;
    return enif_make_binary(env_, &many_);
  }

 private:
  ErlNifEnv* env_;
  std::size_t size_;
  bool is_binary_ = false;
  ErlNifBinary many_{};
  alignas(16) unsigned char few_[8192];
};

}  // namespace vmrun::sockets
