// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"
#include "vm/trace/tracer.hpp"

/// erlang:system_profile: one process or port is told when processes, ports and schedulers become
/// active and inactive: {profile, Id, active | inactive, Where, Time} and {profile, scheduler,
/// Number, active | inactive, ActiveSchedulers, Time}. The thread that has the process or port
/// sends the events at once. The profiler's own events are not reported, nor those of a scheduler
/// that runs nothing else: its own work would never end. When it is dead, there is no profiler. Any
/// thread.
namespace vmrun {

/// What is profiled: bits.
inline constexpr std::uint32_t kProfileProcs = 1, kProfilePorts = 2, kProfileSchedulers = 4,
                               kProfileExclusive = 8;

struct SystemProfile {
  Term to;  // local pid or port; a non-value: there is no profiler
  std::uint32_t what = 0;
  TraceStamp stamp = TraceStamp::kNow;
};
SystemProfile system_profile();
/// Returns what was wanted before. Slices that have begun go on without reporting.
SystemProfile set_system_profile(const SystemProfile& wanted);

extern std::atomic<std::uint32_t> profiled_now;
inline bool is_profiled(std::uint32_t what) { return profiled_now.load(std::memory_order_relaxed) & what; }

/// The process becomes runnable, or waits. has_ended: there is no function to report.
[[gnu::cold, gnu::noinline]] void profile_process(const Process& p, bool active, bool has_ended = false);
[[gnu::cold, gnu::noinline]] void profile_port(Term port, bool active);
/// A scheduler has begun to run this process or port, or has nothing to do. reported_idle: the
/// scheduler's own note of what has been reported.
[[gnu::cold, gnu::noinline]] void profile_scheduler_runs(unsigned number, std::atomic<bool>& reported_idle,
                                                         Term what);
[[gnu::cold, gnu::noinline]] void profile_scheduler_idle(unsigned number, std::atomic<bool>& reported_idle);

}  // namespace vmrun
