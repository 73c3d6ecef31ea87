#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/engine/host.hpp"
#include "probes/engine/program.hpp"

/// One script that runs: its variables, aggregations and buffers, on one host. Made, begun, ended
/// and freed by one controlling thread (of vmtrace, or the machine's tracing thread); fired by any.
namespace vmrun::d {

class Ring;  // ring.hpp: records of one thread, in memory that another process may map

/// An aggregation's elements, merged over all threads.
struct Element {
  std::uint32_t aggregation;
  std::string key;                    // words, as record.hpp has them
  std::vector<std::uint64_t> values;  // as many as its kind has: aggregation.hpp
};

class Session {
 public:
  /// Verifies; nullptr and `why` when the program must not run. Nothing is enabled yet.
  static std::unique_ptr<Session> open(Program program, Host& host, std::string& why);
  virtual ~Session() = default;  // ends it, without END, if that has not happened

  /// BEGIN, then the probes. Returns false when BEGIN called exit().
  virtual bool begin() = 0;
  /// Disables all, waits for the firings under way, then END.
  virtual void end() = 0;
  /// tick-N and profile-N of this session: when the next is due (ns, as timestamp; 0: none) and
  /// firing those that are. The controlling thread.
  virtual std::uint64_t next_tick() = 0;
  virtual void tick() = 0;

  /// From the firing thread: what is enabled at this probe runs. Never blocks or throws.
  virtual void fire(const Firing& f) = 0;
  /// Controlling thread: the host could not keep so many firings; they count as drops.
  virtual void lose(std::uint64_t firings) = 0;
  /// An Erlang process ended: its self-> variables go.
  virtual void forget_self(std::uint64_t key) = 0;

  /// One for each thread that has fired, in the order in which they came; they stay until the
  /// session is freed.
  virtual std::vector<Ring*> rings() = 0;
  /// clear: start again from nothing for those named.
  virtual std::vector<Element> aggregations(const std::vector<std::uint32_t>& clear = {}) = 0;
  virtual std::uint64_t drops(Drop kind) = 0;
  /// exit() was called, with this status.
  virtual bool exiting(int& status) = 0;
};

}  // namespace vmrun::d
