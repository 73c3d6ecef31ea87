// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/print/value.hpp"

/// Turns values into text, as dtrace prints them: printf's conversions, trace(), hex dumps.
/// Everything is appended to a buffer of the caller's. There is no state; any thread may call.
/// Spec: the DTrace guide, "Output Formatting".
namespace vmrun::d {

/// One conversion of a format, with the plain text in front of it.
struct Conversion {
  std::string prefix;
  char letter = 0;  // 0: only the prefix
  bool alternate = false, zeros = false, left = false, plus = false, space = false, group = false;
  bool of_aggregation = false;  // %@
  bool dynamic_width = false, dynamic_precision = false;
  int width = 0;
  int precision = -1;
};

/// Parses a format that the compiler has checked. What is not a conversion stays text.
std::vector<Conversion> parse_format(std::string_view format);

/// Appends one value, without the prefix.
void format_value(std::string& out, const Conversion& c, const Value& value);

/// printf: appends all conversions with the values in their order. Widths and precisions of * are
/// among the values.
void format_values(std::string& out, const std::vector<Conversion>& format, const std::vector<Value>& values);

/// trace(): puts an integer in a column as wide as its type and a text in one of 33. Bytes become a
/// text or a dump.
void format_trace(std::string& out, const Value& value, bool quiet, bool raw_bytes = false);

/// ufunc() and similar: puts the text in a column of 50, quiet or not, as dtrace does.
void format_symbol(std::string& out, const Value& value);

/// tracemem(): 16 bytes a line, in hex and as characters.
void format_dump(std::string& out, std::string_view bytes);

/// Whether dtrace shows these bytes as a text. `text` is set to that text.
bool is_printable(std::string_view bytes, std::string_view& text);

/// Returns the text with \n, \t and so on for characters that are not printable.
std::string escaped(std::string_view text);

void put_left(std::string& out, std::string_view text, std::size_t width);
void put_right(std::string& out, std::string_view text, std::size_t width);

}  // namespace vmrun::d
