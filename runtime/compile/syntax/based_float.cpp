// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/based_float.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compile/source/diagnostics.hpp"

namespace vmrun::compile {
namespace {

unsigned value_of(char c) {
  if (c <= '9') return static_cast<unsigned>(c - '0');
  return static_cast<unsigned>((c | 0x20) - 'a') + 10;
}

/// A natural number: digits of 32 bits, the lowest first, no leading zeros.
class Natural {
 public:
  explicit Natural(std::uint32_t value) {
    if (value != 0) digits_.push_back(value);
  }
  bool is_zero() const { return digits_.empty(); }
  std::int64_t bits() const {
    if (digits_.empty()) return 0;
    return static_cast<std::int64_t>(digits_.size()) * 32 - __builtin_clz(digits_.back());
  }
  void multiply_and_add(std::uint32_t factor, std::uint32_t summand) {
    std::uint64_t carry = summand;
    for (std::uint32_t& d : digits_) {
      carry += std::uint64_t{d} * factor;
      d = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) digits_.push_back(static_cast<std::uint32_t>(carry));
  }
  void shift_left(std::int64_t count) {
    for (; count > 0; count -= 16) multiply_and_add(count >= 16 ? 1u << 16 : 1u << count, 0);
  }
  bool less_than(const Natural& other) const {
    if (digits_.size() != other.digits_.size()) return digits_.size() < other.digits_.size();
    for (std::size_t i = digits_.size(); i-- > 0;)
      if (digits_[i] != other.digits_[i]) return digits_[i] < other.digits_[i];
    return false;
  }
  /// other: at most this number.
  void subtract(const Natural& other) {
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      const std::int64_t rest =
          std::int64_t{digits_[i]} - (i < other.digits_.size() ? other.digits_[i] : 0) + borrow;
      digits_[i] = static_cast<std::uint32_t>(rest);
      borrow = rest < 0 ? -1 : 0;
    }
    while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
  }

 private:
  std::vector<std::uint32_t> digits_;
};

/// Divides bit by bit. from_chars rounds the quotient of 64 bits, behind which one more digit says
/// whether there is a remainder.
std::optional<double> quotient(Natural dividend, Natural divisor) {
  const std::int64_t ahead = dividend.bits() - divisor.bits();
  if (ahead > 0) divisor.shift_left(ahead);
  else dividend.shift_left(-ahead);
  std::uint64_t bits = 0;
  for (int i = 0; i < 64; ++i) {
    bits <<= 1;
    if (!dividend.less_than(divisor)) {
      dividend.subtract(divisor);
      bits |= 1;
    }
    dividend.shift_left(1);
  }
  const std::string text =
      format_message("%llx%cp%lld", static_cast<unsigned long long>(bits), dividend.is_zero() ? '0' : '8',
                     static_cast<long long>(ahead - 63 - 4));
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::hex);
  if (error == std::errc::result_out_of_range) {
    if (ahead > 0) return std::nullopt;
    return 0;
  }
  return value;
}

}  // namespace

std::optional<double> based_float(std::string_view digits, unsigned base, std::string_view exponent) {
  Natural dividend(0), divisor(1);
  std::int64_t power = 0;
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  const auto [end, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (!exponent.empty() && (error != std::errc() || std::abs(power) > 1'000'000))
    power = exponent.starts_with('-') ? -1'000'000 : 1'000'000;
  bool fraction = false;
  for (const char c : digits) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    if (dividend.is_zero()) dividend = Natural(value_of(c));
    else dividend.multiply_and_add(base, value_of(c));
    power -= fraction;
  }
  if (dividend.is_zero()) return 0;
  const double size = static_cast<double>(dividend.bits()) + static_cast<double>(power) * std::log2(base);
  if (size > 1100) return std::nullopt;
  if (size < -1200) return 0;
  for (; power > 0; --power) dividend.multiply_and_add(base, 0);
  for (; power < 0; ++power) divisor.multiply_and_add(base, 0);
  return quotient(dividend, divisor);
}

}  // namespace vmrun::compile
