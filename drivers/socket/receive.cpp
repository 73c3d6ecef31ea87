// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "drivers/socket/address_terms.hpp"
#include "drivers/socket/buffer.hpp"
#include "drivers/socket/control_message.hpp"
#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"

// Reading. With the handle `zero` a process that would have to wait gets ok instead, or timeout in
// OTP 27 and later.
namespace vmrun::sockets {
namespace {

/// The common beginning of all reads. The lock is held while it lives.
class Reading {
 public:
  Reading(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle)
      : env_(env), socket_(socket), handle_(handle), lock_(socket.read_mutex) {}

  /// Returns an answer when the caller cannot read now.
  std::optional<ERL_NIF_TERM> refusal() {
    if (!socket_.can_read()) return closed(env_);
    if (!socket_.acceptors.empty()) return busy(env_);
    return socket_.readers.ask(env_, socket_, handle_);
  }

  /// Whether a system call has failed, or the stream has ended.
  [[nodiscard]] bool has_nothing(ssize_t got) const {
    return got < 0 || (got == 0 && socket_.type == SOCK_STREAM);
  }
  ERL_NIF_TERM nothing(ssize_t got) {
    const int number = got < 0 ? errno : 0;
    if (number == EAGAIN) return wait();
    ++socket_.counters.read_fails;
    const ERL_NIF_TERM reason = number ? posix(env_, number) : atoms::closed;
    socket_.readers.fail(env_, socket_, reason);
    if (number || socket_.part.empty()) return error(env_, reason);
    const std::vector<unsigned char> part = std::exchange(socket_.part, {});
    return error(env_, tuple(env_, reason, binary(env_, part.data(), part.size())));
  }

  ERL_NIF_TERM wait() {
    if (handle_ == atoms::zero) return settings.times_out ? atom(env_, "timeout") : atoms::ok;
    return socket_.readers.await(env_, socket_, handle_) ? atoms::select : select_failed(env_);
  }

  void count_bytes(std::size_t bytes) { socket_.counters.read_byte += bytes; }
  /// All requested bytes are there; the next process is served. With {otp, select_read} the caller
  /// waits for the next bytes at once.
  ERL_NIF_TERM done(ERL_NIF_TERM what, std::size_t bytes, std::size_t packages = 1) {
    count_bytes(bytes);
    socket_.counters.read_pkg += packages;
    if (socket_.select_read && handle_ != atoms::zero) {
      if (!socket_.readers.await(env_, socket_, handle_)) return select_failed(env_);
      return tuple(env_, atom(env_, "select_read"), what);
    }
    socket_.readers.next(env_, socket_);
    return ok(env_, what);
  }

