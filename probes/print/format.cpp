// SPDX-License-Identifier: Apache-2.0
#include "probes/print/format.hpp"

#include <algorithm>
#include <cctype>
#include <ctime>

#include <fmt/format.h>

namespace vmrun::d {
namespace {

constexpr int kWidest = 1 << 16;  // of a field: a script's * must not fill the memory

void put_padded(std::string& out, const Conversion& c, std::string_view text) {
  if (c.left) put_left(out, text, c.width);
  else put_right(out, text, c.width);
}

void put_text(std::string& out, const Conversion& c, std::string_view text) {
  if (c.precision >= 0) text = text.substr(0, c.precision);
  put_padded(out, c, text);
}

std::string digits_of(std::uint64_t n, char letter) {
  switch (letter) {
    case 'x': return fmt::format("{:x}", n);
    case 'X': return fmt::format("{:X}", n);
    case 'o': return fmt::format("{:o}", n);
    default: return fmt::format_int(n).str();
  }
}

std::string grouped(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

/// Follows C's rules for flags, width and precision of an integer.
void put_integer(std::string& out, const Conversion& c, bool negative, std::uint64_t n, char letter) {
  if (c.width == 0 && c.precision < 0 && !c.alternate && !c.plus && !c.space && !c.group) {
    if (negative) out += '-';
    if (letter == 'd' || letter == 'u') {
      const fmt::format_int text(n);
      out.append(text.data(), text.size());
    } else {
      out += digits_of(n, letter);
    }
    return;
  }
  std::string digits = n == 0 && c.precision == 0 ? "" : digits_of(n, letter);
  if (c.group && (letter == 'd' || letter == 'u')) digits = grouped(digits);
  if (c.precision > static_cast<int>(digits.size())) digits.insert(0, c.precision - digits.size(), '0');
  std::string sign;
  if (letter == 'd') sign = negative ? "-" : c.plus ? "+" : c.space ? " " : "";
  if (c.alternate && n != 0) sign += letter == 'x' ? "0x" : letter == 'X' ? "0X" : letter == 'o' ? "0" : "";
  const auto length = static_cast<int>(sign.size() + digits.size());
  if (c.zeros && !c.left && c.precision < 0 && c.width > length) digits.insert(0, c.width - length, '0');
  put_padded(out, c, sign + digits);
}

std::string time_text(std::int64_t ns, const char* format) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, format, &parts));
}

/// Puts the lines of a stack. A width to the left says how many blanks stand before each line.
void put_stack(std::string& out, const Conversion& c, std::string_view lines) {
  out += '\n';
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    if (c.left) out.append(c.width, ' ');
    out += lines.substr(0, end);
    out += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

std::string_view text_of(const Value& value, std::string& made) {
  if (value.is_null) return "(null)";
  if (value.kind != Field::Kind::kInteger) return until_nul(value.bytes);
  made = fmt::format_int(value.number).str();
  return made;
}

bool is_flag(Conversion& c, char letter) {
  switch (letter) {
    case '#': return c.alternate = true;
    case '+': return c.plus = true;
    case ' ': return c.space = true;
    case '\'': return c.group = true;
    case '@': return c.of_aggregation = true;
    case '-': c.zeros = false; return c.left = true;
    case '?': c.width = 16; return true;
    case 'h':
    case 'l':
    case 'L':
    case 'w': return true;  // the argument has its own size
    default: return false;
  }
}

/// Reads a conversion from behind the % up to the letter. Returns false when the text ends before.
bool parse_conversion(std::string_view text, std::size_t& at, Conversion& c) {
  bool dot = false, digits = false;
  for (; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '0' && !dot && !digits) {
      c.zeros = !c.left;
    } else if (std::isdigit(static_cast<unsigned char>(letter))) {
      int n = 0;
      for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
        n = std::min(n * 10 + (text[at] - '0'), kWidest);
      (dot ? c.precision : c.width) = n;
      digits = true;
      --at;
    } else if (letter == '*') {
      (dot ? c.dynamic_precision : c.dynamic_width) = true;
    } else if (letter == '.') {
      dot = true;
      c.precision = 0;
    } else if (!is_flag(c, letter)) {
      c.letter = letter;
      ++at;
      return true;
    }
  }
  return false;
}

}  // namespace

void put_left(std::string& out, std::string_view text, std::size_t width) {
  out += text;
  if (text.size() < width) out.append(width - text.size(), ' ');
}

void put_right(std::string& out, std::string_view text, std::size_t width) {
  if (text.size() < width) out.append(width - text.size(), ' ');
  out += text;
}

