// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

/// json() of D: it looks into a text in JSON (RFC 8259) and builds nothing. All functions are pure
/// and free of recursion, and take time linear in the text.
namespace vmrun::d {

/// Returns what a path leads to. The path's names are separated by dots, and elements of arrays are
/// written [0]. For a string, the result is what is between its quotes, with escapes as they are;
/// for anything else, it is the text itself. Returns nothing when there is no such element, or when
/// the text, as far as it had to be read, is not JSON.
std::optional<std::string_view> json_element(std::string_view text, std::string_view path);

}  // namespace vmrun::d
