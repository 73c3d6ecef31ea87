// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "drivers/efile/file_operation.hpp"

/// The probes efile_drv-*. Their arguments are described in docs/probes.md.
namespace vmrun::efile {

/// The state of the port's file, as the entry probe shows it.
struct OpenState {
  int fd = -1;
  unsigned flags = 0;
  std::size_t buffer_begin = 0;  // where unread data start in the read-ahead buffer
  bool reads_ahead = false;
};

/// Gives the operation a new {thread, tag} pair of the calling scheduler, and stores the user tag.
void identify(Operation& op, const char* user_tag);

void fire_entry(const Operation& op, const OpenState& state, ErlDrvPort port);
void fire_int_entry(const Identity& identity, Command command);
void fire_int_return(const Identity& identity, Command command);
void fire_return(const Operation& op);

}  // namespace vmrun::efile
