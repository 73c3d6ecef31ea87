// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "probes/vmtrace/target.hpp"

/// A machine that is traced, over the connection of attach_protocol.hpp. Its rings are mapped here;
/// for everything else, this side sends a request and waits for the answer. A machine on another
/// host, whose records come over the connection as well, is in remote_target.cpp.
namespace vmrun::d {

class MachineTarget : public Target {
 public:
  /// child: the process that -c has started, which ends with this object; 0: none.
  MachineTarget(Channel channel, std::int64_t pid, pid_t child)
      : channel_(std::make_unique<Channel>(std::move(channel))), pid_(pid), child_(child) {}
  ~MachineTarget() override;

  /// Returns false and says why when the machine cannot be traced. refused: the machine said so
  /// itself.
  bool hello(std::string& why, bool& refused);

  const std::vector<ProbeInfo>& probes() const override { return probes_; }
  std::int64_t pid() const override { return pid_; }
  std::string node() override;
  bool has_functions() const override { return true; }
  bool is_command() const override { return child_ > 0; }
  std::vector<ListedFunction> functions(const FunctionPattern& pattern, std::size_t most) override;

  bool open(const Program& program, std::string& why) override;
  bool begin(std::string& why) override;
  std::uint64_t work(std::uint64_t most_ns) override;
  int descriptor() const override { return gone_ ? -1 : channel_->descriptor(); }
  void end() override;
  void release() override;

  std::vector<Ring*> rings() override;
  std::size_t rings_reported() override { return rings_reported_; }
  std::vector<Element> aggregations() override;
  std::uint64_t drops(Drop kind) override;
  std::uint64_t firings() override;
  bool totals(Totals& totals) override;
  bool exiting(int& status) override {
    if (exiting_) status = status_;
    return exiting_;
  }
  bool gone() const override { return gone_ || stopped_; }
  std::vector<std::pair<std::uint64_t, std::string>> new_atoms() override;
  std::unique_ptr<Target> again(std::string& why) override;
  Names names() override;

 protected:
  static constexpr int kAnswerMs = 10'000;  // a machine that does not answer in this time counts as dead

  /// Handles a message that the machine sends without having been asked.
  virtual void by_the_way(Channel::Received& received);
  /// Waits for the answer, and returns whether it came; if not, says why. Messages that come before
  /// it go to by_the_way.
  bool await(Message wanted, Channel::Received& answer, std::string& why, int timeout_ms = kAnswerMs);
  Channel& channel() { return *channel_; }
  void close_connection() { channel_.reset(); }
  void add_ring(std::unique_ptr<Ring> ring) { rings_.push_back(std::move(ring)); }
  void set_pid(std::int64_t pid) { pid_ = pid; }
  pid_t give_child() { return std::exchange(child_, 0); }

 private:
  std::vector<std::string> ask_names(Message what, std::string_view body);

  std::unique_ptr<Channel> channel_;
  std::int64_t pid_;
  pid_t child_;
  std::vector<ProbeInfo> probes_;
  std::vector<std::uint32_t> all_;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::size_t rings_reported_ = 0;  // how many, also those that could not be mapped
  bool gone_ = false, stopped_ = false, stopped_of_itself_ = false, exiting_ = false;
  int status_ = 0;
  std::uint32_t atoms_reported_ = 0;
  // The numbers that the machine sent last.
  std::uint64_t firings_ = 0;
  std::uint64_t drops_[static_cast<std::size_t>(Drop::kCount)] = {};
};

}  // namespace vmrun::d
