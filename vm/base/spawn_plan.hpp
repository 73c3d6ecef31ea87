// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <spawn.h>

#include <string>
#include <vector>

/// The arguments of posix_spawn(3) that all programs have in common which the machine starts.
namespace vmrun {

/// posix_spawn's two objects, freed in any case.
struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

/// Leaves no signal blocked or ignored in the child. The child leads a session, which tells its end
/// from the end of other children (vm/base/os_signal.cpp).
inline void plan_signals(SpawnPlan& plan) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setflags(&plan.attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
}

/// The pointers of an argument list or an environment. They are valid as long as the texts are.
inline std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace vmrun
