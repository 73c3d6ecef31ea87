// SPDX-License-Identifier: Apache-2.0
#include "drivers/stream/byte_stream.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "vm/base/uninterrupted.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kReadsAtOnce = 4;  // then others get their turn

ErlDrvEvent event_of(int fd) { return reinterpret_cast<ErlDrvEvent>(static_cast<std::intptr_t>(fd)); }

std::size_t body_size(const std::uint8_t* header, unsigned bytes) {
  std::size_t size = 0;
  for (unsigned i = 0; i < bytes; ++i) size = size << 8 | header[i];
  return size;
}

void make_non_blocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

void ByteStream::start(ErlDrvPort port, const Options& options) {
  port_ = port;
  options_ = options;
  if (options_.own) {
    if (options_.in >= 0) make_non_blocking(options_.in);
    if (options_.out >= 0) make_non_blocking(options_.out);
  }
  const int use = options_.own ? ERL_DRV_USE : ERL_DRV_USE_NO_CALLBACK;
  if (options_.in >= 0) {
    driver_select(port_, event_of(options_.in), ERL_DRV_READ | use, 1);
    reading_ = true;
  }
  if (options_.out >= 0 && options_.out != options_.in) driver_select(port_, event_of(options_.out), use, 1);
}

void ByteStream::stop() {
  const int use = ERL_DRV_READ | ERL_DRV_WRITE | (options_.own ? ERL_DRV_USE : ERL_DRV_USE_NO_CALLBACK);
  if (options_.in >= 0) driver_select(port_, event_of(options_.in), use, 0);
  if (options_.out >= 0 && options_.out != options_.in) driver_select(port_, event_of(options_.out), use, 0);
  if (body_) driver_free_binary(body_);
  body_ = nullptr;
}

void ByteStream::end_input() {
  if (reading_) driver_select(port_, event_of(options_.in), ERL_DRV_READ, 0);
  reading_ = false;
}

ByteStream::Read ByteStream::failed(int error) {
  driver_failure_posix(port_, error);
  return Read::kFailed;
}

ByteStream::Read ByteStream::read_ready() {
  thread_local std::uint8_t buffer[kReadBytes];
  // Others may use the descriptor too if it is not ours; then only one read is certain not to
  // block.
  for (int reads = options_.own ? kReadsAtOnce : 1; reads; --reads) {
    // The missing part of a long message is read directly into its binary.
    iovec parts[2];
    int count = 0;
    std::size_t missing = 0;
    if (body_) {
      missing = static_cast<std::size_t>(body_->orig_size) - body_have_;
      parts[count++] = {body_->orig_bytes + body_have_, missing};
    }
    parts[count++] = {buffer, sizeof buffer};
    const ssize_t n = readv(options_.in, parts, count);
    if (n < 0) return would_block(errno) ? Read::kMore : failed(errno);
    if (n == 0) return Read::kEnd;
    const auto got = static_cast<std::size_t>(n);
    const std::size_t into_body = std::min(got, missing);
    body_have_ += into_body;
    if (body_ && into_body == missing) {
      driver_output_binary(port_, nullptr, 0, body_, 0, static_cast<ErlDrvSizeT>(body_->orig_size));
      driver_free_binary(body_);
      body_ = nullptr;
    }
    if (got > into_body && !take(buffer, got - into_body)) return failed(ENOMEM);
    if (got < missing + sizeof buffer) break;
  }
  return Read::kMore;
}

bool ByteStream::take(const std::uint8_t* bytes, std::size_t size) {
  if (options_.packet_bytes == 0) {
    driver_output(port_, reinterpret_cast<char*>(const_cast<std::uint8_t*>(bytes)), size);
    return true;
  }
  while (size > 0) {
    while (header_have_ < options_.packet_bytes && size > 0) {
      header_[header_have_++] = *bytes++;
      --size;
    }
    if (header_have_ < options_.packet_bytes) break;
    header_have_ = 0;
    const std::size_t wanted = body_size(header_, options_.packet_bytes);
    if (wanted <= size) {
      driver_output(port_, reinterpret_cast<char*>(const_cast<std::uint8_t*>(bytes)), wanted);
      bytes += wanted;
      size -= wanted;
    } else {
      body_ = driver_alloc_binary(wanted);
      if (!body_) return false;
      std::memcpy(body_->orig_bytes, bytes, size);
      body_have_ = size;
      size = 0;
    }
  }
  return true;
}

bool ByteStream::fail_write(int error) {
  driver_failure_posix(port_, error);
  return false;
}

/// Like writev. A descriptor that may block is written to only after poll has reported it ready.
long ByteStream::write_some(SysIOVec* vectors, int count) {
  iovec limited;
  auto* v = reinterpret_cast<iovec*>(vectors);
  if (!options_.own) {
    pollfd ready{options_.out, POLLOUT, 0};
    if (uninterrupted([&] { return poll(&ready, 1, 0); }) == 0) {
      errno = EAGAIN;
      return -1;
    }
    while (count > 1 && v->iov_len == 0) {
      ++v;
      --count;
    }
    limited = {v->iov_base, std::min<std::size_t>(v->iov_len, PIPE_BUF)};
    v = &limited;
    count = 1;
  }
  return writev(options_.out, v, std::min(count, IOV_MAX));
}

/// Puts the length in front of a message. The first vector is left free for this (erl_driver(3)).
bool ByteStream::add_header(ErlIOVec* data, char* header) {
  const ErlDrvSizeT size = data->size;
  if (size >> (8 * options_.packet_bytes)) return false;
  for (unsigned i = 0; i < options_.packet_bytes; ++i)
    header[i] = static_cast<char>(size >> 8 * (options_.packet_bytes - 1 - i));
  data->iov[0].iov_base = header;
  data->iov[0].iov_len = options_.packet_bytes;
  data->size += options_.packet_bytes;
  return true;
}

bool ByteStream::write(ErlIOVec* data) {
  char header[4];
  if (options_.packet_bytes && !add_header(data, header)) return fail_write(EINVAL);
  const bool idle = driver_sizeq(port_) == 0;
  ErlDrvSizeT written = 0;
  if (idle && options_.own) {
    const long n = write_some(data->iov, data->vsize);
    if (n < 0 && !would_block(errno)) return fail_write(errno);
    if (n > 0) written = static_cast<ErlDrvSizeT>(n);
    if (written == data->size) return true;
  }
  driver_enqv(port_, data, written);
  if (idle) {
    if (!options_.own && !write_queue()) return false;
    if (driver_sizeq(port_) > 0) driver_select(port_, event_of(options_.out), ERL_DRV_WRITE, 1);
  }
  if (options_.queue_high && !busy_ && driver_sizeq(port_) >= options_.queue_high) {
    busy_ = true;
    set_busy_port(port_, 1);
  }
  return true;
}

bool ByteStream::write_queue() {
  int count = 0;
  while (SysIOVec* vectors = driver_peekq(port_, &count)) {
    if (count == 0) break;
    const long n = write_some(vectors, count);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return would_block(errno) || fail_write(errno);
    driver_deq(port_, static_cast<ErlDrvSizeT>(n));
  }
  return true;
}

bool ByteStream::write_ready() {
  if (!write_queue()) return false;
  const ErlDrvSizeT left = driver_sizeq(port_);
  if (left == 0) driver_select(port_, event_of(options_.out), ERL_DRV_WRITE, 0);
  if (busy_ && left <= options_.queue_low) {
    busy_ = false;
    set_busy_port(port_, 0);
  }
  return true;
}

}  // namespace vmrun
