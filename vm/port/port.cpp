// SPDX-License-Identifier: Apache-2.0
#include "vm/port/port.hpp"

#include <mutex>

#include "vm/base/allocate.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/retired.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/task.hpp"
#include "vm/trace/system_profile.hpp"

namespace vmrun {

PortTable port_table;

bool PortTable::add(Port& p) {
  const bool is_file = p.driver->is_for_files();
  // Both counts may change meanwhile.
  if (!is_file && count() >= for_programs_ + files_.load(std::memory_order_relaxed)) return false;
  Word number = 0;
  if (!reserve(&number)) return false;
  if (is_file) files_.fetch_add(1, std::memory_order_relaxed);
  // Whoever finds the port, or has been told of it by a walk, sees this too.
  kinds_[number % IdTable::limit()].store(kind(number, is_file), std::memory_order_release);
  publish(p, number);
  return true;
}

std::vector<Term> PortTable::seen_by_programs() {
  for (;;) {
    std::vector<Term> ids = all_at_one_moment();
    bool forgotten = false;  // a newer port has the place of one that is gone: its kind is lost
    std::erase_if(ids, [&](Term id) {
      const Word number = id.id_number();
      const Word noted = kinds_[number % IdTable::limit()].load(std::memory_order_acquire);
      forgotten |= noted / 2 != number;
      return noted == kind(number, true);
    });
    if (!forgotten) return ids;
  }
}

bool PortTable::is_seen_by_programs(Term id) const {
  const EpochGuard guard;
  const Port* p = find(id);
  return p && !p->driver->is_for_files();
}

Word PortTable::count_seen_by_programs() const {
  const Word files = files_.load(std::memory_order_relaxed), all = count();
  return all > files ? all - files : 0;  // other threads may open and close files between the two reads
}

void PortTable::remove(Port& p) {
  if (p.driver->is_for_files()) files_.fetch_sub(1, std::memory_order_relaxed);
  IdTable::remove(p);
  // Pairs with wait_until_empty: either that thread sees that the port is gone, or this one sees
  // that it waits.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!awaited_.load(std::memory_order_relaxed)) return;
  departures_.fetch_add(1, std::memory_order_release);
  departures_.notify_all();
}

Port* create_port(Driver& driver, Term owner, std::string name) {
  Port* p = new Port;
  p->driver = &driver;
  p->output_callback = driver.entry->outputv  ? Port::OutputCallback::kOutputv
                       : driver.entry->output ? Port::OutputCallback::kOutput
                                              : Port::OutputCallback::kNone;
  p->soft_busy = driver.flags & ERL_DRV_FLAG_SOFT_BUSY;
  p->owner.store(owner.raw(), std::memory_order_relaxed);
  p->name = std::move(name);
  p->run.store(Port::Run::kRunning, std::memory_order_relaxed);
  return p;
}

Port::~Port() {
  if (data_fragment) Fragment::destroy(data_fragment);
}

// ---- Profiling and memory ---------------------------------------------------------------------

namespace {

std::uint32_t profile_bits(std::uint32_t what) {
  return (what & kProfilePorts ? kPortProfiled : 0) | (what & kProfileExclusive ? kPortProfiledExclusive : 0);
}

void profile_as(Port& p, std::uint32_t what) {
  constexpr std::uint32_t kBits = kPortProfiled | kPortProfiledExclusive;
  p.tracing.flags.fetch_and(~kBits | profile_bits(what), std::memory_order_relaxed);
  p.tracing.flags.fetch_or(profile_bits(what), std::memory_order_relaxed);
}

}  // namespace

void mark_profiled_ports(std::uint32_t what) {
  const EpochGuard guard;
  port_table.for_each([&](Port& p) { profile_as(p, what); });
}

void profile_new_port(Port& p) {
  if (is_profiled(kProfilePorts | kProfileExclusive)) [[unlikely]]
    profile_as(p, profiled_now.load(std::memory_order_relaxed));
}

namespace {

SpinLock retired_lock;
Retired<RunnablePort, &RunnablePort::next_in_queue> retired;
std::atomic<bool> any_retired{false};

}  // namespace

bool try_retain_port(Port& p) {
  Word n = p.references.load(std::memory_order_relaxed);
  while (n && !p.references.compare_exchange_weak(n, n + 1, std::memory_order_acquire,
                                                  std::memory_order_relaxed)) {}
  return n != 0;
}

void release_reference(Port& p) {
  if (p.references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  release_driver(*p.driver);
  p.queue.clear();
  std::lock_guard guard(retired_lock);
  retired.retire(p);
  any_retired.store(true, std::memory_order_relaxed);
}

void reclaim_ports() {
  if (!any_retired.load(std::memory_order_relaxed)) [[likely]]
    return;
  RunnablePort* free = nullptr;
  {
    if (!retired_lock.try_lock()) return;
    std::lock_guard guard(retired_lock, std::adopt_lock);
    retired.stamp();
    retired.reclaim([&](RunnablePort& p) {
      p.next_in_queue = free;
      free = &p;
    });
    any_retired.store(!retired.empty(), std::memory_order_relaxed);
  }
  while (RunnablePort* p = free) {
    free = p->next_in_queue;
    delete static_cast<Port*>(p);
  }
}

}  // namespace vmrun
