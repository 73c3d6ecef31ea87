// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

/// Commands that vmtrace starts by the shell, with one end of a socket of the local domain. Any
/// thread may start them.
namespace vmrun::d {

/// How the command gets its end of the socket.
enum class CommandEnd {
  kInherited,  // as a descriptor, whose number is in the environment: kTraceVariable
  kStandard,   // as standard input and output
};

struct StartedCommand {
  pid_t pid;       // the caller waits for it
  int connection;  // our end; the caller closes it
};

/// Returns false and says why when the command cannot be started.
bool start_command(const std::string& command, CommandEnd end, StartedCommand& started, std::string& why);

/// Says how a command ended that closed its end of the connection before there was a machine. The
/// text is empty if the command runs. The caller still has to wait for the child.
std::string end_of_command(pid_t child);

}  // namespace vmrun::d
