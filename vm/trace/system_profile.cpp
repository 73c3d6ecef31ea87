// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/system_profile.hpp"

#include <mutex>

#include "probes/inside.hpp"
#include "vm/heap/build.hpp"
#include "vm/process/code_view.hpp"
#include "vm/trace/trace_upcalls.hpp"

namespace vmrun {

std::atomic<std::uint32_t> profiled_now{0};

namespace {

std::mutex profile_mutex;
SystemProfile wanted_now;
std::atomic<SWord> schedulers_active{0};

/// Events of processes and schedulers are found where slices begin and where processes are put on
/// run queues, if those are watched.
constexpr std::uint32_t kSeenInSlices = kProfileProcs | kProfileSchedulers;

/// Called under the mutex.
void set_now(const SystemProfile& wanted) {
  const std::uint32_t before = wanted_now.what, what = wanted.what;
  wanted_now = wanted;
  if (what & kProfileSchedulers && !(before & kProfileSchedulers))
    schedulers_active = trace_upcalls.note_idle_schedulers();
  profiled_now.store(what, std::memory_order_seq_cst);
  if (what & kSeenInSlices && !(before & kSeenInSlices)) probe::raise_watch("run_queue");
  if (!(what & kSeenInSlices) && before & kSeenInSlices) probe::lower_watch("run_queue");
  if ((what ^ before) & (kProfilePorts | kProfileExclusive))
    trace_upcalls.mark_ports(what & (kProfilePorts | kProfileExclusive));
}

/// Called under the mutex.
SystemProfile profile_alive() {
  if (wanted_now.to && !tracer_is_there(wanted_now.to)) set_now({});
  return wanted_now;
}

/// make: makes the tuple; it gets the time stamp, its last element.
template <class Make>
void tell(const SystemProfile& wanted, Make make) {
  Arena arena;
  if (!deliver_trace_event(wanted.to, make(arena, make_trace_stamp(arena, wanted.stamp))))
    system_profile();  // it has died
}

Term state_name(bool active) {
  static const Term kActive = intern_atom("active"), kInactive = intern_atom("inactive");
  return active ? kActive : kInactive;
}
Term profile_atom() {
  static const Term kProfile = intern_atom("profile");
  return kProfile;
}

void tell_of_scheduler(const SystemProfile& wanted, unsigned number, bool active) {
  const SWord count = schedulers_active.fetch_add(active ? 1 : -1) + (active ? 1 : -1);
  tell(wanted, [&](Heap& heap, Term time) {
    return new_tuple(heap, profile_atom(), atoms::scheduler, Term::small(number), state_name(active),
                     Term::small(count), time);
  });
}

}  // namespace

SystemProfile system_profile() {
  const std::lock_guard guard(profile_mutex);
  return profile_alive();
}

SystemProfile set_system_profile(const SystemProfile& wanted) {
  const std::lock_guard guard(profile_mutex);
  const SystemProfile before = profile_alive();
  set_now(wanted);
  return before;
}

void profile_process(const Process& p, bool active, bool has_ended) {
  const SystemProfile wanted = system_profile();
  if (!(wanted.what & kProfileProcs) || wanted.to == p.id) return;
  tell(wanted, [&](Heap& heap, Term time) {
    const FunctionName f = has_ended ? FunctionName{} : resume_function(p);
    const Term where =
        f.module ? new_tuple(heap, f.module, f.function, Term::small(f.arity)) : Term::small(0);
    return new_tuple(heap, profile_atom(), p.id, state_name(active), where, time);
  });
}

void profile_port(Term port, bool active) {
  const SystemProfile wanted = system_profile();
  if (!(wanted.what & kProfilePorts) || wanted.to == port) return;
  tell(wanted, [&](Heap& heap, Term time) {
    return new_tuple(heap, profile_atom(), port, state_name(active), Term::small(0), time);
  });
}

void profile_scheduler_runs(unsigned number, std::atomic<bool>& reported_idle, Term what) {
  if (!reported_idle.load(std::memory_order_relaxed)) return;
  const SystemProfile wanted = system_profile();
  if (!(wanted.what & kProfileSchedulers) || wanted.to == what) return;
  reported_idle.store(false, std::memory_order_relaxed);
  tell_of_scheduler(wanted, number, true);
}

void profile_scheduler_idle(unsigned number, std::atomic<bool>& reported_idle) {
  if (reported_idle.load(std::memory_order_relaxed)) return;
  const SystemProfile wanted = system_profile();
  if (!(wanted.what & kProfileSchedulers)) return;
  reported_idle.store(true, std::memory_order_relaxed);
  tell_of_scheduler(wanted, number, false);
}

}  // namespace vmrun
