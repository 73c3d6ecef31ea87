#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "probes/engine/ring.hpp"
#include "probes/engine/session.hpp"
#include "probes/engine/wire.hpp"
#include "probes/print/texts.hpp"

/// What a script runs on: this process alone (target_self.cpp) or a machine that is traced
/// (machine_target.hpp). Owned by the consumer's loop and used by its thread alone.
namespace vmrun::d {

class Target {
 public:
  virtual ~Target() = default;

  virtual const std::vector<ProbeInfo>& probes() const = 0;
  virtual std::int64_t pid() const = 0;
  /// Of a machine: the name of its node.
  virtual std::string node() { return ""; }
  /// Functions of Erlang that are loaded, at most so many.
  virtual std::vector<ListedFunction> functions(const FunctionPattern& pattern, std::size_t most) {
    return {};
  }
  virtual bool has_functions() const { return false; }
  /// Of -c: scripts are compiled before it has loaded anything; it ends when its work is done.
  virtual bool is_command() const { return false; }

  /// The engine takes the program in; false and why when it refuses.
  virtual bool open(const Program& program, std::string& why) = 0;
  /// BEGIN, and the probes are enabled. False: the target is gone.
  virtual bool begin(std::string& why) = 0;
  /// What is due by now: timers here, messages of the machine. Returns when the next thing is, in
  /// nanoseconds from now, at most `most_ns`.
  virtual std::uint64_t work(std::uint64_t most_ns) = 0;
  /// Readable when there is something to work on before that time; -1: there never is.
  virtual int descriptor() const { return -1; }
  /// The probes are disabled and END has run: what it recorded is in the rings.
  virtual void end() = 0;
  /// Nothing is asked any more: a machine that ends need not wait for us. What is left here stays.
  virtual void release() {}

  virtual std::vector<Ring*> rings() = 0;
  /// How many rings this side has heard of.
  virtual std::size_t rings_told() = 0;
  /// Records up to this timestamp are all here, or were never to come: those of a machine on
  /// another host travel.
  virtual std::uint64_t complete_until() { return ~0ULL; }
  /// Elements since the last call.
  virtual std::vector<Element> aggregations() = 0;
  virtual std::uint64_t drops(Drop kind) = 0;
  /// How often probes have fired in the target, since any time.
  virtual std::uint64_t firings() { return 0; }
  virtual bool exiting(int& status) = 0;
  /// The machine has ended, or the connection.
  virtual bool gone() const { return false; }
  virtual Names names() = 0;
  /// Names of atoms that no call before has given: for who will read what there is of them when
  /// the target is gone.
  virtual std::vector<std::pair<std::uint64_t, std::string>> new_atoms() { return {}; }
  /// The same target once more, to be opened and begun while this one still runs. What this one has
  /// started goes over to it. Null and why: it cannot be had.
  virtual std::unique_ptr<Target> again(std::string& why) { return why = "it is the only one", nullptr; }
};

/// Neither -p nor -c: BEGIN, END, ERROR, tick and profile.
std::unique_ptr<Target> make_self_target();

/// A machine by its process number, or nullptr and why.
std::unique_ptr<Target> attach_target(std::int64_t pid, std::string& why);
/// Starts a command under trace; it stands still until begin. The status it ends with: exit_status
/// of wait_for_child.
std::unique_ptr<Target> start_target(const std::string& command, std::string& why);
/// A machine on another host: `command` runs `vmtrace --relay PID` there and has our standard input
/// and output be its own (ssh, say). what: is reached, for `why`.
std::unique_ptr<Target> remote_target(const std::string& command, const std::string& what, std::string& why);

}  // namespace vmrun::d
