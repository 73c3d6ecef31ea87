#pragma once

#include <optional>
#include <string>
#include <vector>

/// The operating system's environment of this process. By itself it is not safe for threads, so
/// everything in the machine goes through these. Any thread.
namespace vmrun {

std::optional<std::string> environment_get(const std::string& name);
void environment_set(const std::string& name, const std::string& value);
void environment_unset(const std::string& name);
/// All of it, each entry NAME=VALUE.
std::vector<std::string> environment_entries();

}  // namespace vmrun
