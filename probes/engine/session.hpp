// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/engine/host.hpp"
#include "probes/engine/program.hpp"

/// One script that runs on one host: its variables, aggregations and buffers. One controlling
/// thread makes, begins, ends and frees it (a thread of vmtrace, or the machine's tracing thread).
/// Any thread may fire.
namespace vmrun::d {

class Ring;  // ring.hpp: the records of one thread, in memory that another process may map

/// One element of an aggregation, merged over all threads.
struct Element {
  std::uint32_t aggregation;
  std::string key;                    // words, as record.hpp describes them
  std::vector<std::uint64_t> values;  // as many as its kind has; see aggregation.hpp
};

class Session {
 public:
  /// Verifies the program. Returns nullptr, with `why`, when it must not run. Nothing is enabled
  /// yet.
  static std::unique_ptr<Session> open(Program program, Host& host, std::string& why);
  virtual ~Session() = default;  // ends the session without END, if it has not ended yet

  /// Runs BEGIN, then enables the probes. Returns false when BEGIN called exit().
  virtual bool begin() = 0;
  /// Disables all probes, waits for the firings under way, then runs END.
  virtual void end() = 0;
  /// The session's tick-N and profile-N. next_tick() returns when the next one is due (ns, as
  /// timestamp; 0: none), and tick() fires those that are due. Only the controlling thread calls
  /// them.
  virtual std::uint64_t next_tick() = 0;
  virtual void tick() = 0;

  /// Runs what is enabled at this probe. The firing thread calls it; it never blocks or throws.
  virtual void fire(const Firing& f) = 0;
  /// Reports firings that the host could not keep; they count as drops. The controlling thread
  /// calls it.
  virtual void lose(std::uint64_t firings) = 0;
  /// Removes the self-> variables of an Erlang process that has ended.
  virtual void forget_self(std::uint64_t key) = 0;

  /// Returns one ring for each thread that has fired, in the order in which they came. The rings
  /// stay until the session is freed.
  virtual std::vector<Ring*> rings() = 0;
  /// Returns the elements. The aggregations named in `clear` start again from nothing.
  virtual std::vector<Element> aggregations(const std::vector<std::uint32_t>& clear = {}) = 0;
  virtual std::uint64_t drops(Drop kind) = 0;
  /// Whether exit() was called, and with which status.
  virtual bool exiting(int& status) = 0;
};

}  // namespace vmrun::d
