// SPDX-License-Identifier: Apache-2.0
#include "vm/port/environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <mutex>

namespace vmrun {
namespace {

std::mutex lock;

}  // namespace

std::optional<std::string> environment_get(const std::string& name) {
  std::lock_guard guard(lock);
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

void environment_set(const std::string& name, const std::string& value) {
  std::lock_guard guard(lock);
  setenv(name.c_str(), value.c_str(), 1);
}

void environment_unset(const std::string& name) {
  std::lock_guard guard(lock);
  unsetenv(name.c_str());
}

std::vector<std::string> environment_entries() {
  std::lock_guard guard(lock);
  std::vector<std::string> entries;
  for (char** entry = environ; entry && *entry; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace vmrun
