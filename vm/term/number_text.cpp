// SPDX-License-Identifier: Apache-2.0
#include "vm/term/number_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace vmrun {
namespace {

constexpr int kMaxTextBytes = 255;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The shortest digits of a positive double: value = 0.DIGITS × 10^point.
struct Digits {
  std::string text;
  int point;
};

Digits shortest_digits(double d) {
  char buffer[40];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific);
  Digits r;
  *end = 0;
  const char* p = buffer;
  for (; p < end && *p != 'e'; ++p) {
    if (*p != '.') r.text += *p;
  }
  r.point = std::atoi(p + 1) + 1;
  while (r.text.size() > 1 && r.text.back() == '0') r.text.pop_back();
  return r;
}

std::string scientific(const Digits& d) {
  std::string out(1, d.text[0]);
  out += '.';
  out += d.text.size() > 1 ? d.text.substr(1) : "0";
  return out + "e" + std::to_string(d.point - 1);
}

std::string print(const char* format, int decimals, double d) {
  char buffer[kMaxTextBytes + 1];
  const int n = std::snprintf(buffer, sizeof buffer, format, decimals, d);
  return n < 0 || n > kMaxTextBytes ? std::string() : std::string(buffer, static_cast<std::size_t>(n));
}

void drop_trailing_zeros(std::string& s) {
  while (s.size() > 2 && s.back() == '0' && s[s.size() - 2] != '.') s.pop_back();
}

}  // namespace

std::string float_text_short(double d) {
  const std::string sign = std::signbit(d) ? "-" : "";
  d = std::fabs(d);
  if (d == 0) return sign + "0.0";
  const Digits digits = shortest_digits(d);
  const int n = static_cast<int>(digits.text.size()), point = digits.point;
  // Beyond 2^53 neighbouring floats are more than one apart: digits before the point would suggest
  // precision that is not there.
  if (d >= 0x1p53) return sign + scientific(digits);
  // Otherwise whichever is shorter; fixed when equal.
  const int exponent_size = static_cast<int>(std::to_string(point - 1).size());
  const int scientific_size = n + 1 + (n == 1) + 1 + exponent_size;
  const int fixed_size = point <= 0 ? 2 - point + n : point < n ? n + 1 : point + 2;
  if (scientific_size < fixed_size) return sign + scientific(digits);
  const auto zeros = [](int count) { return std::string(static_cast<std::size_t>(count), '0'); };
  if (point <= 0) return sign + "0." + zeros(-point) + digits.text;
  if (point >= n) return sign + digits.text + zeros(point - n) + ".0";
  return sign + digits.text.substr(0, static_cast<std::size_t>(point)) + "." +
         digits.text.substr(static_cast<std::size_t>(point));
}

std::string float_text_scientific(double d, int decimals) {
  return decimals > 249 ? std::string() : print("%.*e", decimals, d);
}

std::string float_text_decimals(double d, int decimals, bool compact) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
  std::string out;
  const double magnitude = std::fabs(d);
  if (decimals > 18 || magnitude >= 0x1p53) {
    out = print("%.*f", decimals, d);
  } else {
    // OTP scales the fraction to an integer in double arithmetic, and so does this. The digits past
    // the float's precision are those of that product.
    const double power = kPowers[decimals];
    auto whole = static_cast<std::uint64_t>(magnitude);
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): OTP rounds so too.
    auto fraction = static_cast<std::uint64_t>((magnitude - static_cast<double>(whole)) * power + 0.5);
    if (fraction >= static_cast<std::uint64_t>(power)) {
      ++whole;
      fraction = 0;
    }
    if (std::signbit(d)) out = "-";
    out += std::to_string(whole);
    if (decimals > 0) {
      const std::string digits = std::to_string(fraction);
      out += '.';
      out.append(static_cast<std::size_t>(decimals) - digits.size(), '0');
      out += digits;
    }
  }
  if (compact && decimals > 0 && !out.empty()) drop_trailing_zeros(out);
  return out;
}

std::size_t float_prefix_length(std::string_view s) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < s.size() && is_digit(s[i])) ++i;
    return i > from;
  };
  if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
  if (!digits() || i >= s.size() || s[i] != '.') return 0;
  ++i;
  if (!digits()) return 0;
  const std::size_t without_exponent = i;
  if (i >= s.size() || (s[i] != 'e' && s[i] != 'E')) return i;
  ++i;
  if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
  return digits() ? i : without_exponent;
}

bool parse_float(std::string_view text, double* out) {
  if (text.empty() || float_prefix_length(text) != text.size()) return false;
  if (text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc::result_out_of_range) {
    *out = std::strtod(std::string(text).c_str(),
                       nullptr);  // underflow is fine, it reads as 0 or the least float
  }
  return std::isfinite(*out);
}

}  // namespace vmrun
