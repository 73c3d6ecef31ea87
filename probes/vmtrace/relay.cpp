// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/relay.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "probes/engine/attach_protocol.hpp"
#include "probes/engine/trace_clock.hpp"
#include "probes/print/merge.hpp"
#include "probes/vmtrace/reach.hpp"

namespace vmrun::d {
namespace {

constexpr std::size_t kMostWordsAtOnce = (1 << 20) / 8;
// The most bytes under way, wherever a slow line keeps them. Beyond that, records stay in the rings
// and are dropped there.
constexpr std::uint64_t kMostUnderWay = 8 << 20;
constexpr int kLookEveryMs = 10;

class Relay {
 public:
  Relay(int machine, std::int64_t pid)
      : machine_(machine, Channel::Descriptors::kTaken), far_(STDIN_FILENO, STDOUT_FILENO), pid_(pid) {}

  void run() {
    while (serve()) wait();
    (void)far_.flush();
  }

 private:
  struct Stream : TracingStream {
    Stream(std::unique_ptr<Ring> of, const bool& ended) : TracingStream(*of, ended), owned(std::move(of)) {}
    /// Whether there are drops that were not reported yet, or the ring has become full.
    bool has_news() const {
      if (owned->said_full() != reported_full) return true;
      for (unsigned kind = 0; kind < static_cast<unsigned>(Drop::kCount); ++kind)
        if (owned->said_drops(static_cast<Drop>(kind)) != reported[kind]) return true;
      return false;
    }
    std::unique_ptr<Ring> owned;
    bool reported_full = false;
    std::uint64_t reported[static_cast<unsigned>(Drop::kCount)] = {};
  };

  /// Returns false when one of the two sides is gone.
  bool serve() {
    const bool far_there = far_.fill();
    for (Channel::Received received; far_.take(received);) ask(received);
    const bool machine_there = machine_.flush() && machine_.fill();
    for (Channel::Received received; machine_.take(received);) answer(received);
    if (sent_bytes_ - taken_bytes_ < kMostUnderWay) send_records(false);
    if (!machine_there && !has_stopped_) send_records(true);
    return far_.flush() && far_there && machine_there;
  }

  void wait() {
    pollfd files[] = {{far_.descriptor(), POLLIN, 0},
                      {far_.wants_to_send() ? far_.out_descriptor() : -1, POLLOUT, 0},
                      {machine_.descriptor(), POLLIN, 0},
                      {machine_.wants_to_send() ? machine_.descriptor() : -1, POLLOUT, 0}};
    poll(files, std::size(files), streams_.empty() ? -1 : kLookEveryMs);
  }

  void ask(const Channel::Received& received) {
    if (received.message == Message::kTaken) {
      taken_bytes_ = std::min(sent_bytes_, Unpacker(received.body).u64());
      return;
    }
    if (received.message != Message::kClock) return machine_.send(received.message, received.body);
    far_.send(Message::kClock, Packer().u64(timestamp()).u64(static_cast<std::uint64_t>(pid_)).bytes);
  }

  void answer(Channel::Received& received) {
    if (received.message == Message::kRing) return add(received.passed);
    if (received.message == Message::kStopped) {  // nothing fires any more
      send_records(true);
      has_stopped_ = true;
    }
    far_.send(received.message, received.body);
  }

  void add(int descriptor) {
    std::string why;
    rings_reported_++;
    if (auto ring = descriptor < 0 ? nullptr : Ring::map(descriptor, why))
      streams_.push_back(std::make_unique<Stream>(std::move(ring), has_ended_));
  }

  bool is_ring_missing() const {
    return std::ranges::any_of(streams_,
                               [this](const auto& s) { return s->is_ring_missing(rings_reported_); });
  }

  /// Sends what is in the rings. It takes rounds until no record is missing that caused one already
  /// sent.
  void send_records(bool all) {
    has_ended_ = all;
    const std::uint64_t until = all ? ~0ULL : timestamp() - kSettledNs;
    if (streams_.empty() || (!all && is_ring_missing())) return;
    fill_all(streams_, until, [this] { send_taken(); });
    send_taken();
    far_.send(Message::kSettled, Packer().u64(until).bytes);
  }

  void send_taken() {
    for (const auto& stream : streams_)
      for (auto words = stream->take_words(kMostWordsAtOnce); !words.empty() || stream->has_news();
           words = stream->take_words(kMostWordsAtOnce))
        send_packed(pack(*stream, words));
  }

  void send_packed(const std::string& body) {
    sent_bytes_ += body.size();
    far_.send(Message::kRecords, body);
  }

  static std::string pack(Stream& stream, std::span<const std::uint64_t> words) {
    const Ring& ring = *stream.owned;
    stream.reported_full = ring.said_full();
    Packer body;
    body.u32(ring.number()).u64(ring.tid()).u64(ring.capacity_bytes()).u32(stream.reported_full ? 1 : 0);
    for (unsigned kind = 0; kind < static_cast<unsigned>(Drop::kCount); ++kind)
      body.u64(stream.reported[kind] = ring.said_drops(static_cast<Drop>(kind)));
    body.text({reinterpret_cast<const char*>(words.data()), words.size() * 8});
    return std::move(body.bytes);
  }

  Channel machine_, far_;
  std::int64_t pid_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::size_t rings_reported_ = 0;
  std::uint64_t sent_bytes_ = 0, taken_bytes_ = 0;  // of the bodies of kRecords
  bool has_ended_ = false, has_stopped_ = false;
};

}  // namespace

int relay(std::int64_t pid) {
  std::signal(SIGPIPE, SIG_IGN);
  std::string why;
  const int machine = open_endpoint(pid, why);
  if (machine < 0)
    return std::fputs(fmt::format("vmtrace: failed to grab pid {}: {}\n", pid, why).c_str(), stderr), 1;
  adjust_clock();
  Relay(machine, pid).run();
  return 0;
}

}  // namespace vmrun::d
