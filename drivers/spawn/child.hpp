#pragma once

#include "vm/port/driver.hpp"

/// Starting programs, and getting rid of them when they have ended. Any thread.
namespace vmrun {

/// A program that has been started, with our ends of its pipes; -1 where there is none. The caller
/// closes them.
struct Child {
  int pid = -1;
  int from_child = -1, to_child = -1;
};

/// Starts what open_port was asked for: its descriptors, directory, environment; all other
/// descriptors are closed in it, signals are at their defaults, it leads a session of its own. The
/// machine's memory is not copied (posix_spawn), so a big one starts programs as fast as a small
/// one. Returns an errno, 0 when it runs. A directory that cannot be entered, or a program the
/// kernel refuses in spite of its permissions, gives a child that ends with the errno as its
/// status.
int start_child(const PortOptions& options, Child* child);

/// Somebody else waits for this child: a thread that collects it when it ends, so that no zombie
/// stays.
void collect_when_dead(int pid);

/// A descriptor that becomes readable when the child ends; -1 with errno set where there is none to
/// be had.
int open_child_watch(int pid);
/// Takes the exit status of a child that has ended: as a shell has it, 128 + the signal's number
/// for one that was killed. -1: it still runs.
int take_exit_status(int pid);

}  // namespace vmrun
