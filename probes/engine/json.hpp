#pragma once

#include <optional>
#include <string_view>

/// json() of D: a look into a text in JSON (RFC 8259) without building anything. Pure functions; no
/// recursion, time linear in the text.
namespace vmrun::d {

/// What a path leads to: names apart by dots, elements of arrays as [0]. Of a string what is
/// between its quotes, escapes as they are; of all else the text itself. Nothing when there is no
/// such element, or the text is no JSON as far as it had to be read.
std::optional<std::string_view> json_element(std::string_view text, std::string_view path);

}  // namespace vmrun::d
