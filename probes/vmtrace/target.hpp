// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "probes/engine/attach_protocol.hpp"
#include "probes/engine/ring.hpp"
#include "probes/engine/session.hpp"
#include "probes/engine/totals.hpp"
#include "probes/print/record_texts.hpp"

/// What a script runs on: this process alone (target_self.cpp) or a machine that is traced
/// (machine_target.hpp). The consumer's loop owns it, and only its thread uses it.
namespace vmrun::d {

class Target {
 public:
  virtual ~Target() = default;

  virtual const std::vector<ProbeInfo>& probes() const = 0;
  virtual std::int64_t pid() const = 0;
  /// Returns the name of the machine's node.
  virtual std::string node() { return ""; }
  /// Returns Erlang functions that are loaded, `most` at most.
  virtual std::vector<ListedFunction> functions(const FunctionPattern& pattern, std::size_t most) {
    return {};
  }
  virtual bool has_functions() const { return false; }
  /// Whether this is the command of -c. Scripts are compiled before it has loaded anything, and it
  /// ends when its work is done.
  virtual bool is_command() const { return false; }

  /// Gives the program to the engine. Returns false and why when the engine refuses it.
  virtual bool open(const Program& program, std::string& why) = 0;
  /// Runs BEGIN and enables the probes. Returns false when the target is gone.
  virtual bool begin(std::string& why) = 0;
  /// Does what is due by now: timers here, messages of the machine. Returns when the next thing is
  /// due, in nanoseconds from now, at most `most_ns`.
  virtual std::uint64_t work(std::uint64_t most_ns) = 0;
  /// A descriptor that is readable when there is work before that time, or -1 when there never is.
  virtual int descriptor() const { return -1; }
  /// Disables the probes and runs END. What END recorded is in the rings then.
  virtual void end() = 0;
  /// Ends the requests, so that a machine that ends need not wait for us. What is here stays.
  virtual void release() {}

  virtual std::vector<Ring*> rings() = 0;
  /// Returns of how many rings this side has been told.
  virtual std::size_t rings_reported() = 0;
  /// Returns a timestamp: all records up to it are here, or will never come. Records of a machine
  /// on another host take time to arrive.
  virtual std::uint64_t complete_until() { return ~0ULL; }
  /// Returns the elements since the last call.
  virtual std::vector<Element> aggregations() = 0;
  virtual std::uint64_t drops(Drop kind) = 0;
  /// Returns how often probes have ever fired in the target.
  virtual std::uint64_t firings() { return 0; }
  /// Asks for the state of the whole machine. Returns false when it does not tell.
  virtual bool totals(Totals& totals) { return false; }
  virtual bool exiting(int& status) = 0;
  /// Whether the machine or the connection has ended.
  virtual bool gone() const { return false; }
  virtual Names names() = 0;
  /// Returns names of atoms that no earlier call has returned. A consumer that reads rings after
  /// the target is gone needs them.
  virtual std::vector<std::pair<std::uint64_t, std::string>> new_atoms() { return {}; }
  /// Opens the same target once more, to begin while this one still runs. What this target has
  /// started goes over to the new one. Returns null and why when that is not possible.
  virtual std::unique_ptr<Target> again(std::string& why) { return why = "it is the only one", nullptr; }
};

/// Makes the target for neither -p nor -c. It has BEGIN, END, ERROR, tick and profile.
std::unique_ptr<Target> make_self_target();

/// Returns a machine by its process number, or nullptr and why.
std::unique_ptr<Target> attach_target(std::int64_t pid, std::string& why);
/// Starts a command under trace, which waits until begin. Its exit status is exit_status of
/// wait_for_child.
std::unique_ptr<Target> start_target(const std::string& command, std::string& why);
/// Returns a machine on another host. `command` runs `vmtrace --relay PID` there and connects our
/// standard input and output to it (ssh, say). what: the thing that is reached, for `why`.
std::unique_ptr<Target> remote_target(const std::string& command, const std::string& what, std::string& why);

}  // namespace vmrun::d
