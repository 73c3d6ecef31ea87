#pragma once

#include <string>
#include <vector>

/// Rows of texts as aligned columns, as wide as what is in them. No state.
namespace vmrun::d {

struct Column {
  std::string heading;
  bool right = false;  // numbers
};

/// Characters that a text takes on a terminal: code points of UTF-8.
std::size_t characters(std::string_view text);
/// Without control characters, so that a name cannot move the cursor.
std::string printable(std::string_view text);
/// The text, or its first characters and "..".
std::string cut(std::string_view text, std::size_t width);

/// A line of headings and one a row. width: where lines end, 0 for nowhere; texts are cut to it,
/// the longest first; numbers never are.
void put_columns(std::string& out, const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows, std::size_t width);

}  // namespace vmrun::d
