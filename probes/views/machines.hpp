// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Machines that may be traced, as /proc knows them. There is no state; any thread may call.
namespace vmrun::d {

struct Machine {
  std::int64_t pid;
  std::string command;  // its command line, words separated by blanks
};

/// Returns the running vmruns of this user, by pid.
std::vector<Machine> running_machines();

}  // namespace vmrun::d
