// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vm/base/activity.hpp"
#include "vm/include/erl_driver.h"
#include "vm/term/term.hpp"

/// Drivers: the record of each, and the registry in which open_port looks them up. Linked-in
/// drivers are registered at start and stay; others come and go with erl_ddll. Records are freed
/// only after the last port is gone and the library has been closed. Any thread.
namespace vmrun {

/// The options of open_port. They live while start runs. Linked-in drivers can get all of them
/// (Driver::start_with_options); others get only the command.
struct PortOptions {
  enum class Kind : std::uint8_t { kSpawn, kSpawnExecutable, kSpawnDriver, kFd, kFile };
  Kind kind = Kind::kSpawn;
  // spawn: command line; spawn_executable: file name; spawn_driver: driver name and arguments;
  // fd: "IN/OUT"; file (the port is named after a file): the file name
  std::string command;
  std::optional<std::vector<std::string>> args;  // spawn_executable
  std::optional<std::string> arg0;               // spawn_executable
  std::optional<std::string> cd;
  std::vector<std::pair<std::string, std::optional<std::string>>> env;  // no value: removed
  int fd_in = -1, fd_out = -1;                                          // {fd, In, Out}
  unsigned packet_bytes = 0;                                            // 1, 2, 4; 0: stream
  std::uint32_t line_length = 0;                                        // {line, L}; 0: not line mode
  bool in = true, out = true;                                           // gives data, takes data
  bool use_stdio = true;
  bool stderr_to_stdout = false;
  bool exit_status = false;
  bool eof = false;
  bool hide = false;
  bool binary = false;
  bool parallelism = false;
  // busy_limits_port and busy_limits_msgq; high 0: disabled.
  Word queue_low = 4096, queue_high = 8192;
  bool queue_limits_given = false;
  Word inbox_low = 4096, inbox_high = 8192;
};

struct Driver {
  std::string name;
  std::string activity_name;  // [driver NAME], as a profile shows its work
  Activity activity{};
  ErlDrvEntry* entry = nullptr;
  /// Called in place of entry->start when set.
  ErlDrvData (*start_with_options)(ErlDrvPort port, char* command, const PortOptions& options) = nullptr;
  int major = ERL_DRV_EXTENDED_MAJOR_VERSION, minor = ERL_DRV_EXTENDED_MINOR_VERSION,
      flags = 0;  // as the entry says; 0.0 and no flags for an entry of old
  /// Held around every callback of a port (and around stop_select) unless the driver has
  /// ERL_DRV_FLAG_USE_PORT_LOCKING. Without that flag a driver expects that only one of its
  /// callbacks runs at a time, for whatever port.
  std::recursive_mutex callback_lock;
  bool locks_per_port() const { return flags & ERL_DRV_FLAG_USE_PORT_LOCKING; }

  /// In OTP files are not ports.
  bool is_for_files() const { return name == "efile"; }

  // Guarded by the registry's lock.
  void* library = nullptr;  // dlopen's handle; nullptr: linked in
  std::string path;         // of the library
  Word ports = 0;           // ports that are open or being opened
  bool permanent = false;   // linked in, or driver_lock_driver
  bool unloading = false;   // it is unloaded when the last port is gone
  bool locked_out = false;  // open_port does not find it any more
  Driver* next = nullptr;
};

/// What the entries of the machine's own drivers have in common: the interface's version, and a
/// lock for each port. name: a static string.
inline ErlDrvEntry own_driver_entry(const char* name) {
  ErlDrvEntry e{};
  e.driver_name = const_cast<char*>(name);
  e.extended_marker = static_cast<int>(ERL_DRV_EXTENDED_MARKER);
  e.major_version = ERL_DRV_EXTENDED_MAJOR_VERSION;
  e.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION;
  e.driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING;
  return e;
}

/// Calls init, fires driver-init, and publishes the driver. library: see above. Returns nullptr
/// when a driver of this name exists already, or when init has failed.
Driver* register_driver(ErlDrvEntry* entry, void* library = nullptr, const std::string& path = {});
/// Counts one more port for the driver, so that it stays. Called before a port is opened. Returns
/// nullptr if there is no such driver.
Driver* acquire_driver(const std::string& name);
/// Does that for a driver that already has a port.
void retain_driver(Driver& driver);
/// Called when the port is gone. May finish and unload the driver.
void release_driver(Driver& driver);

// ---- For erl_ddll -------------------------------------------------------------------------------

enum class UnloadResult { kUnloaded, kWaitsForPorts, kNotLoaded, kPermanent, kLinkedIn };
/// Finishes and unloads a driver. One with open ports stays until the last of them is gone.
UnloadResult unload_driver(const std::string& name);
/// Keeps a driver that was to be unloaded when its ports are gone. Returns false if there is no
/// such driver.
bool keep_driver(const std::string& name);
/// Prevents new ports for a driver that is to be unloaded. Returns that driver, only for
/// comparison, since it may be freed at any time; nullptr if there is no such driver.
const Driver* lock_driver_out(const std::string& name);
/// driver_lock_driver: the driver is never unloaded.
void make_driver_permanent(Driver& driver);
/// Takes a driver without ports off the list; its finish callback is not called. Returns false if
/// it is not there or has ports.
bool remove_driver(const ErlDrvEntry* entry);

struct DriverInfo {
  std::string name, path;
  Word ports;
  bool linked_in, permanent;
};
/// Returns all drivers, the latest first.
std::vector<DriverInfo> all_drivers();

}  // namespace vmrun
