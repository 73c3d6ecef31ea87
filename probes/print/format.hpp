#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/print/value.hpp"

/// Values to text, as dtrace prints them: printf's conversions, trace(), hex dumps. Everything is
/// appended to a buffer of the caller's. No state; any thread may call.
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

/// A format has been checked by the compiler; what is no conversion stays text.
std::vector<Conversion> parse_format(std::string_view format);

/// One value, without the prefix.
void format_value(std::string& out, const Conversion& c, const Value& value);

/// printf: all conversions with the values in their order, widths and precisions of * among them.
void format_values(std::string& out, const std::vector<Conversion>& format, const std::vector<Value>& values);

/// trace(): integers in a column as wide as their type, texts in one of 33, bytes as a text or a
/// dump.
void format_trace(std::string& out, const Value& value, bool quiet, bool raw_bytes = false);

/// ufunc() and its like: in a column of 50, quiet or not, as dtrace does it.
void format_symbol(std::string& out, const Value& value);

/// tracemem(): 16 bytes a line, in hex and as characters.
void format_dump(std::string& out, std::string_view bytes);

/// Whether dtrace shows these bytes as a text, and the text.
bool is_printable(std::string_view bytes, std::string_view& text);

/// With \n, \t and the like for what is not printable.
std::string escaped(std::string_view text);

void put_left(std::string& out, std::string_view text, std::size_t width);
void put_right(std::string& out, std::string_view text, std::size_t width);

}  // namespace vmrun::d
