// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/attach_protocol.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace vmrun::d {

// ---- Bodies -------------------------------------------------------------------------------------

bool Unpacker::take(void* to, std::size_t n) {
  ok_ = ok_ && rest_.size() >= n;
  if (!ok_) return false;
  std::memcpy(to, rest_.data(), n);
  rest_.remove_prefix(n);
  return true;
}

std::uint32_t Unpacker::u32() {
  std::uint32_t n = 0;
  return take(&n, sizeof n) ? n : 0;
}
std::uint64_t Unpacker::u64() {
  std::uint64_t n = 0;
  return take(&n, sizeof n) ? n : 0;
}
std::string Unpacker::text() {
  const std::uint32_t n = u32();
  ok_ = ok_ && rest_.size() >= n;
  if (!ok_) return {};
  std::string t(rest_.substr(0, n));
  rest_.remove_prefix(n);
  return t;
}

std::string_view refusal(std::uint32_t version, bool has_probes) {
  if (version != kWireVersion) return "it speaks another version";
  return has_probes ? "" : "its probes are compiled out (-Dprobes=none)";
}

std::string pack_probes(const std::vector<ProbeInfo>& probes) {
  Packer out;
  out.u32(kWireVersion).u32(static_cast<std::uint32_t>(probes.size()));
  for (const ProbeInfo& p : probes) {
    out.text(p.provider).text(p.module).text(p.function).text(p.name);
    out.u32(static_cast<std::uint32_t>(p.arguments.size()));
    for (const ProbeArgument& a : p.arguments) out.text(a.name).u32(static_cast<std::uint32_t>(a.kind));
  }
  return std::move(out.bytes);
}

bool unpack_probes(std::string_view body, std::vector<ProbeInfo>& probes) {
  Unpacker in(body);
  if (in.u32() != kWireVersion) return false;
  const std::uint32_t count = in.u32();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    ProbeInfo p;
    p.provider = in.text();
    p.module = in.text();
    p.function = in.text();
    p.name = in.text();
    const std::uint32_t arguments = in.u32();
    for (std::uint32_t n = 0; n < arguments && in.ok(); ++n) {
      std::string name = in.text();
      p.arguments.push_back({std::move(name), static_cast<ArgumentKind>(in.u32())});
    }
    probes.push_back(std::move(p));
  }
  return in.ok() && in.at_end();
}

std::string pack_elements(const std::vector<Element>& elements) {
  Packer out;
  out.u32(static_cast<std::uint32_t>(elements.size()));
  for (const Element& e : elements) {
    out.u32(e.aggregation).text(e.key).u32(static_cast<std::uint32_t>(e.values.size()));
    for (const std::uint64_t v : e.values) out.u64(v);
  }
  return std::move(out.bytes);
}

bool unpack_elements(std::string_view body, std::vector<Element>& elements) {
  Unpacker in(body);
  const std::uint32_t count = in.u32();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    Element e{in.u32(), in.text(), {}};
    const std::uint32_t values = in.u32();
    for (std::uint32_t n = 0; n < values && in.ok(); ++n) e.values.push_back(in.u64());
    elements.push_back(std::move(e));
  }
  return in.ok() && in.at_end();
}

std::string pack_functions(const std::vector<FunctionName>& functions) {
  Packer out;
  out.u32(static_cast<std::uint32_t>(functions.size()));
  for (const FunctionName& f : functions) out.text(f.module).text(f.function).u32(f.arity);
  return std::move(out.bytes);
}

bool unpack_functions(std::string_view body, std::vector<ListedFunction>& functions) {
  Unpacker in(body);
  for (std::uint32_t left = in.u32(); left > 0 && in.ok(); --left) {
    ListedFunction f;
    f.module = in.text();
    f.function = in.text();
    f.arity = in.u32();
    functions.push_back(std::move(f));
  }
  return in.ok() && in.at_end();
}

std::string pack_names(const std::vector<std::string>& names) {
  Packer out;
  for (const std::string& n : names) out.text(n);
  return std::move(out.bytes);
}

bool unpack_names(std::string_view body, std::vector<std::string>& names) {
  Unpacker in(body);
  while (in.ok() && !in.at_end()) names.push_back(in.text());
  return in.ok();
}

// ---- Channel ------------------------------------------------------------------------------------

Channel::Channel(int in, int out)
    : descriptor_(in), out_descriptor_(out), is_plain_(true), descriptors_(Descriptors::kRefused) {
  for (const int d : {in, out}) fcntl(d, F_SETFL, fcntl(d, F_GETFL) | O_NONBLOCK);
}