 private:
  ErlNifEnv* env_;
  Socket& socket_;
  ERL_NIF_TERM handle_;
  std::lock_guard<std::mutex> lock_;
};

void note_largest(Socket& socket, std::size_t bytes) {
  socket.counters.read_pkg_max = std::max<std::uint64_t>(socket.counters.read_pkg_max, bytes);
}

/// The part of an earlier read, where that is all that is asked for.
std::optional<ERL_NIF_TERM> kept(ErlNifEnv* env, Socket& socket, Reading& reading, std::size_t length) {
  std::vector<unsigned char>& part = socket.part;
  if (part.empty() || part.size() < length) return {};
  const std::size_t bytes = length ? length : part.size();
  const ERL_NIF_TERM data = binary(env, part.data(), bytes);
  part.erase(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(bytes));
  note_largest(socket, bytes);
  return reading.done(data, bytes);
}

/// Length 0 asks for all available bytes, in portions of at most `rcvbuf`.
ERL_NIF_TERM received(ErlNifEnv* env, Socket& socket, Reading& reading, Buffer& buffer, std::size_t bytes,
                      std::size_t length, ERL_NIF_TERM handle) {
  const bool is_full = bytes == buffer.size();
  const bool is_part = !is_full && length != 0 && socket.type == SOCK_STREAM;
  if (is_part && handle != atoms::zero && settings.keeps_parts) {
    socket.part.assign(buffer.data(), buffer.data() + bytes);
    return reading.wait();
  }
  const ERL_NIF_TERM data = buffer.take(bytes);
  if (is_full && length == 0 && socket.reads_at_once) {
    if (++socket.reads_done < socket.reads_at_once) {
      reading.count_bytes(bytes);
      return tuple(env, atoms::more, data);
    }
    socket.reads_done = 0;
  }
  if (is_part && handle == atoms::zero && settings.times_out) {
    note_largest(socket, bytes);
    reading.done(data, bytes);
    return tuple(env, atom(env, "timeout"), data);
  }
  if (!is_part || handle == atoms::zero) {
    note_largest(socket, bytes);
    return reading.done(data, bytes);
  }
  reading.count_bytes(bytes);
  const ERL_NIF_TERM waits = reading.wait();
  return waits == atoms::select ? tuple(env, atoms::select, data) : waits;
}

struct Arguments {
  Socket* socket;
  ErlNifUInt64 length;
  int flags;
};

bool get_arguments(ErlNifEnv* env, const ERL_NIF_TERM* a, int flags_at, Arguments* to) {
  const ERL_NIF_TERM handle = a[flags_at + 1];
  to->socket = socket_of(env, a[0]);
  return to->socket && enif_get_uint64(env, a[1], &to->length) &&
         enif_get_int(env, a[flags_at], &to->flags) && (enif_is_ref(env, handle) || handle == atoms::zero);
}

/// Begins a read, then calls `receive(of, reading, buffer)`. flags_at: the index of the flags in
/// `a`; the handle follows them.
template <class Receive>
ERL_NIF_TERM read_into_buffer(ErlNifEnv* env, const ERL_NIF_TERM* a, int flags_at, Receive receive) {
  Arguments of;
  if (!get_arguments(env, a, flags_at, &of)) return enif_make_badarg(env);
  Reading reading(env, *of.socket, a[flags_at + 1]);
  if (const auto answer = reading.refusal()) return *answer;
  Buffer buffer(env, of.length ? of.length : of.socket->read_bytes);
  if (!buffer.data()) return posix_error(env, ENOMEM);
  return receive(of, reading, buffer);
}

/// The map of one message: #{addr, iov, ctrl, flags}.
ERL_NIF_TERM message_term(ErlNifEnv* env, const msghdr& message, const Address& from, ERL_NIF_TERM data) {
  Pairs pairs{{atoms::iov, list(env, {data})},
              {atoms::ctrl, control_messages_term(env, message)},
              {atoms::flags, message_flags_term(env, message.msg_flags)}};
  if (message.msg_namelen) pairs.emplace_back(atoms::addr, address_term(env, from, message.msg_namelen));
  return map(env, pairs);
}

constexpr unsigned kMostMessages = 1024;

/// Room for several messages, in one piece of memory.
class Messages {
 public:
  Messages(unsigned count, std::size_t bytes, std::size_t control_bytes)
      : bytes_(bytes), headers_(count), parts_(count), from_(count) {
    const std::size_t each = bytes + control_bytes;
    if (each < bytes || each > SIZE_MAX / count) return;
    room_ = static_cast<char*>(enif_alloc(each * count));
    for (unsigned i = 0; room_ && i < count; ++i) {
      char* const at = room_ + i * each;
      parts_[i] = {at, bytes};
      headers_[i].msg_hdr = {
          &from_[i].address.base, from_[i].size, &parts_[i], 1, at + bytes, control_bytes, 0};
    }
  }
  Messages(const Messages&) = delete;
  ~Messages() { enif_free(room_); }

  bool has_room() const { return room_ != nullptr; }
  std::span<mmsghdr> headers() { return headers_; }
  /// Bytes of a message that are here; what did not fit is lost.
  std::size_t bytes(unsigned i) const { return std::min<std::size_t>(headers_[i].msg_len, bytes_); }
  ERL_NIF_TERM term(ErlNifEnv* env, unsigned i) const {
    const ERL_NIF_TERM data = binary(env, parts_[i].iov_base, bytes(i));
    return message_term(env, headers_[i].msg_hdr, from_[i].address, data);
  }

