// SPDX-License-Identifier: Apache-2.0
#include "probes/d/statements/printf_format.hpp"

#include <algorithm>

#include "vm/base/did_you_mean.hpp"

namespace vmrun::d::lang {

namespace {

struct Row {
  std::string_view letters;
  ConversionType type;
  std::string_view modifiers;  // separated by blanks; no modifier is always allowed
};
constexpr Row kRows[] = {{"diouxX", ConversionType::kInteger, "h l ll"},
                         {"s", ConversionType::kText, "l ll w"},
                         {"S", ConversionType::kText, ""},
                         {"c", ConversionType::kCharacter, "l w"},
                         {"C", ConversionType::kCharacter, ""},
                         {"paA", ConversionType::kAddress, ""},
                         {"YT", ConversionType::kTime, ""},
                         {"eEfgG", ConversionType::kFloat, "l L"},
                         {"k", ConversionType::kStack, ""}};

/// Returns null when there is no such conversion.
const Row* row_of(char letter) {
  for (const Row& row : kRows)
    if (row.letters.find(letter) != std::string_view::npos) return &row;
  return nullptr;
}

bool allows(const Row& row, std::string_view modifier) {
  for (std::string_view left = row.modifiers; !left.empty();) {
    const std::size_t end = std::min(left.find(' '), left.size());
    if (left.substr(0, end) == modifier) return true;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return modifier.empty();
}

/// Reads one format from its start to its end.
class FormatReader {
 public:
  FormatReader(std::string_view format, Place place) : format_(format), place_(place) {}

  /// Passes what stands before the next conversion that takes an argument. Returns false when there
  /// is none.
  bool next_conversion() {
    while (at_ < format_.size()) {
      if (format_[at_++] != '%') continue;
      if (look() != '%') return true;
      at_++;
    }
    return false;
  }

  Conversion conversion() {
    Conversion c;
    for (; in("-+ #0'?@"); at_++) c.aggregation = c.aggregation || look() == '@';
    c.star_width = size();
    if (look() == '.') {
      at_++;
      c.star_precision = size();
    }
    for (; look() == '@'; at_++) c.aggregation = true;
    const std::size_t begin = at_;
    while (in("hlLw")) at_++;
    const std::string_view modifier = format_.substr(begin, at_ - begin);
    if (at_ >= format_.size()) fail(place_, "D_SYNTAX", "format ends inside a conversion");
    c.what = format_[at_++];
    const Row* row = row_of(c.what);
    if (row == nullptr || !allows(*row, modifier))
      fail(place_, "D_SYNTAX",
           "unknown conversion in format: %" + std::string(modifier) + std::string(1, c.what) + hint(c.what));
    return c;
  }

 private:
  /// Says which conversion may have been meant: one without its modifier, or with the letter in the
  /// other case.
  static std::string hint(char letter) {
    if (row_of(letter) != nullptr) return did_you_mean(std::string("%") + letter);
    const bool is_letter = (letter | 0x20) >= 'a' && (letter | 0x20) <= 'z';
    const char other = static_cast<char>(letter ^ 0x20);
    if (is_letter && row_of(other) != nullptr) return did_you_mean(std::string("%") + other);
    std::string all;
    for (const Row& row : kRows) all += row.letters;
    return "; the conversions are " + all + ", and %% is a percent sign";
  }

  char look() const { return at_ < format_.size() ? format_[at_] : '\0'; }
  bool in(std::string_view set) const {
    return at_ < format_.size() && set.find(look()) != std::string::npos;
  }
  /// Reads a width or precision, and returns whether it is a *.
  bool size() {
    if (look() == '*') {
      at_++;
      return true;
    }
    while (in("0123456789")) at_++;
    return false;
  }

  std::string_view format_;
  Place place_;
  std::size_t at_ = 0;
};

}  // namespace

ConversionType type_of(char conversion) {
  const Row* row = row_of(conversion);
  return row == nullptr ? ConversionType::kUnknown : row->type;
}

std::vector<Conversion> parse_format(std::string_view format, Place place) {
  std::vector<Conversion> out;
  FormatReader reader(format, place);
  while (reader.next_conversion()) out.push_back(reader.conversion());
  return out;
}

}  // namespace vmrun::d::lang
