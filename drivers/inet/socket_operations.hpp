// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <list>
#include <optional>

#include "vm/include/erl_driver.h"

/// Operations on a socket that processes wait for: a connection to be made or accepted, or data.
/// They are answered with {inet_async, Socket, Id, Result}, in the order of arrival. Used in the
/// port's callbacks only.
namespace vmrun::inet {

/// Milliseconds of the machine's monotonic clock.
using Deadline = ErlDrvTime;
inline constexpr Deadline kNever = std::numeric_limits<Deadline>::max();
Deadline now_ms();
/// `timeout_ms` as in requests: all bits set means forever.
Deadline deadline_after(std::uint32_t timeout_ms);

struct Operation {
  std::uint16_t id = 0;
  ErlDrvTermData caller = 0;
  Deadline deadline = kNever;
  std::optional<ErlDrvMonitor> monitor;  // of the caller, if its end ends the operation
};

/// Returns a new number for an operation; numbers repeat after 65536.
std::uint16_t next_operation_id();

class Operations {
 public:
  bool empty() const { return waiting_.empty(); }
  void add(const Operation& op);
  /// Removes and returns the first one; there must be one.
  Operation take();
  /// Removes and returns one whose deadline has passed.
  std::optional<Operation> take_overdue(Deadline now);
  /// Removes and returns the one with this monitor.
  std::optional<Operation> take_of(const ErlDrvMonitor& monitor);
  /// Returns the earliest deadline.
  Deadline earliest() const;

 private:
  Operation take(std::list<Operation>::iterator op);
  std::list<Operation> waiting_;
  unsigned timed_ = 0;  // those with a deadline
};

}  // namespace vmrun::inet
