#pragma once

#include <string_view>

namespace vmrun::d {

/// Whether a name matches a pattern of a probe description: * ? [a-z] [!a-z] and \ before a
/// character; an empty pattern matches all.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace vmrun::d
