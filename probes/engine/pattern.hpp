#pragma once

#include <string_view>

namespace vmrun::d {

/// Stands for nothing in a pattern: alone it matches the empty name only.
inline constexpr std::string_view kNothing("\\\0", 2);

/// Whether a name matches a pattern of a probe description: * ? [a-z] [!a-z], and \ before a
/// character that stands for itself. An empty pattern matches all. Characters are those of UTF-8;
/// bytes that are none count as one each.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace vmrun::d
