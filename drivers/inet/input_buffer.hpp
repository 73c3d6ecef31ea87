// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "drivers/inet/socket_message.hpp"

/// Bytes that a stream socket has received and that have not been delivered yet. While a socket is
/// read it uses the large buffer of its scheduler thread. Afterwards it has none, or one of the
/// size that the expected bytes are known to need. So idle sockets hold no memory, and a long
/// packet is received where it stays: the receiver gets that very binary.
namespace vmrun::inet {

class InputBuffer {
 public:
  InputBuffer() = default;
  InputBuffer(const InputBuffer&) = delete;
  ~InputBuffer() { clear(); }

  std::size_t size() const { return end_ - begin_; }
  const std::uint8_t* bytes() const {
    return reinterpret_cast<const std::uint8_t*>(binary_->orig_bytes) + begin_;
  }

  struct Room {
    char* at;
    std::size_t size;
  };
  /// Returns room for the next bytes. wanted: the bytes needed in all, or 0 if not known; ahead:
  /// the bytes that may come in all with the next packets, or 0; usual: how much to read if
  /// `wanted` is 0. Returns no room when there is no memory.
  Room room(std::size_t wanted, std::size_t ahead, std::size_t usual);
  void filled(std::size_t size) { end_ += size; }

  /// Adds a part of the bytes to a message as a binary, which is shared if it is large.
  void add_binary(Message& m, std::size_t offset, std::size_t size) const;
  /// Removes bytes at the front that have been delivered.
  void drop(std::size_t size) { begin_ += size; }
  void push_front(std::string_view bytes);
  /// Shrinks or replaces the buffer when reading pauses. wanted, ahead: as above.
  void settle(std::size_t wanted, std::size_t ahead);
  void clear();

  ErlDrvBinary* binary() const { return binary_; }
  std::size_t offset() const { return begin_; }

 private:
  std::size_t capacity() const { return static_cast<std::size_t>(binary_->orig_size); }
  void move_to(ErlDrvBinary* other, std::size_t at);

  ErlDrvBinary* binary_ = nullptr;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace vmrun::inet
