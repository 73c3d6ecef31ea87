#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <numeric>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "probes/engine/clock.hpp"
#include "probes/engine/wire.hpp"
#include "probes/vmtrace/target.hpp"

// A machine that is traced, over the connection of wire.hpp. Its rings are mapped here; everything
// else is asked for and waited for.
namespace vmrun::d {
namespace {

constexpr int kEndTries = 40;      // 200 ms
constexpr int kAnswerMs = 10'000;  // a machine that does not answer in this time is taken for dead
constexpr int kAttempts = 20;
constexpr int kDoorMs = 5'000;  // for the socket to be there after the signal
constexpr int kAskEveryMs = 50;

class MachineTarget : public Target {
 public:
  MachineTarget(int connection, std::int64_t pid, pid_t child)
      : channel_(std::make_unique<Channel>(connection, Channel::Descriptors::kTaken)),
        pid_(pid),
        child_(child) {}
  ~MachineTarget() override {
    channel_.reset();  // a machine that ends waits a moment for that
    if (child_ <= 0) return;
    if (!stopped_of_itself_) kill(child_, SIGKILL);  // as dtrace does with what it has started
    waitpid(child_, nullptr, 0);
  }

  /// refused: the machine has said so itself.
  bool hello(std::string& why, bool& refused) {
    channel_->send(Message::kHello, Packer().u32(kWireVersion).bytes);
    Channel::Received answer;
    if (!await(Message::kProbes, answer, why)) return refused = !gone_, false;
    if (unpack_probes(answer.body, probes_)) {
      // It may have another number in its own namespace, which others may have in theirs.
      for (ProbeInfo& probe : probes_)
        probe.provider = provider_of(probe.provider, static_cast<std::uint64_t>(pid_));
      return true;
    }
    why = "its list of probes cannot be read; it is of another version";
    refused = true;
    return false;
  }

  const std::vector<ProbeInfo>& probes() const override { return probes_; }
  std::int64_t pid() const override { return pid_; }
  bool has_functions() const override { return true; }
  bool is_command() const override { return child_ > 0; }
  std::vector<ListedFunction> functions(const FunctionPattern& pattern, std::size_t most) override {
    std::vector<ListedFunction> out;
    channel_->send(Message::kFunctions, Packer()
                                            .text(pattern.module)
                                            .text(pattern.function)
                                            .u32(static_cast<std::uint32_t>(pattern.arity))
                                            .u32(static_cast<std::uint32_t>(most))
                                            .bytes);
    Channel::Received answer;
    std::string why;
    if (await(Message::kFunctions, answer, why) && !unpack_functions(answer.body, out)) out.clear();
    return out;
  }

  bool open(const Program& program, std::string& why) override {
    adjust_clock();
    all_.resize(program.aggregations.size());
    std::iota(all_.begin(), all_.end(), 0U);
    channel_->send(Message::kProgram, to_bytes(program));
    Channel::Received answer;
    return await(Message::kReady, answer, why);
  }
  bool begin(std::string& why) override {
    channel_->send(Message::kGo);
    if (channel_->flush()) return true;
    why = "the connection is gone";
    return false;
  }

  std::uint64_t work(std::uint64_t most_ns) override {
    if (gone_) return most_ns;
    const bool alive = channel_->flush() && channel_->fill();
    for (Channel::Received received; channel_->take(received);) by_the_way(received);
    if (!alive) gone_ = true;
    return most_ns;
  }
  int descriptor() const override { return gone_ ? -1 : channel_->descriptor(); }

  void end() override {
    if (gone_ || stopped_) return;
    channel_->send(Message::kStop);
    Channel::Received answer;
    std::string why;
    await(Message::kStopped, answer, why);
    stopped_ = true;
  }

