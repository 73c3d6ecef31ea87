// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <deque>
#include <limits>

#include <fmt/format.h>

#include "probes/engine/trace_clock.hpp"
#include "probes/vmtrace/machine_target.hpp"
#include "probes/vmtrace/started_command.hpp"

// A machine on another host, behind a vmtrace there (relay.hpp). Its records come over the
// connection and go into rings here, with their times on this host's clock.
namespace vmrun::d {
namespace {

constexpr int kFirstAnswerMs = 60'000;  // a user may have to type a password first
constexpr int kClockTries = 5;
constexpr std::size_t kLeastRingBytes = 2 << 20;  // room for what comes at once
constexpr int kLeaveTries = 40;                   // 200 ms

class RemoteTarget final : public MachineTarget {
 public:
  RemoteTarget(int connection, pid_t child, std::string command, std::string what)
      : MachineTarget(Channel(connection, Channel::Descriptors::kRefused), 0, 0),
        child_(child),
        command_(std::move(command)),
        what_(std::move(what)) {}
  ~RemoteTarget() override {
    close_connection();
    for (int i = 0; waitpid(child_, nullptr, WNOHANG) == 0; ++i) {
      if (i == kLeaveTries) kill(child_, SIGTERM);
      if (i == 2 * kLeaveTries) kill(child_, SIGKILL);
      const timespec pause{0, 5'000'000};
      nanosleep(&pause, nullptr);
    }
  }

  /// Learns the process number, and how far the other clock is ahead of ours. The other clock is
  /// taken to be read in the middle between question and answer, unless both clocks seem to be the
  /// same.
  bool meet(std::string& why) {
    adjust_clock();
    std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < kClockTries; ++i) {
      const std::uint64_t asked = timestamp();
      channel().send(Message::kClock);
      Channel::Received answer;
      if (!await(Message::kClock, answer, why, i == 0 ? kFirstAnswerMs : kAnswerMs)) return false;
      const std::uint64_t took = timestamp() - asked;
      Unpacker body(answer.body);
      const std::uint64_t there = body.u64();
      set_pid(static_cast<std::int64_t>(body.u64()));
      if (took >= shortest) continue;
      shortest = took;
      const bool is_between = there - asked <= took;  // modulo 2^64, as all these times
      ahead_ns_ = is_between ? 0 : there - (asked + took / 2);
    }
    return true;
  }

  std::vector<Ring*> rings() override {
    while (!pending_.empty() && take(pending_.front())) pending_.pop_front();
    return MachineTarget::rings();
  }
  std::size_t rings_reported() override { return MachineTarget::rings().size(); }
  std::uint64_t complete_until() override { return gone() && pending_.empty() ? ~0ULL : complete_until_; }
  std::unique_ptr<Target> again(std::string& why) override { return remote_target(command_, what_, why); }

 protected:
  void by_the_way(Channel::Received& received) override {
    if (received.message != Message::kRecords && received.message != Message::kSettled)
      return MachineTarget::by_the_way(received);
    pending_.push_back(std::move(received));
  }

 private:
  /// Returns false when the ring of these records is not empty yet.
  bool take(const Channel::Received& received) {
    Unpacker body(received.body);
    if (received.message == Message::kRecords) {
      if (!take_records(body)) return false;
      taken_bytes_ += received.body.size();
      return true;
    }
    if (!gone()) channel().send(Message::kTaken, Packer().u64(taken_bytes_).bytes);
    if (const std::uint64_t until = body.u64(); until == ~0ULL) complete_until_ = until;
    else complete_until_ = until - ahead_ns_;
    return true;
  }

  bool take_records(Unpacker& body) {
    const std::uint32_t number = body.u32();
    const std::uint64_t tid = body.u64(), bytes = body.u64();
    const bool is_full = body.u32() != 0;
    std::uint64_t drops[static_cast<unsigned>(Drop::kCount)];
    for (std::uint64_t& n : drops) n = body.u64();
    Ring* ring = ring_of(number, tid, bytes);
    if (ring == nullptr || !body.ok()) return true;
    if (!ring->empty()) return false;
    put(*ring, body.text());
    ring->say(is_full, drops);
    return true;
  }

  Ring* ring_of(std::uint32_t number, std::uint64_t tid, std::uint64_t bytes) {
    for (Ring* ring : MachineTarget::rings())
      if (ring->number() == number) return ring;
    auto made =
        Ring::make(std::max<std::uint64_t>(bytes, kLeastRingBytes), number, tid, Options::Policy::kSwitch);
    Ring* const ring = made.get();
    if (made != nullptr) add_ring(std::move(made));
    return ring;
  }

  void put(Ring& ring, const std::string& bytes) {
    std::vector<std::uint64_t> words(bytes.size() / 8);
    std::copy_n(bytes.data(), words.size() * 8, reinterpret_cast<char*>(words.data()));
    for (std::size_t at = 0; at + sizeof(Record) / 8 <= words.size();) {
      Record head;
      std::memcpy(&head, words.data() + at, sizeof head);
      const std::size_t size = head.bytes / 8;
      if (size < sizeof(Record) / 8 || size > words.size() - at) return;
      head.timestamp -= ahead_ns_;
      std::memcpy(words.data() + at, &head, sizeof head);
      ring.put(words.data() + at, size);
      at += size;
    }
  }

  pid_t child_;
  std::string command_, what_;
  std::uint64_t ahead_ns_ = 0;  // its clock minus ours
  std::uint64_t complete_until_ = 0;
  std::uint64_t taken_bytes_ = 0;
  // Messages with records that have not been read. The relay bounds what is under way.
  std::deque<Channel::Received> pending_;
};

}  // namespace

std::unique_ptr<Target> remote_target(const std::string& command, const std::string& what, std::string& why) {
  std::string reason;
  StartedCommand started;
  if (start_command(command, CommandEnd::kStandard, started, reason)) {
    auto target = std::make_unique<RemoteTarget>(started.connection, started.pid, command, what);
    bool refused = false;
    if (target->meet(reason) && target->hello(reason, refused)) return target;
    if (const std::string end = refused ? "" : end_of_command(started.pid); !end.empty()) reason = end;
  }
  why = fmt::format("failed to reach {}: {}", what, reason);
  return nullptr;
}

}  // namespace vmrun::d
