#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The command `epmd`, for a link of that name to vmrun: it runs the service, or asks the one that
/// runs on this host. Follows the manual page epmd(1).
namespace vmrun::epmd {

inline constexpr std::string_view kCommand = "epmd";

/// words: without the name of the command. Returns the exit status.
int run_command(const std::vector<std::string>& words);

}  // namespace vmrun::epmd
