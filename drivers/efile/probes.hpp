#pragma once

#include "drivers/efile/operation.hpp"

/// The probes efile_drv-*. What the arguments are: docs/probes.md.
namespace vmrun::efile {

/// What the port has open, as the entry probe shows it.
struct OpenState {
  int fd = -1;
  unsigned flags = 0;
  std::size_t buffer_begin = 0;  // where unread data start in the read-ahead buffer
  bool reads_ahead = false;
};

/// A new {thread, tag} pair of the calling scheduler, and the user tag as it is kept.
void identify(Operation& op, const char* user_tag);

void fire_entry(const Operation& op, const OpenState& state, ErlDrvPort port);
void fire_int_entry(const Identity& identity, Command command);
void fire_int_return(const Identity& identity, Command command);
void fire_return(const Operation& op);

}  // namespace vmrun::efile
