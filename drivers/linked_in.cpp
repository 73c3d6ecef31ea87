// SPDX-License-Identifier: Apache-2.0
#include "drivers/linked_in.hpp"

#include "drivers/efile/file_driver.hpp"
#include "drivers/fd/fd_driver.hpp"
#include "drivers/inet/socket_drivers.hpp"
#include "drivers/ram_file/ram_file_driver.hpp"
#include "drivers/spawn/spawn_driver.hpp"
#include "drivers/terminal/terminal_driver.hpp"
#include "vm/port/driver.hpp"

namespace vmrun {

void register_linked_in_drivers() {
  register_spawn_driver();
  register_fd_driver();
  terminal::register_terminal_driver();
  register_driver(efile::driver_entry());
  inet::register_drivers();
  register_driver(ram_file::driver_entry());
}

}  // namespace vmrun
