// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/message/receiver.hpp"

/// The receiver behind monitor(time_offset, clock_service). It sends {'CHANGE', Monitor,
/// time_offset, clock_service, Offset} whenever the time offset changes (vm/base/time_offset.hpp),
/// until the monitor is removed. Any thread.
namespace vmrun {

class ClockService final : public Receiver {
 public:
  /// tag replaces 'CHANGE', or is the non-value.
  void watch(Term watcher, RefKey key, Term tag, AliasMode alias);
  void demonitor(Term to, Term watcher, RefKey key) override;
};
extern constinit ClockService clock_service;

/// Sends the messages: the time offset has changed.
void tell_of_time_offset(SWord offset_ns);

}  // namespace vmrun
