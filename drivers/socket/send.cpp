// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <span>
#include <vector>

#include "drivers/socket/address_terms.hpp"
#include "drivers/socket/control_message.hpp"
#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"

// Writing.
namespace vmrun::sockets {
namespace {

/// The common beginning and end of all writes. The lock is held while it lives.
class Writing {
 public:
  Writing(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle)
      : env_(env), socket_(socket), handle_(handle), lock_(socket.write_mutex) {}

  /// Returns an answer when the caller cannot write now.
  std::optional<ERL_NIF_TERM> refusal() {
    if (!socket_.can_write()) return closed(env_);
    if (!socket_.connectors.empty()) return busy(env_);
    const auto answer = socket_.writers.ask(env_, socket_, handle_);
    if (!answer) ++socket_.counters.write_tries;
    return answer;
  }

  /// Several messages: `sent` of `sizes`, with so many bytes each, or less than 0 with an errno.
  /// Those that have not been sent whole are answered as {Index, Bytes}.
  ERL_NIF_TERM sent_messages(int sent, std::span<const mmsghdr> messages,
                             std::span<const std::size_t> sizes) {
    if (sent < 0) return this->sent(sent, 0);
    std::vector<ERL_NIF_TERM> rest;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::size_t bytes = i < static_cast<std::size_t>(sent) ? messages[i].msg_len : 0;
      socket_.counters.write_byte += bytes;
      if (i < static_cast<std::size_t>(sent) && bytes == sizes[i]) count_package(bytes);
      else rest.push_back(tuple(env_, enif_make_uint64(env_, i), enif_make_uint64(env_, bytes)));
    }
    socket_.writers.next(env_, socket_);
    return rest.empty() ? atoms::ok : ok(env_, list(env_, rest));
  }

  /// result: how many of `size` bytes the system has taken, or less than 0 with an errno. is_all:
  /// no more bytes follow these.
  ERL_NIF_TERM sent(ssize_t result, std::size_t size, bool is_all = true) {
    const int number = errno;
    if (result < 0 && number != EAGAIN) return failed(number);
    const std::size_t bytes = result < 0 ? 0 : static_cast<std::size_t>(result);
    socket_.counters.write_byte += bytes;
    if (result < 0 || bytes < size) return wait(result, bytes);
    count_package(bytes);
    if (!is_all) return tuple(env_, atoms::iov, enif_make_uint64(env_, bytes));
    socket_.writers.next(env_, socket_);
    return atoms::ok;
  }

 private:
  void count_package(std::size_t bytes) {
    Counters& c = socket_.counters;
    ++c.write_pkg;
    c.write_pkg_max = std::max<std::uint64_t>(c.write_pkg_max, bytes);
  }

  ERL_NIF_TERM failed(int number) {
    ++socket_.counters.write_fails;
    const ERL_NIF_TERM reason = posix(env_, number);
    socket_.writers.fail(env_, socket_, reason);
    return error(env_, reason);
  }

  ERL_NIF_TERM wait(ssize_t result, std::size_t bytes) {
    ++socket_.counters.write_waits;
    if (!socket_.writers.await(env_, socket_, handle_)) return select_failed(env_);
    return result < 0 ? atoms::select : tuple(env_, atoms::select, enif_make_uint64(env_, bytes));
  }

  ErlNifEnv* env_;
  Socket& socket_;
  ERL_NIF_TERM handle_;
  std::lock_guard<std::mutex> lock_;
};

/// A list of binaries as an I/O vector.
class Vector {
 public:
  Vector(ErlNifEnv* env, ERL_NIF_TERM list) {
    is_valid_ = enif_is_empty_list(env, list) || enif_inspect_iovec(env, IOV_MAX, list, &rest_, &parts_);
    has_rest_ = is_valid_ && parts_ && !enif_is_empty_list(env, rest_);
    for (int i = 0; i < count(); ++i) bytes_ += parts()[i].iov_len;
  }
  bool is_valid() const { return is_valid_; }
  /// Whether the list was longer than the system takes at a time.
  bool has_rest() const { return has_rest_; }
  std::size_t size() const { return static_cast<std::size_t>(count()); }
  iovec* parts() const { return parts_ ? reinterpret_cast<iovec*>(parts_->iov) : nullptr; }
  int count() const { return parts_ ? parts_->iovcnt : 0; }
  std::size_t bytes() const { return bytes_; }

 private:
  ErlNifIOVec* parts_ = nullptr;  // in the environment of the call
  ERL_NIF_TERM rest_ = 0;
  bool is_valid_, has_rest_;
  std::size_t bytes_ = 0;
};

constexpr int kNoSignal = MSG_NOSIGNAL;  // EPIPE is enough
constexpr unsigned kMostMessages = 1024;

/// Messages of sendmmsg(2), made of maps #{addr, ctrl, iov}.
class Messages {
 public:
  explicit Messages(unsigned count) : headers_(count), to_(count), control_(count) {}

  /// Reads the next one. Returns what is wrong with it: addr, ctrl, iov.
  std::optional<ERL_NIF_TERM> add(ErlNifEnv* env, ERL_NIF_TERM map, std::size_t most_control) {
    ERL_NIF_TERM part;
    SizedAddress& to = to_[used_];
    std::vector<char>& control = control_[used_];
    msghdr& message = headers_[used_].msg_hdr;
    message = {};
    if (get_field(env, map, atoms::addr, &part)) {
      if (!get_address(env, part, &to)) return atoms::addr;
      message.msg_name = &to.address, message.msg_namelen = to.size;
    }
    if (get_field(env, map, atoms::ctrl, &part)) {
      if (!get_control_messages(env, part, most_control, &control)) return atoms::ctrl;
      if (!control.empty()) message.msg_control = control.data(), message.msg_controllen = control.size();
    }
    if (!get_field(env, map, atoms::iov, &part)) return atoms::iov;
    const Vector data(env, part);
    if (!data.is_valid() || data.has_rest()) return atoms::iov;
    message.msg_iov = data.parts();
    message.msg_iovlen = data.size();
    sizes_.push_back(data.bytes());
    ++used_;
    return {};
  }
  std::span<mmsghdr> headers() { return headers_; }
  std::span<const std::size_t> sizes() const { return sizes_; }

