// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"

/// Shows what is wrong with a script, as the compiler of programs does: `file:line:column: error:
/// text`, the line, and carets. It keeps no state.
namespace vmrun::d {

/// with_tags: dtrace's tags stand before the texts, as [D_SYNTAX]. in_colour: with escape sequences
/// for colours. At most `limit` errors are shown; the others are counted.
std::string compile_report(const std::vector<CompileError>& errors, bool with_tags, bool in_colour,
                           std::size_t limit = 100);

}  // namespace vmrun::d
