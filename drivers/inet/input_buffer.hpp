#pragma once

#include <cstdint>

#include "drivers/inet/message.hpp"

/// Bytes that a stream socket has received and nobody has got yet. While a socket is read it has
/// the buffer of its scheduler thread, which is large; afterwards it has none, or one that is as
/// large as what is to come is known to be. So sockets that are idle hold no memory, and a long
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
  /// Where the next bytes go. wanted: what is needed in all, if that is known, else 0; ahead: how
  /// much there may be in all with what follows, where something does; usual: what to read at once
  /// otherwise. No room: no memory.
  Room room(std::size_t wanted, std::size_t ahead, std::size_t usual);
  void filled(std::size_t size) { end_ += size; }

  /// A part of what is there as a binary in a message: shared if it is large.
  void add_binary(Message& m, std::size_t offset, std::size_t size) const;
  /// That many from the front have been given away.
  void drop(std::size_t size) { begin_ += size; }
  void push_front(std::string_view bytes);
  /// Nothing is read for the time being. wanted, ahead as above.
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
