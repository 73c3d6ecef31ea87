// SPDX-License-Identifier: Apache-2.0
// Sending on a stream: bytes that the system does not take are queued, and the sender waits if
// there are many.

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "drivers/inet/system_calls.hpp"
#include "drivers/inet/tcp.hpp"
#include "vm/port/driver_api.hpp"

namespace vmrun::inet {
namespace {

constexpr std::size_t kLittle = 256;  // it is cheaper to copy this many bytes

/// Small output is copied, because one piece costs the kernel less than several.
ssize_t write_little(int fd, const iovec* vectors, int count) {
  char bytes[kLittle];
  std::size_t size = 0;
  for (int i = 0; i < count; size += vectors[i++].iov_len)
    if (vectors[i].iov_len) std::memcpy(bytes + size, vectors[i].iov_base, vectors[i].iov_len);
  return send_now(fd, bytes, size);
}

constexpr int kVectors = 64;  // so many are offered to the system at once

/// Writes at most `most` bytes of the first vectors.
ssize_t write_some(int fd, const SysIOVec* vectors, int count, std::size_t most = SIZE_MAX) {
  iovec some[kVectors];
  int n_vectors = 0;
  std::size_t size = 0;
  for (; n_vectors < std::min(count, kVectors) && size < most; ++n_vectors) {
    some[n_vectors] = {vectors[n_vectors].iov_base, std::min(vectors[n_vectors].iov_len, most - size)};
    size += some[n_vectors].iov_len;
  }
  msghdr m{};
  m.msg_iov = some;
  m.msg_iovlen = static_cast<std::size_t>(n_vectors);
  ssize_t n;
  do n = size <= kLittle ? write_little(fd, some, n_vectors) : sendmsg(fd, &m, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n;
}

// Limits of output that waits because more will follow: this many bytes, or this many long packets,
// which are not copied.
constexpr std::size_t kMostGathered = 32 * 1024;
constexpr std::size_t kPacketsGathered = 4;

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

void TcpSocket::output(ErlIOVec& data) {
  Sender sender;
  if (!take_sender(data, &sender)) return;
  if (!is_connected() || shutdown_pending_ || lingers_) {
    const ErlDrvTermData reason = is_connected() ? words().closed
                                  : next_send_   ? next_send_
                                                 : errno_word(ENOTCONN);
    next_send_ = next_receive_ = 0;
    return reply_error(sender, reason);
  }
  send(data, std::move(sender));
}

/// Puts the length in front of a packet. The first vector is left free for this (erl_driver(3)). A
/// packet that is too long is not sent.
bool TcpSocket::add_length(ErlIOVec& data, char* header) const {
  const unsigned bytes = length_bytes(static_cast<PacketType>(settings_.packet_type));
  if (!bytes) return true;
  const ErlDrvSizeT size = data.size;
  if (size >> 8 * bytes) return false;
  for (unsigned i = 0; i < bytes; ++i) header[i] = static_cast<char>(size >> 8 * (bytes - 1 - i));
  data.iov[0].iov_base = header;
  data.iov[0].iov_len = bytes;
  data.size += bytes;
  return true;
}

/// Queues the output. Small pieces are copied next to each other, so that the queue needs few
/// vectors.
void TcpSocket::gather(const ErlIOVec& data) {
  for (int i = 0; i < data.vsize; ++i) {
    const SysIOVec& piece = data.iov[i];
    ErlDrvBinary* binary = piece.iov_len > kLittle ? data.binv[i] : nullptr;
    if (binary)
      driver_enq_bin(port_, binary, static_cast<char*>(piece.iov_base) - binary->orig_bytes, piece.iov_len);
    else driver_enq(port_, static_cast<char*>(piece.iov_base), piece.iov_len);
  }
}

void TcpSocket::send(ErlIOVec& data, Sender sender) {
  char header[4];
  if (!add_length(data, header)) return reply_error(sender, errno_word(EMSGSIZE));
  sent_.count(data.size);
  const bool idle = driver_sizeq(port_) == 0 && !file_;
  if (gathers_ || (idle && more_output_follows(port_))) {
    gather(data);
    if (idle) {
      gathers_ = true;
      note_ready(ERL_DRV_WRITE, true);
      select(ERL_DRV_WRITE, true);
    }
    const std::size_t enough = std::max(kMostGathered, kPacketsGathered * data.size);
    if (driver_sizeq(port_) >= enough && write_queue() == Life::kOver) return;
    return reply(sender);
  }
  ErlDrvSizeT written = 0;
  if (idle && !settings_.delay_send && data.size) {
    const ssize_t n = write_some(fd_, data.iov, data.vsize);
    if (n < 0 && !would_block(errno)) return static_cast<void>(send_failed(errno, &sender));
    if (n > 0) written = static_cast<ErlDrvSizeT>(n);
  }
  if (written < data.size) {
    driver_enqv(port_, &data, written);
    // The system tells when there is room again, but only if it has refused something.
    if (idle && (settings_.delay_send || data.vsize > kVectors)) note_ready(ERL_DRV_WRITE, true);
    if (idle) select(ERL_DRV_WRITE, true);
  }
  // As in OTP a sender does not wait for output that it alone has sent, however much that is. But a
  // sender waits behind others even if it sends nothing.
  if (!idle && driver_sizeq(port_) >= settings_.high_watermark) return set_busy(std::move(sender));
  reply(sender);
}

/// Output that was queued when a file transfer began is written before the file, later output
/// behind it.
Life TcpSocket::write_queue() {
  gathers_ = false;
  if (file_ && file_->queued_before == 0) {
    if (write_file() == Life::kOver) return Life::kOver;
    if (file_ || !is_connected()) return Life::kGoesOn;
  }
  int count = 0;
  while (SysIOVec* vectors = driver_peekq(port_, &count)) {
    const ssize_t n = write_some(fd_, vectors, count, file_ ? file_->queued_before : SIZE_MAX);
    if (n < 0) {
      if (would_block(errno)) break;
      return send_failed(errno, nullptr);
    }
    if (driver_deq(port_, static_cast<ErlDrvSizeT>(n)) <= settings_.low_watermark) not_busy();
    if (!file_) continue;
    file_->queued_before -= std::min(file_->queued_before, static_cast<std::size_t>(n));
    if (file_->queued_before == 0) {
      note_ready(ERL_DRV_WRITE, true);
      return Life::kGoesOn;
    }
  }
  if (driver_sizeq(port_) || file_) return Life::kGoesOn;
  select(ERL_DRV_WRITE, false);
  not_busy();
  if (std::exchange(shutdown_pending_, false)) end_output();
  if (is_about_to_be_closed()) is_about_to_close();
  if (!lingers_) output_queue_is_empty();
  return Life::kGoesOn;
}

/// Discards the queued output.
void TcpSocket::drop_output() {
  driver_deq(port_, driver_sizeq(port_));
  lingers_ = false;
}

void TcpSocket::end_output() {
  output_ended_ = true;
  ::shutdown(fd_, SHUT_WR);
}

// ---- Lingering ----------------------------------------------------------------------------------
//
// With {linger, {true, Seconds}} close(2) blocks until the other side has acknowledged all that was
// sent, and all processes of that scheduler would wait with it. So the process that closes waits
// instead: it gets a message when the output has gone out, the system's included.

/// Whether the end has been sent and its arrival is not confirmed. Linux waits for this in
/// close(2). When it changes, the system reports the descriptor as writable.
bool TcpSocket::is_being_acknowledged() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return info.tcpi_state == TCP_FIN_WAIT1 || info.tcpi_state == TCP_CLOSING ||
         info.tcpi_state == TCP_LAST_ACK;
}

void TcpSocket::is_about_to_close() {
  if (lingers_ || !is_connected() || driver_sizeq(port_) || file_ || linger_seconds() <= 0) return;
  if (!output_ended_) end_output();
  note_ready(ERL_DRV_WRITE, false);
  lingers_ = is_being_acknowledged();
  if (lingers_) select(ERL_DRV_WRITE, true);
}

void TcpSocket::linger_on() {
  if (is_being_acknowledged()) return;
  lingers_ = false;
  select(ERL_DRV_WRITE, false);
  output_queue_is_empty();
}

std::size_t TcpSocket::unsent() const {
  const std::size_t queued = driver_sizeq(port_);
  if (!lingers_ || !is_open()) return queued;
  int unacknowledged = 0;
  ioctl(fd_, SIOCOUTQ, &unacknowledged);
  return queued + static_cast<std::size_t>(std::max(unacknowledged, 1));
}

// ---- Busy ---------------------------------------------------------------------------------------

void TcpSocket::set_busy(Sender sender) {
  if (blocked_.empty()) {
    set_busy_port(port_, 1);
    send_deadline_ = deadline_after(settings_.send_timeout_ms);
    update_timer();
  }
  blocked_.push_back(std::move(sender));
}

void TcpSocket::not_busy() {
  if (blocked_.empty()) return;
  for (const Sender& sender : std::exchange(blocked_, {})) reply(sender);
  send_deadline_ = kNever;
  update_timer();
  set_busy_port(port_, 0);
}

void TcpSocket::fail_blocked(ErlDrvTermData reason) {
  if (blocked_.empty()) return;
  for (const Sender& sender : std::exchange(blocked_, {})) reply_error(sender, reason);
  send_deadline_ = kNever;
  set_busy_port(port_, 0);
}

/// Queued output stays, unless the timeout closes the socket.
void TcpSocket::send_timed_out() {
  fail_blocked(words().timeout);
  if (!settings_.send_timeout_close) return;
  drop_output();
  close_descriptor();
  input_.clear();
  fail_operations(words().closed);
}

}  // namespace vmrun::inet
