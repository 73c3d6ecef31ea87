#pragma once

#include <cstdint>
#include <limits>
#include <list>
#include <optional>

#include "vm/include/erl_driver.h"

/// What processes wait for at a socket: a connection, data, somebody to accept; answered with
/// {inet_async, Socket, Id, Result}. First come, first served. Used in the port's callbacks only.
namespace vmrun::inet {

/// Milliseconds of the machine's monotonic clock.
using Deadline = ErlDrvTime;
inline constexpr Deadline kNever = std::numeric_limits<Deadline>::max();
Deadline now_ms();
/// `timeout_ms` as requests have it: all bits set is for ever.
Deadline deadline_after(std::uint32_t timeout_ms);

struct Operation {
  std::uint16_t id = 0;
  ErlDrvTermData caller = 0;
  Deadline deadline = kNever;
  std::optional<ErlDrvMonitor> monitor;  // of the caller, where its end ends the operation
};

/// A new number for an operation; they begin again after 65536.
std::uint16_t next_operation_id();

class Operations {
 public:
  bool empty() const { return waiting_.empty(); }
  void add(const Operation& op);
  /// The first one; there must be one.
  Operation take();
  /// One whose time is up.
  std::optional<Operation> take_overdue(Deadline now);
  /// The one with this monitor.
  std::optional<Operation> take_of(const ErlDrvMonitor& monitor);
  /// The first time that is up.
  Deadline earliest() const;

 private:
  Operation take(std::list<Operation>::iterator op);
  std::list<Operation> waiting_;
  unsigned timed_ = 0;  // those with a deadline
};

}  // namespace vmrun::inet