  std::vector<Ring*> rings() override {
    std::vector<Ring*> all;
    for (const auto& ring : rings_) all.push_back(ring.get());
    return all;
  }
  std::size_t rings_told() override { return rings_told_; }
  std::vector<Element> aggregations() override {
    std::vector<Element> elements;
    if (gone_ || all_.empty()) return elements;
    Packer body;
    for (const std::uint32_t a : all_) body.u32(a);
    channel_->send(Message::kAggregations, body.bytes);
    Channel::Received answer;
    std::string why;
    if (await(Message::kAggregations, answer, why) && !unpack_elements(answer.body, elements))
      elements.clear();
    return elements;
  }
  std::uint64_t drops(Drop kind) override {
    if (gone_) return 0;
    channel_->send(Message::kDrops);
    Channel::Received answer;
    std::string why;
    if (!await(Message::kDrops, answer, why)) return 0;
    Unpacker counts(answer.body);
    std::uint64_t n = 0;
    for (unsigned i = 0; i <= static_cast<unsigned>(kind); ++i) n = counts.u64();
    return n;
  }
  std::uint64_t firings() override {
    if (gone_) return 0;
    channel_->send(Message::kFirings);
    Channel::Received answer;
    std::string why;
    return await(Message::kFirings, answer, why) ? Unpacker(answer.body).u64() : 0;
  }
  bool exiting(int& status) override {
    if (exiting_) status = status_;
    return exiting_;
  }
  bool gone() const override { return gone_ || stopped_; }
  std::vector<std::pair<std::uint64_t, std::string>> new_atoms() override {
    std::vector<std::pair<std::uint64_t, std::string>> atoms;
    for (bool more = !gone_; more;) {
      channel_->send(Message::kAtomsFrom, Packer().u32(atoms_told_).bytes);
      Channel::Received answer;
      std::string why;
      if (!await(Message::kAtomsFrom, answer, why)) break;
      Unpacker in(answer.body);
      for (more = !in.at_end(); !in.at_end() && in.ok(); ++atoms_told_) {
        const std::uint64_t number = in.u64();
        atoms.emplace_back(number, in.text());
      }
    }
    return atoms;
  }
  std::unique_ptr<Target> again(std::string& why) override;
  Names names() override {
    return {[this](std::uint64_t n) { return name(Message::kAtoms, n); },
            [this](std::uint64_t n) { return name(Message::kAddresses, n); },
            [this](std::uint64_t n) { return name(Message::kFunctionNames, n); }};
  }

 private:
  std::string name(Message what, std::uint64_t number) {
    if (gone_) return "";
    channel_->send(what, Packer().u64(number).bytes);
    Channel::Received answer;
    std::string why;
    std::vector<std::string> names;
    if (!await(Message::kNames, answer, why) || !unpack_names(answer.body, names) || names.empty()) return "";
    return names[0];
  }

  /// What the machine says without being asked.
  void by_the_way(Channel::Received& received) {
    switch (received.message) {
      case Message::kRing: {
        std::string why;
        rings_told_++;
        if (received.passed < 0) return;
        if (auto ring = Ring::map(received.passed, why)) rings_.push_back(std::move(ring));
        return;
      }
      case Message::kExit: {
        Unpacker body(received.body);
        exiting_ = true;
        status_ = static_cast<int>(body.u32());
        return;
      }
      case Message::kStopped: stopped_ = stopped_of_itself_ = true; return;
      default: break;
    }
    if (received.passed >= 0) close(received.passed);
  }

  bool await(Message wanted, Channel::Received& answer, std::string& why) {
    for (;;) {
      if (!channel_->wait(answer, kAnswerMs)) {
        gone_ = true;
        why = "it does not answer";
        return false;
      }
      if (answer.message == wanted) {
        if (wanted == Message::kStopped) stopped_ = true;
        return true;
      }
      if (answer.message == Message::kRefused) {
        why = Unpacker(answer.body).text();
        return false;
      }
      by_the_way(answer);
    }
  }

  std::unique_ptr<Channel> channel_;
  std::int64_t pid_;
  pid_t child_;
  std::vector<ProbeInfo> probes_;
  std::vector<std::uint32_t> all_;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::size_t rings_told_ = 0;  // also of those that could not be mapped
  bool gone_ = false, stopped_ = false, stopped_of_itself_ = false, exiting_ = false;
  int status_ = 0;
  std::uint32_t atoms_told_ = 0;
};

int trace_signal() { return SIGRTMIN + kDoorSignal; }

/// The process's number in its own namespace, which names its socket; 0: there is no such process.
std::int64_t number_inside(std::int64_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  std::int64_t inside = 0;
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(6));
    for (std::int64_t n = 0; numbers >> n;) inside = n;
  }
  return inside;
}

/// A signal nobody handles ends a process: only one that waits for the door's is sent it.
bool waits_for_signal(std::int64_t pid, int signal) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigCgt:")) {
      const std::uint64_t caught = std::strtoull(line.c_str() + 7, nullptr, 16);
      return (caught >> (signal - 1) & 1) != 0;
    }
  return false;
}

int connect_to(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return errno = ENAMETOOLONG, -1;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  // Whoever listens there and never accepts keeps nobody waiting.
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connection < 0) return -1;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return connection;
  const int error = errno;
  close(connection);
  errno = error;
  return -1;
}

