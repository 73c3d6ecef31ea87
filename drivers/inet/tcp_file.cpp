// SPDX-License-Identifier: Apache-2.0
// Sending a file on a stream: the kernel copies it from its cache to the socket.

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "drivers/inet/tcp.hpp"

namespace vmrun::inet {
namespace {

constexpr std::uint64_t kMostAtOnce = 256 * 1024;  // then others get their turn

}  // namespace

FileTransfer::~FileTransfer() { close(fd); }

/// descriptor, as the system has it | offset, 8 bytes | length, 8 bytes
Answer TcpSocket::send_file(Reader& in) {
  if (in.left() != sizeof(int) + 16) return Answer::failed(EINVAL);
  if (!is_connected()) return Answer::failed(next_send_ ? "closed" : "enotconn");
  if (file_ || shutdown_pending_) return Answer::failed(EALREADY);
  int theirs;
  std::memcpy(&theirs, in.bytes(sizeof theirs).data(), sizeof theirs);
  // A duplicate, because the file may be closed before the end.
  const int fd = fcntl(theirs, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return Answer::failed(errno);
  file_ = std::make_unique<FileTransfer>();
  file_->fd = fd;
  file_->at = in.u64();
  file_->left = in.u64();
  file_->caller = driver_caller(port_);
  file_->queued_before = driver_sizeq(port_);
  if (!file_->queued_before) note_ready(ERL_DRV_WRITE, true);
  select(ERL_DRV_WRITE, true);
  return {};
}

void TcpSocket::end_file(ErlDrvTermData reason) {
  const std::unique_ptr<FileTransfer> file = std::move(file_);
  Message m;
  m.atom(words().sendfile).port(port_);
  if (reason) m.atom(words().error).atom(reason).tuple(2);
  else
    m.atom(words().ok)
        .number(file->sent & 0xFFFFFFFF)
        .number(static_cast<std::int64_t>(file->sent >> 32))
        .tuple(3);
  m.tuple(3).send(file->caller);
}

Life TcpSocket::write_file() {
  FileTransfer& f = *file_;
  if (f.left) {
    auto offset = static_cast<off_t>(f.at);
    const ssize_t n = sendfile(fd_, f.fd, &offset, std::min(f.left, kMostAtOnce));
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return Life::kGoesOn;
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) return send_failed(errno, nullptr);
    if (n < 0) {
      end_file(errno_word(errno));
    } else if (n == 0) {
      f.left = 0;  // the end of the file
    } else {
      f.at += static_cast<std::uint64_t>(n);
      f.sent += static_cast<std::uint64_t>(n);
      f.left -= static_cast<std::uint64_t>(n);
      sent_.count(static_cast<std::size_t>(n));
      note_ready(ERL_DRV_WRITE, true);
    }
  }
  if (file_ && file_->left == 0) end_file(0);
  return Life::kGoesOn;
}

}  // namespace vmrun::inet