Channel::Channel(Channel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      out_descriptor_(other.out_descriptor_),
      is_plain_(other.is_plain_),
      descriptors_(other.descriptors_),
      out_(std::move(other.out_)),
      in_(std::move(other.in_)),
      sent_(other.sent_),
      taken_(other.taken_),
      passing_(std::exchange(other.passing_, {})),
      arrived_(std::exchange(other.arrived_, {})),
      broken_(other.broken_) {}

Channel::~Channel() {
  for (const Passed& p : passing_) close(p.descriptor);
  for (const int fd : arrived_) close(fd);
  if (descriptor_ >= 0 && !is_plain_) close(descriptor_);
}

void Channel::send(Message message, std::string_view body, int passed) {
  const Head head{message, static_cast<std::uint32_t>(body.size())};
  if (passed >= 0) passing_.push_back({out_.size(), passed});
  out_.append(reinterpret_cast<const char*>(&head), sizeof head);
  out_.append(body);
  (void)flush();  // the next caller that asks learns of a failure
}

// A consumer that reads slowly but steadily never leaves the buffer empty.
void Channel::forget_sent() {
  constexpr std::size_t kWorthMoving = 1 << 20;
  if (wants_to_send() && (sent_ < kWorthMoving || sent_ < out_.size() / 2)) return;
  out_.erase(0, sent_);
  for (Passed& p : passing_) p.at -= sent_;
  sent_ = 0;
}

/// Works as sendmsg does: sends what is next, as far as the other side takes it.
std::ptrdiff_t Channel::write_some() {
  if (is_plain_) return write(out_descriptor_, out_.data() + sent_, out_.size() - sent_);
  // A descriptor goes with the byte it belongs to. Bytes that belong to the next descriptor do not
  // go along.
  std::size_t end = out_.size();
  const bool passes = !passing_.empty() && passing_[0].at == sent_;
  for (const Passed& p : passing_)
    if (p.at > sent_) end = std::min(end, p.at);
  iovec bytes{out_.data() + sent_, end - sent_};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr m{};
  m.msg_iov = &bytes;
  m.msg_iovlen = 1;
  if (passes) {
    m.msg_control = control;
    m.msg_controllen = sizeof control;
    cmsghdr* c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &passing_[0].descriptor, sizeof(int));
  }
  const ssize_t n = sendmsg(descriptor_, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (passes && n > 0) {
    close(passing_[0].descriptor);
    passing_.erase(passing_.begin());
  }
  return n;
}

bool Channel::flush() {
  while (!broken_ && wants_to_send()) {
    const std::ptrdiff_t n = write_some();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n < 0) broken_ = true;
    else sent_ += static_cast<std::size_t>(n);
  }
  forget_sent();
  return !broken_;
}

/// Works as recvmsg does, and keeps descriptors that come along.
std::ptrdiff_t Channel::read_some(char* buffer, std::size_t size) {
  if (is_plain_) return read(descriptor_, buffer, size);
  iovec bytes{buffer, size};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
  msghdr m{};
  m.msg_iov = &bytes;
  m.msg_iovlen = 1;
  if (descriptors_ == Descriptors::kTaken) {
    m.msg_control = control;
    m.msg_controllen = sizeof control;
  }  // otherwise the kernel closes them
  const ssize_t n = recvmsg(descriptor_, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n <= 0) return n;
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      arrived_.push_back(fd);
    }
  }
  return n;
}

bool Channel::fill() {
  constexpr std::size_t kAtOnce = 1 << 20;
  for (std::size_t read = 0; read < kAtOnce;) {
    char buffer[1 << 16];
    const std::ptrdiff_t n = read_some(buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return !broken_;
    if (n <= 0) return false;
    in_.append(buffer, static_cast<std::size_t>(n));
    read += static_cast<std::size_t>(n);
    if (in_.size() - taken_ > kLongestMessage + sizeof(Head) + kAtOnce) return false;
  }
  return !broken_;
}

bool Channel::take(Received& received) {
  Head head;
  if (in_.size() - taken_ < sizeof head) return false;
  std::memcpy(&head, in_.data() + taken_, sizeof head);
  if (head.bytes > kLongestMessage) {
    broken_ = true;
    return false;
  }
  if (in_.size() - taken_ - sizeof head < head.bytes) return false;
  received.message = head.message;
  received.body.assign(in_, taken_ + sizeof head, head.bytes);
  received.passed = -1;
  if (head.message == Message::kRing && !arrived_.empty()) {
    received.passed = arrived_.front();
    arrived_.erase(arrived_.begin());
  }
  taken_ += sizeof head + head.bytes;
  if (taken_ == in_.size() || taken_ > (1 << 20)) {
    in_.erase(0, taken_);
    taken_ = 0;
  }
  return true;
}

bool Channel::wait(Received& received, int timeout_ms) {
  const auto now_ms = [] {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000;
  };
  const std::int64_t end = now_ms() + timeout_ms;
  bool there = true;
  for (;;) {
    if (take(received)) return true;
    if (!there) return false;
    if (!flush()) {  // what the other side said before it went can still be read
      there = false;
      (void)fill();
      continue;
    }
    const std::int64_t left = timeout_ms < 0 ? -1 : std::max<std::int64_t>(0, end - now_ms());
    pollfd p[2] = {{descriptor_, POLLIN, 0}, {wants_to_send() ? out_descriptor_ : -1, POLLOUT, 0}};
    const int n = poll(p, 2, static_cast<int>(left));
    if (n == 0) return false;
    if (n > 0 && p[0].revents != 0) there = fill();
  }
}

}  // namespace vmrun::d
