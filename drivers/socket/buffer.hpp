#pragma once

#include <cstddef>

#include "drivers/socket/terms.hpp"

/// Room for what is received in a call. A little is kept on the stack and copied to a binary of
/// just its size; much is received where it stays.
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
  /// nullptr: there is no memory.
  unsigned char* data() { return size_ <= sizeof few_ ? few_ : is_binary_ ? many_.data : nullptr; }

  /// A binary of the first bytes; the buffer is not used any more.
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
