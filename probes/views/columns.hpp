// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// Rows of texts as aligned columns, each as wide as its contents. It keeps no state.
namespace vmrun::d {

struct Column {
  std::string heading;
  bool right = false;  // for numbers
};

/// Returns how many characters a text takes on a terminal: code points of UTF-8.
std::size_t characters(std::string_view text);
/// Returns the text without control characters, so that a name cannot move the cursor.
std::string printable(std::string_view text);
/// Returns the text, or its first characters and "..".
std::string cut(std::string_view text, std::size_t width);

/// Puts a line of headings and one line for each row. width: where lines end, 0 for nowhere. Texts
/// are cut to that width, the longest first; numbers are never cut.
void put_columns(std::string& out, const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows, std::size_t width);

}  // namespace vmrun::d
