// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include <fmt/format.h>

#include "probes/vmtrace/machine_target.hpp"
#include "probes/vmtrace/reach.hpp"
#include "probes/vmtrace/started_command.hpp"

// How a machine of this host becomes a target: one that runs already, or one that a command starts.
namespace vmrun::d {
namespace {

constexpr int kAttempts = 20;

std::unique_ptr<Target> greeted(int connection, std::int64_t pid, pid_t child, std::string& why,
                                bool& refused) {
  auto target =
      std::make_unique<MachineTarget>(Channel(connection, Channel::Descriptors::kTaken), pid, child);
  if (!target->hello(why, refused)) {
    const std::string end = child > 0 && !refused ? end_of_command(child) : "";
    if (!end.empty()) why = end;
    return nullptr;
  }
  return target;
}

}  // namespace

std::unique_ptr<Target> attach_target(std::int64_t pid, std::string& why) {
  std::string reason;
  std::unique_ptr<Target> target;
  // The machine may be about to close its endpoint behind another connection. It opens it again
  // then.
  bool refused = false;
  for (int attempt = 0; attempt < kAttempts && target == nullptr && !refused; ++attempt) {
    const int connection = open_endpoint(pid, reason);
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
  if (next != nullptr) static_cast<MachineTarget&>(*next).child_ = give_child();
  return next;
}

std::unique_ptr<Target> start_target(const std::string& command, std::string& why) {
  std::string reason;
  std::unique_ptr<Target> target;
  bool refused = false;
  if (StartedCommand started; start_command(command, CommandEnd::kInherited, started, reason))
    target = greeted(started.connection, started.pid, started.pid, reason, refused);
  if (target == nullptr) why = fmt::format("failed to run \"{}\" under trace: {}", command, reason);
  return target;
}

}  // namespace vmrun::d
