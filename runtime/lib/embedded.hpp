// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// The library's compiled modules, part of the program's read-only data. Any thread may look;
/// nothing is copied.
namespace vmrun {

struct EmbeddedModule {
  const char* name;
  const std::uint8_t* begin;
  const std::uint8_t* end;
};

extern const EmbeddedModule kEmbeddedModules[];  // sorted by name
extern const std::size_t kEmbeddedModuleCount;

/// nullptr when there is no such library module.
const EmbeddedModule* find_embedded_module(std::string_view name);

}  // namespace vmrun
