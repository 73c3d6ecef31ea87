#include "vm/port/port.hpp"

#include <mutex>

#include "vm/base/allocate.hpp"
#include "vm/base/epoch.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/task.hpp"

namespace vmrun {

PortTable port_table;
Port* create_port(Driver& driver, Term owner, std::string name) {
  Port* p = new Port;
  p->driver = &driver;
  p->takes = driver.entry->outputv  ? Port::Takes::kVectors
             : driver.entry->output ? Port::Takes::kBytes
                                    : Port::Takes::kNothing;
  p->soft_busy = driver.flags & ERL_DRV_FLAG_SOFT_BUSY;
  p->owner.store(owner.raw(), std::memory_order_relaxed);
  p->name = std::move(name);
  p->run.store(Port::Run::kRunning, std::memory_order_relaxed);
  return p;
}

Port::~Port() {
  if (data_fragment) Fragment::destroy(data_fragment);
}

// ---- Memory of closed ports ---------------------------------------------------------------------

namespace {

struct Retired {
  Port* port;
  Word stamp;
};
SpinLock retired_lock;
std::vector<Retired> retired;
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
  const Word stamp = epoch_stamp();
  std::lock_guard guard(retired_lock);
  retired.push_back({&p, stamp});
  any_retired.store(true, std::memory_order_relaxed);
}

void reclaim_ports() {
  if (!any_retired.load(std::memory_order_relaxed)) [[likely]]
    return;
  const Word passed = epoch_passed();
  std::vector<Port*> free;
  {
    if (!retired_lock.try_lock()) return;
    std::lock_guard guard(retired_lock, std::adopt_lock);
    std::erase_if(retired, [&](const Retired& r) {
      if (r.stamp > passed) return false;
      free.push_back(r.port);
      return true;
    });
    any_retired.store(!retired.empty(), std::memory_order_relaxed);
  }
  for (Port* p : free) delete p;
}

}  // namespace vmrun
