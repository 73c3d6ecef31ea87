#include "runtime/epmd/service.hpp"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "runtime/epmd/registry.hpp"

namespace vmrun::epmd {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint16_t kPort = 4369;
constexpr int kBacklog = 128;
constexpr std::size_t kLongestRequest = 1024;         // a node sends its name and little else
constexpr auto kPatience = std::chrono::seconds(60);  // how long a request may take
constexpr rlim_t kOtherFiles = 32;

/// An address of IPv4 or IPv6.
union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

socklen_t size_of(const Address& a) { return a.any.sa_family == AF_INET6 ? sizeof a.v6 : sizeof a.v4; }

bool is_loopback(const Address& a) {
  if (a.any.sa_family == AF_INET) return ntohl(a.v4.sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr);
}

bool same_host(const Address& a, const Address& b) {
  if (a.any.sa_family != b.any.sa_family) return false;
  return a.any.sa_family == AF_INET ? a.v4.sin_addr.s_addr == b.v4.sin_addr.s_addr
                                    : std::memcmp(&a.v6.sin6_addr, &b.v6.sin6_addr, sizeof(in6_addr)) == 0;
}

/// Whether the other end of a connection is on this host.
bool is_local(int fd) {
  Address peer{}, own{};
  socklen_t peer_size = sizeof peer, own_size = sizeof own;
  return getpeername(fd, &peer.any, &peer_size) == 0 && getsockname(fd, &own.any, &own_size) == 0 &&
         (is_loopback(peer) || same_host(peer, own));
}

bool parse(const std::string& text, std::uint16_t port, Address* out) {
  *out = {};
  if (inet_pton(AF_INET, text.c_str(), &out->v4.sin_addr) == 1) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(port);
    return true;
  }
  if (inet_pton(AF_INET6, text.c_str(), &out->v6.sin6_addr) != 1) return false;
  out->v6.sin6_family = AF_INET6;
  out->v6.sin6_port = htons(port);
  return true;
}

std::vector<std::string> addresses() {
  const char* given = std::getenv("ERL_EPMD_ADDRESS");
  if (!given || !*given) return {"0.0.0.0", "::"};
  std::vector<std::string> list{"127.0.0.1", "::1"};
  for (const char* p = given; *p;) {
    const std::size_t n = std::strcspn(p, ", ");
    if (n && std::find(list.begin(), list.end(), std::string(p, n)) == list.end()) list.emplace_back(p, n);
    p += n + (p[n] != 0);
  }
  return list;
}

