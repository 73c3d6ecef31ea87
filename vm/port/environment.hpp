// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

/// The operating system's environment of this process. The C functions are not thread-safe, so all
/// code in the machine uses these. Any thread.
namespace vmrun {

std::optional<std::string> environment_get(const std::string& name);
void environment_set(const std::string& name, const std::string& value);
void environment_unset(const std::string& name);
/// Returns all entries, each as NAME=VALUE.
std::vector<std::string> environment_entries();

}  // namespace vmrun
