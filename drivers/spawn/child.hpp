// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/port/driver.hpp"

/// Starts programs, and collects them when they have ended. Any thread.
namespace vmrun {

/// A program that has been started, with the machine's ends of its pipes; -1 for a pipe that does
/// not exist. The caller closes them.
struct Child {
  int pid = -1;
  int from_child = -1, to_child = -1;
  int input_of_child = -1;  // a copy of the end that the child reads from
};

/// Starts the program of open_port with its descriptors, directory and environment. All other
/// descriptors are closed in it, signals are at their defaults, and it leads a session of its own.
/// The machine's memory is not copied (posix_spawn), so a big machine starts programs as fast as a
/// small one. Returns an errno, or 0 when the program runs. If its directory cannot be entered, or
/// the kernel refuses the program in spite of its permissions, a child is started that ends with
/// the errno as its status.
int start_child(const PortOptions& options, Child* child);

/// Hands the child to a thread that collects it when it ends, so that it does not stay a zombie.
void collect_when_dead(int pid);

/// Returns a descriptor that becomes readable when the child ends, or -1 with errno set.
int open_child_watch(int pid);
/// Takes the exit status of a child that has ended. As in a shell it is 128 + the signal's number
/// for a killed child. Returns -1 while the child runs.
int take_exit_status(int pid);

}  // namespace vmrun
