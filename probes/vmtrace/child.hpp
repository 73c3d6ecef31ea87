#pragma once

#include <sys/types.h>

#include <string>

/// Commands that vmtrace starts by the shell, with one end of a socket of the local domain. Any
/// thread.
namespace vmrun::d {

/// What the command gets its end as.
enum class CommandEnd {
  kInherited,  // a descriptor, whose number is in the environment: kTraceVariable
  kStandard,   // standard input and output
};

struct StartedCommand {
  pid_t pid;       // to be waited for
  int connection;  // our end, to be closed
};

/// False and why: it cannot be started.
bool start_command(const std::string& command, CommandEnd end, StartedCommand& started, std::string& why);

/// How a command ended that closed its end of the connection before there was a machine; empty if
/// it runs. It stays to be waited for.
std::string end_of_command(pid_t child);

}  // namespace vmrun::d