std::vector<Conversion> parse_format(std::string_view format) {
  std::vector<Conversion> all;
  std::string plain;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      plain += format[at++];
      continue;
    }
    const std::size_t begin = at++;
    if (at < format.size() && format[at] == '%') {
      plain += format[at++];
      continue;
    }
    Conversion c;
    if (!parse_conversion(format, at, c)) {
      plain += format.substr(begin);
      break;
    }
    c.prefix = std::move(plain);
    plain.clear();
    all.push_back(std::move(c));
  }
  if (!plain.empty()) {
    Conversion last;
    last.prefix = std::move(plain);
    all.push_back(std::move(last));
  }
  return all;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (const auto at = std::string_view("\a\b\f\n\r\t\v\"\\").find(c); at != std::string_view::npos) {
      out += '\\';
      out += std::string_view("abfnrtv\"\\")[at];
    } else if (c == '\0') {
      out += "\\0";
    } else if (std::isprint(static_cast<unsigned char>(c))) {
      out += c;
    } else {
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

void format_value(std::string& out, const Conversion& c, const Value& value) {
  std::string made;
  switch (c.letter) {
    case 0: return;
    case 'd':
    case 'i':
      if (!value.is_signed) return put_integer(out, c, false, value.raw(), 'u');
      if (value.number < 0)
        return put_integer(out, c, true, 0 - static_cast<std::uint64_t>(value.number), 'd');
      return put_integer(out, c, false, value.number, 'd');
    case 'u':
    case 'x':
    case 'X':
    case 'o': return put_integer(out, c, false, value.raw(), c.letter);
    case 'p': return put_integer(out, c, false, value.raw(), 'x');
    case 'c': return put_padded(out, c, std::string_view(&(made = static_cast<char>(value.number))[0], 1));
    case 'C': return put_padded(out, c, escaped(std::string(1, static_cast<char>(value.number))));
    case 'S': return put_text(out, c, escaped(text_of(value, made)));
    case 'Y': return put_text(out, c, time_text(value.number, "%Y %b %e %T"));
    case 'T': return put_text(out, c, time_text(value.number, "%a, %d %b %G %T %Z"));
    case 'k': return put_stack(out, c, value.bytes);
    case 'a':
    case 'A':
      if (value.kind != Field::Kind::kInteger) return put_text(out, c, text_of(value, made));
      return put_text(out, c, fmt::format("0x{:x}", value.raw()));
    default: return put_text(out, c, text_of(value, made));
  }
}

void format_values(std::string& out, const std::vector<Conversion>& format,
                   const std::vector<Value>& values) {
  std::size_t next = 0;
  const auto take = [&] { return next < values.size() ? values[next++] : Value{}; };
  for (const Conversion& given : format) {
    out += given.prefix;
    if (given.letter == 0) continue;
    if (!given.dynamic_width && !given.dynamic_precision) {
      format_value(out, given, take());
      continue;
    }
    Conversion c = given;
    if (c.dynamic_width) {
      const auto width = static_cast<int>(std::clamp<std::int64_t>(take().number, -kWidest, kWidest));
      if (width < 0) c.left = true;
      c.width = std::abs(width);
    }
    if (c.dynamic_precision)
      c.precision = static_cast<int>(std::clamp<std::int64_t>(take().number, -1, kWidest));
    format_value(out, c, take());
  }
}

bool is_printable(std::string_view bytes, std::string_view& text) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (std::isprint(c) || std::isspace(c) || c == '\b' || c == '\a') continue;
    if (c != 0 || i == 0 || bytes.find_first_not_of('\0', i) != std::string_view::npos) return false;
    text = bytes.substr(0, i);
    return true;
  }
  text = bytes;
  return true;
}

void format_dump(std::string& out, std::string_view bytes) {
  if (bytes.empty()) return;
  out += "\n           ";
  for (const char digit : std::string_view("0123456789abcdef")) (out += "  ") += digit;
  out += "  0123456789abcdef\n";
  for (std::size_t i = 0; i < bytes.size(); i += 16) {
    const auto line = bytes.substr(i, 16);
    fmt::format_to(std::back_inserter(out), "     {:5x}:", i);
    for (const char c : line)
      fmt::format_to(std::back_inserter(out), " {:02x}", static_cast<unsigned char>(c));
    out.append(3 * (16 - line.size()) + 2, ' ');
    for (const char c : line) out += c < ' ' || c > '~' ? '.' : c;
    out += '\n';
  }
}

namespace {

/// Returns all bytes of the variable that holds a text.
std::string padded(const Value& value) {
  std::string bytes(until_nul(value.bytes));
  bytes.resize(std::max<std::size_t>(value.most, bytes.size()));
  return bytes;
}

}  // namespace

void format_trace(std::string& out, const Value& value, bool quiet, bool raw_bytes) {
  if (value.kind == Field::Kind::kInteger) {
    const std::string digits =
        value.is_signed ? fmt::format_int(value.number).str() : fmt::format_int(value.raw()).str();
    if (quiet) {
      out += digits;
      return;
    }
    out += ' ';
    return put_right(out, digits, value.width == 8 ? 19 : value.width == 4 ? 10 : value.width == 2 ? 5 : 3);
  }
  std::string_view text = value.is_null ? "(null)" : value.bytes;
  if (value.kind == Field::Kind::kText) {
    if (raw_bytes) return format_dump(out, padded(value));
    text = until_nul(text);
  } else if (raw_bytes || !is_printable(value.bytes, text)) {
    return format_dump(out, value.bytes);
  }
  if (quiet) {
    out += text;
    return;
  }
  out += "  ";
  put_left(out, text, 33);
}

void format_symbol(std::string& out, const Value& value) {
  out += "  ";
  put_left(out, until_nul(value.bytes), 50);
}

}  // namespace vmrun::d
