// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace vmrun::d {

/// This pattern stands for nothing: alone it matches only the empty name.
inline constexpr std::string_view kNothing("\\\0", 2);

/// Whether a name matches a pattern of a probe description: * ? [a-z] [!a-z], and \ before a
/// character that stands for itself. An empty pattern matches all names. Characters are those of
/// UTF-8; a byte that is not part of one counts as a character.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace vmrun::d
