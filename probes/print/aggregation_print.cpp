// SPDX-License-Identifier: Apache-2.0
#include "probes/print/aggregation_print.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "probes/print/plots.hpp"
#include "probes/print/record_texts.hpp"

namespace vmrun::d {
namespace {

constexpr std::size_t kTextColumn = 50;

/// The columns are narrower than those of trace().
void put_integer_key(std::string& out, const Value& value) {
  const std::string digits =
      value.is_signed ? fmt::format_int(value.number).str() : fmt::format_int(value.raw()).str();
  out += ' ';
  put_right(out, digits, value.width == 8 ? 16 : value.width == 4 ? 8 : value.width == 2 ? 5 : 3);
}

void put_key(std::string& out, const Value& value, const TableOptions& options) {
  switch (value.kind) {
    case Field::Kind::kInteger: return put_integer_key(out, value);
    case Field::Kind::kStack:
      if (options.folded) {
        (out += "  ") += value.bytes;
        return;
      }
      out += '\n';
      return put_indented(out, value.bytes, options.stack_indent);
    default: break;
  }
  std::string_view text = value.is_null ? "(null)" : value.bytes;
  if (value.kind == Field::Kind::kBytes) {
    if (options.raw_bytes || !is_printable(value.bytes, text)) return format_dump(out, value.bytes);
  } else {
    text = until_nul(text);
  }
  out += "  ";
  put_left(out, text, kTextColumn);
}

void put_conversion(std::string& out, const Conversion& c, const Aggregates& all,
                    const Aggregates::Row& row) {
  const Aggregation& how = all.description(row.aggregation);
  if (is_plot(how)) return put_values(out, how, row.values.data(), row.normal);
  Conversion plain = c;
  const bool is_signed = how.is_signed && how.how != Aggregating::kCount && how.how != Aggregating::kStddev;
  if (plain.letter != 'd' && plain.letter != 'i' && plain.letter != 'x' && plain.letter != 'X' &&
      plain.letter != 'o' && plain.letter != 'p')
    plain.letter = 'u';
  format_value(out, plain, Value::integer(single_value(how, row.values.data(), row.normal), 8, is_signed));
}

}  // namespace

void print_table(std::string& out, Aggregates& all, const std::vector<std::uint32_t>& aggregations,
                 const TableOptions& options) {
  for (const Aggregates::Line& line : all.lines(aggregations, options.sort)) {
    for (const Value& value : line.key->key) put_key(out, value, options);
    for (const Aggregates::Row* row : line.columns)
      put_values(out, all.description(row->aggregation), row->values.data(), row->normal);
    out += '\n';
  }
}

void print_formatted(std::string& out, Aggregates& all, const std::vector<std::uint32_t>& aggregations,
                     const std::vector<Conversion>& format, const TableOptions& options) {
  for (const Aggregates::Line& line : all.lines(aggregations, options.sort)) {
    std::size_t key = 0, column = 0;
    const auto take = [&] { return key < line.key->key.size() ? line.key->key[key++] : Value{}; };
    for (const Conversion& given : format) {
      out += given.prefix;
      if (given.letter == 0) continue;
      Conversion c = given;
      if (c.dynamic_width) {
        const auto width = static_cast<int>(std::clamp<std::int64_t>(take().number, -(1 << 16), 1 << 16));
        c.left = c.left || width < 0;
        c.width = std::abs(width);
      }
      if (c.dynamic_precision)
        c.precision = static_cast<int>(std::clamp<std::int64_t>(take().number, -1, 1 << 16));
      if (!c.of_aggregation) {
        format_value(out, c, take());
        continue;
      }
      put_conversion(out, c, all, *line.columns[column]);
      if (column + 1 < line.columns.size()) ++column;
    }
  }
}

}  // namespace vmrun::d