/// Returns a listening socket, or -1 with errno set.
int listen_at(const Address& at) {
  const int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (at.any.sa_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(fd, &at.any, size_of(at)) == 0 && listen(fd, kBacklog) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/// If the host has no IPv6, the IPv4 addresses suffice.
bool listen_everywhere(std::uint16_t port, std::vector<int>* listeners) {
  for (const std::string& text : addresses()) {
    Address at;
    if (!parse(text, port, &at)) {
      std::fprintf(stderr, "vmrun -epmd: '%s' in ERL_EPMD_ADDRESS is no address\n", text.c_str());
      return false;
    }
    const int fd = listen_at(at);
    const bool lacks_family =
        at.any.sa_family == AF_INET6 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL);
    if (fd >= 0) listeners->push_back(fd);
    else if (!lacks_family) {
      std::fprintf(stderr, "vmrun -epmd: port %u at %s: %s\n", port, text.c_str(), std::strerror(errno));
      return false;
    }
  }
  return true;
}

class Service {
 public:
  Service(std::uint16_t port, std::vector<int> listeners)
      : listeners_(std::move(listeners)),
        registry_(port, static_cast<std::uint32_t>(std::time(nullptr)),
                  std::getenv("ERL_EPMD_RELAXED_COMMAND_CHECK") != nullptr) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    most_clients_ = files.rlim_cur > 2 * kOtherFiles ? files.rlim_cur - kOtherFiles : kOtherFiles;
  }

  /// Serves until a request ends it.
  void run() {
    while (!ended_) {
      std::vector<pollfd> waited = descriptors();
      if (poll(waited.data(), waited.size(), next_deadline_ms()) < 0 && errno != EINTR) return;
      for (std::size_t i = 0; i < listeners_.size(); ++i)
        if (waited[i].revents) accept_all(listeners_[i]);
      for (std::size_t i = 0; i + listeners_.size() < waited.size(); ++i)
        if (waited[i + listeners_.size()].revents) serve(clients_[i]);
      drop_ended();
    }
  }

 private:
  struct Client {
    int fd;
    bool local;
    Clock::time_point deadline;
    std::string in, out;
    bool registered = false, closing = false, ends = false, gone = false;
  };

  /// First the listeners, then the clients in their order. When there is no room for more clients,
  /// new ones wait in the kernel's queue.
  std::vector<pollfd> descriptors() const {
    std::vector<pollfd> all;
    const short accepting = clients_.size() < most_clients_ ? POLLIN : 0;
    for (const int fd : listeners_) all.push_back({fd, accepting, 0});
    for (const Client& c : clients_)
      all.push_back({c.fd, static_cast<short>(c.out.empty() ? POLLIN : POLLOUT), 0});
    return all;
  }

  int next_deadline_ms() const {
    Clock::time_point first = Clock::time_point::max();
    for (const Client& c : clients_)
      if (!c.registered) first = std::min(first, c.deadline);
    if (first == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }

  void accept_all(int listener) {
    while (clients_.size() < most_clients_) {
      const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      clients_.push_back({fd, is_local(fd), Clock::now() + kPatience, {}, {}});
    }
  }

  void serve(Client& c) {
    if (c.out.empty()) receive(c);
    if (!c.out.empty()) send(c);
    else if (c.closing) c.gone = true;
  }

  /// A registered node sends nothing more; its connection becomes readable when the node is gone.
  void receive(Client& c) {
    char buffer[kLongestRequest];
    const ssize_t n = read(c.fd, buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0 || c.registered) {
      c.gone = n <= 0 || c.gone;
      return;
    }
    c.in.append(buffer, static_cast<std::size_t>(n));
    if (c.in.size() < 2) return;
    const std::size_t size = static_cast<std::uint8_t>(c.in[0]) * 256u + static_cast<std::uint8_t>(c.in[1]);
    if (size > kLongestRequest) c.gone = true;
    else if (c.in.size() >= size + 2) answer(c, std::string_view(c.in).substr(2, size));
  }

  void answer(Client& c, std::string_view request) {
    Answer answer = registry_.answer(request, c.fd, c.local);
    c.out = std::move(answer.bytes);
    c.registered = answer.then == Then::kKeepOpen;
    c.closing = !c.registered;
    c.ends = answer.then == Then::kEnd;
    c.in.clear();
  }

  void send(Client& c) {
    const ssize_t n = ::send(c.fd, c.out.data(), c.out.size(), MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n >= 0) c.out.erase(0, static_cast<std::size_t>(n));
    c.gone = n < 0 || (c.out.empty() && c.closing);
    ended_ = ended_ || (c.gone && c.ends);  // also when the other end does not wait for the answer
  }

  void drop_ended() {
    const Clock::time_point now = Clock::now();
    std::erase_if(clients_, [&](const Client& c) {
      if (!c.gone && (c.registered || c.deadline > now)) return false;
      registry_.closed(c.fd);
      close(c.fd);
      return true;
    });
  }

  std::vector<int> listeners_;
  std::vector<Client> clients_;
  Registry registry_;
  std::size_t most_clients_;
  bool ended_ = false;
};

/// Returns true in the process that goes on: it is not a child of the starting program, and has
/// none of its terminal, directory and files.
bool go_into_background(const std::vector<int>& listeners) {
  std::fflush(nullptr);
  if (fork() != 0) return false;
  setsid();
  if (fork() != 0) _exit(0);
  if (chdir("/") != 0) _exit(1);
  const int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) dup2(nothing, fd);
  const int last = *std::max_element(listeners.begin(), listeners.end());
  for (int fd = 3; fd <= std::max(last, nothing); ++fd)
    if (std::find(listeners.begin(), listeners.end(), fd) == listeners.end()) close(fd);
  closefrom(std::max(last, nothing) + 1);
  return true;
}

}  // namespace

std::uint16_t service_port() {
  const char* text = std::getenv("ERL_EPMD_PORT");
  std::uint16_t port = kPort;
  if (text) std::from_chars(text, text + std::strlen(text), port);
  return port;
}

int serve(bool in_background) {
  const std::uint16_t port = service_port();
  std::vector<int> listeners;
  if (!listen_everywhere(port, &listeners)) return 1;
  if (in_background && !go_into_background(listeners)) return 0;
  ::signal(SIGHUP, SIG_IGN);
  Service(port, std::move(listeners)).run();
  return 0;
}

}  // namespace vmrun::epmd