 private:
  std::size_t used_ = 0;
  std::vector<mmsghdr> headers_;
  std::vector<SizedAddress> to_;
  std::vector<std::vector<char>> control_;
  std::vector<std::size_t> sizes_;
};

}  // namespace

namespace native {

/// (Socket, Data, Flags, Handle): ok, select, {select, Written}, {error, Reason}
ERL_NIF_TERM send_4(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  ErlNifBinary data;
  int flags;
  if (!socket || !enif_inspect_binary(env, a[1], &data) || !enif_get_int(env, a[2], &flags) ||
      !enif_is_ref(env, a[3]))
    return enif_make_badarg(env);
  Writing writing(env, *socket, a[3]);
  if (const auto answer = writing.refusal()) return *answer;
  return writing.sent(::send(socket->fd, data.data, data.size, flags | kNoSignal), data.size);
}

/// (Socket, Data, To, Flags, Handle): likewise, {invalid, sockaddr}
ERL_NIF_TERM sendto_5(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  ErlNifBinary data;
  int flags;
  SizedAddress to;
  if (!socket || !enif_inspect_binary(env, a[1], &data) || !enif_get_int(env, a[3], &flags) ||
      !enif_is_ref(env, a[4]))
    return enif_make_badarg(env);
  if (!get_address(env, a[2], &to)) return invalid(env, atoms::sockaddr);
  Writing writing(env, *socket, a[4]);
  if (const auto answer = writing.refusal()) return *answer;
  return writing.sent(
      ::sendto(socket->fd, data.data, data.size, flags | kNoSignal, &to.address.base, to.size), data.size);
}

/// (Socket, #{addr, ctrl}, Flags, Handle, [Binary]): likewise, {iov, Written} when more binaries
/// follow, {invalid, addr | ctrl | iov}
ERL_NIF_TERM sendmsg_5(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  int flags;
  if (!socket || !enif_is_map(env, a[1]) || !enif_get_int(env, a[2], &flags) || !enif_is_ref(env, a[3]))
    return enif_make_badarg(env);
  Writing writing(env, *socket, a[3]);
  if (const auto answer = writing.refusal()) return *answer;
  SizedAddress to;
  ERL_NIF_TERM part;
  const bool has_address = get_field(env, a[1], atoms::addr, &part);
  if (has_address && !get_address(env, part, &to)) return invalid(env, atoms::addr);
  std::vector<char> control;
  if (get_field(env, a[1], atoms::ctrl, &part) &&
      !get_control_messages(env, part, socket->write_control_bytes, &control))
    return invalid(env, atoms::ctrl);
  const Vector data(env, a[4]);
  if (!data.is_valid() || (data.has_rest() && socket->type != SOCK_STREAM)) return invalid(env, atoms::iov);
  msghdr message{};
  if (has_address) message.msg_name = &to.address, message.msg_namelen = to.size;
  message.msg_iov = data.parts();
  message.msg_iovlen = data.size();
  if (!control.empty()) message.msg_control = control.data(), message.msg_controllen = control.size();
  return writing.sent(::sendmsg(socket->fd, &message, flags | kNoSignal), data.bytes(), !data.has_rest());
}

/// (Socket, [Binary], Handle): ok, select, {select, Written}, {iov, Written}, {error, Reason},
/// {invalid, iov}
ERL_NIF_TERM sendv_3(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  if (!socket || !enif_is_ref(env, a[2])) return enif_make_badarg(env);
  Writing writing(env, *socket, a[2]);
  if (const auto answer = writing.refusal()) return *answer;
  const Vector data(env, a[1]);
  if (!data.is_valid() || (data.has_rest() && socket->type != SOCK_STREAM)) return invalid(env, atoms::iov);
  msghdr message{};
  message.msg_iov = data.parts();
  message.msg_iovlen = data.size();
  return writing.sent(::sendmsg(socket->fd, &message, kNoSignal), data.bytes(), !data.has_rest());
}

/// (Socket, [#{addr, ctrl, iov}], Flags, Handle): ok, {ok, [{Index, Written}]} for those that are
/// not sent whole, select, {error, Reason}, {invalid, addr | ctrl | iov}
ERL_NIF_TERM sendmmsg_4(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  unsigned count;
  int flags;
  if (!socket || !enif_get_list_length(env, a[1], &count) || !enif_get_int(env, a[2], &flags) ||
      !enif_is_ref(env, a[3]))
    return enif_make_badarg(env);
  Writing writing(env, *socket, a[3]);
  if (const auto answer = writing.refusal()) return *answer;
  if (count == 0) return atoms::ok;
  Messages messages(count);
  ERL_NIF_TERM map, rest = a[1];
  while (enif_get_list_cell(env, rest, &map, &rest)) {
    if (!enif_is_map(env, map)) return enif_make_badarg(env);
    if (const auto wrong = messages.add(env, map, socket->write_control_bytes)) return invalid(env, *wrong);
  }
  const auto headers = messages.headers();
  const int sent = ::sendmmsg(socket->fd, headers.data(), std::min(count, kMostMessages), flags | kNoSignal);
  enif_consume_timeslice(env, std::clamp(sent, 1, 100));
  return writing.sent_messages(sent, headers, messages.sizes());
}

}  // namespace native
}  // namespace vmrun::sockets
