// SPDX-License-Identifier: Apache-2.0
#include "vm/port/driver.hpp"

#include <dlfcn.h>

#include <cstring>

#include "vm/port/callbacks.hpp"
#include "vm/port/port_upcalls.hpp"

namespace vmrun {

namespace {

std::mutex lock;
Driver* drivers = nullptr;  // latest first

Driver* find(const std::string& name) {
  for (Driver* d = drivers; d; d = d->next)
    if (d->name == name) return d;
  return nullptr;
}

void unlink(Driver& driver) {
  Driver** link = &drivers;
  while (*link != &driver) link = &(*link)->next;
  *link = driver.next;
}

/// The driver is not in the list any more, and has no ports.
void destroy(Driver* driver) {
  const std::string name = driver->name;
  call_finish(*driver);
  if (driver->library) dlclose(driver->library);
  delete driver;
  if (port_upcalls.driver_unloaded) port_upcalls.driver_unloaded(name);
}

/// An entry of a driver from before the extended format has no versions and flags.
void read_versions(Driver& d) {
  if (static_cast<unsigned>(d.entry->extended_marker) != ERL_DRV_EXTENDED_MARKER) {
    d.major = d.minor = d.flags = 0;
    return;
  }
  d.major = d.entry->major_version;
  d.minor = d.entry->minor_version;
  d.flags = d.entry->driver_flags;
}

}  // namespace

Driver* register_driver(ErlDrvEntry* entry, void* library, const std::string& path) {
  auto* driver = new Driver;
  driver->name = entry->driver_name;
  driver->activity_name = "[driver " + driver->name + "]";
  driver->activity.name = driver->activity_name.c_str();
  driver->entry = entry;
  driver->library = library;
  driver->path = path;
  driver->permanent = !library;
  read_versions(*driver);
  {
    std::lock_guard guard(lock);
    if (find(driver->name)) {
      delete driver;
      return nullptr;
    }
  }
  // Without the lock, since init may look up other drivers. Two drivers of one name are not loaded
  // at the same time (erl_ddll prevents it).
  if (!call_init(*driver)) {
    delete driver;
    return nullptr;
  }
  std::lock_guard guard(lock);
  driver->next = drivers;
  drivers = driver;
  return driver;
}

Driver* acquire_driver(const std::string& name) {
  std::lock_guard guard(lock);
  Driver* driver = find(name);
  if (!driver || driver->locked_out) return nullptr;
  ++driver->ports;
  return driver;
}

void retain_driver(Driver& driver) {
  std::lock_guard guard(lock);
  ++driver.ports;
}

void release_driver(Driver& driver) {
  {
    std::lock_guard guard(lock);
    if (--driver.ports || !driver.unloading || driver.permanent) return;
    unlink(driver);
  }
  destroy(&driver);
}

void make_driver_permanent(Driver& driver) {
  std::lock_guard guard(lock);
  driver.permanent = true;
  driver.unloading = driver.locked_out = false;
}

UnloadResult unload_driver(const std::string& name) {
  Driver* driver;
  {
    std::lock_guard guard(lock);
    driver = find(name);
    if (!driver) return UnloadResult::kNotLoaded;
    if (driver->permanent) return driver->library ? UnloadResult::kPermanent : UnloadResult::kLinkedIn;
    driver->unloading = true;
    if (driver->ports) return UnloadResult::kWaitsForPorts;
    unlink(*driver);
  }
  destroy(driver);
  return UnloadResult::kUnloaded;
}

bool keep_driver(const std::string& name) {
  std::lock_guard guard(lock);
  Driver* driver = find(name);
  if (!driver) return false;
  driver->unloading = driver->locked_out = false;
  return true;
}

const Driver* lock_driver_out(const std::string& name) {
  std::lock_guard guard(lock);
  Driver* driver = find(name);
  if (driver) driver->locked_out = true;
  return driver;
}

bool remove_driver(const ErlDrvEntry* entry) {
  Driver* driver;
  {
    std::lock_guard guard(lock);
    driver = drivers;
    while (driver && driver->entry != entry) driver = driver->next;
    if (!driver || driver->ports) return false;
    unlink(*driver);
  }
  delete driver;
  return true;
}

std::vector<DriverInfo> all_drivers() {
  std::lock_guard guard(lock);
  std::vector<DriverInfo> all;
  for (const Driver* d = drivers; d; d = d->next)
    all.push_back({d->name, d->path, d->ports, d->library == nullptr, d->permanent});
  return all;
}

}  // namespace vmrun