/// Whether the other end is the process that is meant, or one its user cannot be mistaken for.
bool is_peer(int connection, std::int64_t pid) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  struct stat process {};
  if (stat(fmt::format("/proc/{}", pid).c_str(), &process) != 0) return false;
  return peer.uid == process.st_uid && (peer.pid == pid || peer.pid == 0);
}

int open_door(std::int64_t pid, std::string& why) {
  const std::int64_t inside = number_inside(pid);
  if (inside == 0) return why = "no such process", -1;
  if (!waits_for_signal(pid, trace_signal())) return why = "it is no vmrun, or one of another version", -1;
  const std::string path = fmt::format("/proc/{}/root{}{}", pid, kDoorPath, inside);
  // The door that opens may be closed behind somebody else before we come to it: we ask again.
  for (std::uint64_t waited_us = 0, ask_us = 0, pause_us = 200; waited_us < kDoorMs * 1000ULL;
       waited_us += pause_us) {
    if (waited_us >= ask_us && waits_for_signal(pid, trace_signal())) {
      if (kill(static_cast<pid_t>(pid), trace_signal()) != 0) return why = std::strerror(errno), -1;
      ask_us = waited_us + kAskEveryMs * 1000ULL;
    }
    const int connection = connect_to(path);
    if (connection >= 0) {
      if (is_peer(connection, pid)) return connection;
      close(connection);
      return why = "another process answers in its place", -1;
    }
    if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN) return why = std::strerror(errno), -1;
    const timespec pause{0, static_cast<long>(pause_us * 1000)};
    nanosleep(&pause, nullptr);
  }
  return why = "it does not answer", -1;
}

/// How a command ended that closed its end of the connection; empty if it runs. It stays to be
/// waited for.
std::string end_of(pid_t child) {
  for (int i = 0; i < kEndTries; ++i) {
    siginfo_t end = {};
    if (waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0)
      return end.si_code == CLD_EXITED
                 ? fmt::format("it ended with status {} before a machine began", end.si_status)
                 : fmt::format("signal {} ended it", end.si_status);
    const timespec pause{0, 5'000'000};  // it closes what is open a moment before it has ended
    nanosleep(&pause, nullptr);
  }
  return "";
}

std::unique_ptr<Target> greeted(int connection, std::int64_t pid, pid_t child, std::string& why,
                                bool& refused) {
  auto target = std::make_unique<MachineTarget>(connection, pid, child);
  if (!target->hello(why, refused)) {
    const std::string end = child > 0 && !refused ? end_of(child) : "";
    if (!end.empty()) why = end;
    return nullptr;
  }
  return target;
}

}  // namespace

bool may_be_traced(std::int64_t pid) { return waits_for_signal(pid, trace_signal()); }

std::unique_ptr<Target> attach_target(std::int64_t pid, std::string& why) {
  std::string reason;
  std::unique_ptr<Target> target;
  // The machine may be about to close its door behind somebody else: then it opens once more.
  bool refused = false;
  for (int attempt = 0; attempt < kAttempts && target == nullptr && !refused; ++attempt) {
    const int connection = open_door(pid, reason);
    if (connection < 0) break;
    target = greeted(connection, pid, 0, reason, refused);
    const timespec pause{0, 5'000'000};
    if (target == nullptr && !refused) nanosleep(&pause, nullptr);
  }
  if (target == nullptr) why = fmt::format("failed to grab pid {}: {}", pid, reason);
  return target;
}

std::unique_ptr<Target> MachineTarget::again(std::string& why) {
  std::unique_ptr<Target> next = attach_target(pid_, why);
  if (next != nullptr) static_cast<MachineTarget&>(*next).child_ = std::exchange(child_, 0);
  return next;
}

std::unique_ptr<Target> start_target(const std::string& command, std::string& why) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return why = std::strerror(errno), nullptr;
  const std::string variable = fmt::format("{}", ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    fcntl(ends[1], F_SETFD, 0);
    setenv(kTraceVariable, variable.c_str(), 1);
    const std::string line = "exec " + command;
    execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string reason = child < 0 ? std::strerror(errno) : "";
  std::unique_ptr<Target> target;
  bool refused = false;
  if (child > 0) target = greeted(ends[0], child, child, reason, refused);
  if (target == nullptr) why = fmt::format("failed to run \"{}\" under trace: {}", command, reason);
  return target;
}

}  // namespace vmrun::d
