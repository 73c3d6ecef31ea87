// SPDX-License-Identifier: Apache-2.0
#include "runtime/lib/embedded.hpp"

#include <algorithm>

namespace vmrun {

const EmbeddedModule* find_embedded_module(std::string_view name) {
  const EmbeddedModule* end = kEmbeddedModules + kEmbeddedModuleCount;
  auto it = std::lower_bound(kEmbeddedModules, end, name,
                             [](const EmbeddedModule& m, std::string_view n) { return m.name < n; });
  return it != end && it->name == name ? it : nullptr;
}

}  // namespace vmrun
