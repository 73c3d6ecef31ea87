// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/views/views.hpp"

namespace vmrun::d {

/// Runs vmtrace NAME OPTIONS... and returns the exit status. words: those behind the name. Throws
/// Failed.
int view_command(const ViewInfo& view, const std::vector<std::string>& words);

}  // namespace vmrun::d
