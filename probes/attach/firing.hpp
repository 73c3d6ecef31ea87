// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "probes/engine/session.hpp"

/// Firings of the machine's probes on their way to the sessions that run, and what the controlling
/// thread needs to change sessions meanwhile. A thread that fires writes nothing that other threads
/// write. The controlling thread interrupts all threads (membarrier) to know which are inside a
/// firing.
namespace vmrun::attach {

/// The state of a thread that has fired. These objects are never freed. A new thread takes over the
/// one of a thread that has ended.
struct FiringThread {
  std::atomic<std::uint64_t> firings{0};  // odd inside of one; only this thread writes it
  std::atomic<bool> taken{true};
  // The number of firings by the number of the probe, while they are counted. Only this thread
  // writes it.
  std::atomic<std::uint64_t*> counts{nullptr};
  std::uint64_t number = 0;               // number of the thread, from 1; never used again
  std::uint64_t ended_self = 0;           // key of a process that has ended here and whose variables go
  const struct Sample* sample = nullptr;  // the sample for which a clause runs (sampling.hpp)
  FiringThread* next = nullptr;
};

// What the machine's probes call: see probes/inside.hpp.

void fire_inside(unsigned probe, unsigned argument_count, const std::uint64_t* words);
std::uint64_t* make_counts();

/// Fires a probe that is not in probes.tab, for all sessions. The firing thread calls it.
void fire_at(const d::Firing& f);

/// Returns the calling thread's object, which is made at its first firing.
FiringThread& firing_thread();

/// Whether the calling thread is in the middle of a firing. Nothing that it does fires then.
bool is_firing();
/// Fires the session's probe `times` times in the calling thread. The sample takes the place of
/// what the thread does.
void fire_sample(d::Session& session, std::uint32_t probe, const Sample& sample, std::uint32_t times);

// Only the controlling thread calls the following functions.

/// Firings reach the session from now on.
void add_session(d::Session& session);
/// When it returns, no firing reaches the session any more, and none is under way.
void remove_session(d::Session& session);
/// Firings of the probe are counted while a session has asked for it.
void enable_count(std::uint32_t probe);
void disable_count(std::uint32_t probe);
/// Reads how often each probe has fired in all threads. All counts are of one moment, or nearly so.
void read_counts(std::span<const std::uint32_t> probes, std::span<std::uint64_t> counts);
/// Sets whether the ends of processes are reported to the sessions (forget_self).
void tell_ends(bool tell);
void wait_for_firings();
/// Returns how many firings there have been, of all sessions together.
std::uint64_t firings();
}  // namespace vmrun::attach
