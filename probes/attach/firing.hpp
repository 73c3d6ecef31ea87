#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "probes/engine/session.hpp"

/// Firings of the machine's probes on their way to the sessions that run, and what the controlling
/// thread needs to change anything under them: who fires writes nothing that others write, and the
/// controlling thread interrupts everybody (membarrier) to know who is inside.
namespace vmrun::attach {

/// One of a thread that has fired. They are never freed; a new thread takes over that of one that
/// has ended.
struct FiringThread {
  std::atomic<std::uint64_t> firings{0};  // odd inside of one; written by its thread alone
  std::atomic<bool> taken{true};
  // Of firings, by the number of the probe, while somebody counts them; its thread alone writes
  // them.
  std::atomic<std::uint64_t*> counts{nullptr};
  std::uint64_t number = 0;               // of the thread, from 1; never used again
  std::uint64_t ended_self = 0;           // key of a process that has ended here, and whose variables go
  const struct Sample* sample = nullptr;  // that a clause runs for (sampling.hpp)
  FiringThread* next = nullptr;
};

/// A firing of a probe that is none of probes.tab, to the sessions. In the firing thread.
void fire_at(const d::Firing& f);

/// That of the calling thread, made at its first firing.
FiringThread& firing_thread();

/// Whether the calling thread is in the midst of a firing: then nothing it does fires.
bool is_firing();
/// The session's probe fires so many times in the calling thread, with the sample in the place of
/// what the thread does.
void fire_sample(d::Session& session, std::uint32_t probe, const Sample& sample, std::uint32_t times);

// The controlling thread only.

/// Firings reach the session from now on.
void add_session(d::Session& session);
/// None does any more, nor is one under way, when it returns.
void remove_session(d::Session& session);
/// Firings of the probe are counted while somebody has asked for it.
void enable_count(std::uint32_t probe);
void disable_count(std::uint32_t probe);
/// How many there were in all threads, of each probe: as of one moment, or nearly.
void read_counts(std::span<const std::uint32_t> probes, std::span<std::uint64_t> counts);
/// Whether the ends of processes are told to the sessions (forget_self).
void tell_ends(bool tell);
void wait_for_firings();
/// How many there have been, of all sessions together.
std::uint64_t firings();
}  // namespace vmrun::attach