 private:
  std::size_t bytes_;
  char* room_ = nullptr;
  std::vector<mmsghdr> headers_;
  std::vector<iovec> parts_;
  std::vector<SizedAddress> from_;
};

}  // namespace

namespace native {

/// (Socket, Length, Flags, Handle): {ok, Data}, {more, Data}, select, {select, Data}, ok, {error,
/// Reason}
ERL_NIF_TERM recv_4(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  return read_into_buffer(env, a, 2, [&](const Arguments& of, Reading& reading, Buffer& buffer) {
    Socket& socket = *of.socket;
    if (const auto answer = kept(env, socket, reading, of.length)) return *answer;
    const std::size_t before = socket.part.size();
    std::ranges::copy(socket.part, buffer.data());
    ++socket.counters.read_tries;
    const ssize_t bytes = ::recv(socket.fd, buffer.data() + before, buffer.size() - before, of.flags);
    if (reading.has_nothing(bytes)) return reading.nothing(bytes);
    socket.part.clear();
    return received(env, socket, reading, buffer, before + static_cast<std::size_t>(bytes), of.length, a[3]);
  });
}

/// (Socket, Size, Flags, Handle): {ok, {Source, Data}}, select, ok, {error, Reason}
ERL_NIF_TERM recvfrom_4(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  return read_into_buffer(env, a, 2, [&](const Arguments& of, Reading& reading, Buffer& buffer) {
    Socket& socket = *of.socket;
    ++socket.counters.read_tries;
    SizedAddress from;
    const ssize_t got =
        ::recvfrom(socket.fd, buffer.data(), buffer.size(), of.flags, &from.address.base, &from.size);
    if (reading.has_nothing(got)) return reading.nothing(got);
    const auto bytes = static_cast<std::size_t>(got);
    return reading.done(tuple(env, address_term(env, from.address, from.size), buffer.take(bytes)), bytes);
  });
}

/// (Socket, Size, ControlSize, Flags, Handle): {ok, #{addr, iov, ctrl, flags}}, select, ok,
/// {error, Reason}
ERL_NIF_TERM recvmsg_5(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  ErlNifUInt64 control_bytes;
  if (!enif_get_uint64(env, a[2], &control_bytes)) return enif_make_badarg(env);
  return read_into_buffer(env, a, 3, [&](const Arguments& of, Reading& reading, Buffer& buffer) {
    Socket& socket = *of.socket;
    Buffer control(env, control_bytes ? control_bytes : socket.read_control_bytes);
    if (!control.data()) return posix_error(env, ENOMEM);
    ++socket.counters.read_tries;
    SizedAddress from;
    iovec part{buffer.data(), buffer.size()};
    msghdr message{&from.address, from.size, &part, 1, control.data(), control.size(), 0};
    const ssize_t got = ::recvmsg(socket.fd, &message, of.flags);
    if (reading.has_nothing(got)) return reading.nothing(got);
    const auto bytes = static_cast<std::size_t>(got);
    return reading.done(message_term(env, message, from.address, buffer.take(bytes)), bytes);
  });
}

/// (Socket, Count, Size, ControlSize, Flags, Handle): {ok, [#{addr, iov, ctrl, flags}]}, select,
/// timeout, {error, Reason}
ERL_NIF_TERM recvmmsg_6(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* const socket = socket_of(env, a[0]);
  ErlNifUInt64 count, bytes, control_bytes;
  int flags;
  if (!socket || !enif_get_uint64(env, a[1], &count) || count == 0 || !enif_get_uint64(env, a[2], &bytes) ||
      !enif_get_uint64(env, a[3], &control_bytes) || !enif_get_int(env, a[4], &flags) ||
      !(enif_is_ref(env, a[5]) || a[5] == atoms::zero))
    return enif_make_badarg(env);
  Reading reading(env, *socket, a[5]);
  if (const auto answer = reading.refusal()) return *answer;
  Messages messages(static_cast<unsigned>(std::min<ErlNifUInt64>(count, kMostMessages)),
                    bytes ? bytes : socket->read_bytes,
                    control_bytes ? control_bytes : socket->read_control_bytes);
  if (!messages.has_room()) return posix_error(env, ENOMEM);
  ++socket->counters.read_tries;
  const auto headers = messages.headers();
  const int got =
      ::recvmmsg(socket->fd, headers.data(), static_cast<unsigned>(headers.size()), flags, nullptr);
  if (got < 0) return reading.nothing(got);
  std::vector<ERL_NIF_TERM> terms;
  std::size_t all = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(got); ++i) {
    terms.push_back(messages.term(env, i));
    all += messages.bytes(i);
    note_largest(*socket, messages.bytes(i));
  }
  enif_consume_timeslice(env, std::clamp(got, 1, 100));
  return reading.done(list(env, terms), all, terms.size());
}

}  // namespace native
}  // namespace vmrun::sockets
