// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

/// Finds the existing name that a wrong one probably means: the nearest, if it is near enough.
/// Nearness is the distance of Damerau and Levenshtein (Boytsov, "Indexing Methods for Approximate
/// Dictionary Searching", 2011: optimal string alignment). Case does not matter, and underscores do
/// not count, so that myList is near my_list. One thread at a time.
namespace vmrun {

/// How many characters must be inserted, left out, replaced, or exchanged with their neighbour.
/// replacement: the cost of a replaced character.
inline std::size_t edit_distance(std::u32string_view a, std::u32string_view b, std::size_t replacement = 1) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1] ? replacement : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

class NearName {
 public:
  /// Where names are kMany, as those of a library, a name that differs in one character is more
  /// often another word than a misspelt one (node, nope). So a replaced character costs two there.
  enum class Names { kFew, kMany };

  /// wrong is UTF-8.
  explicit NearName(std::string_view wrong, Names names = Names::kFew)
      : wrong_(wrong),
        folded_(folded(wrong)),
        allowed_(std::min<std::size_t>(folded_.size() / 3, 3)),
        replacement_(names == Names::kMany ? 2 : 1) {}

  /// Offers a name that exists. Returns whether it is the nearest so far. Its characters must
  /// outlive this object.
  bool offer(std::string_view name) {
    if (name == wrong_) return false;
    const std::u32string other = folded(name);
    const std::size_t shorter = std::min(other.size(), folded_.size());
    if (shorter == 0 || std::max(other.size(), folded_.size()) - shorter > allowed_) return false;
    const std::size_t distance = edit_distance(folded_, other, replacement_);
    if (distance > allowed_ || distance >= shorter) return false;
    // The order of offers does not matter: they may come from a hash table.
    if (!found_.empty() && (distance > distance_ || (distance == distance_ && name >= found_))) return false;
    distance_ = distance;
    found_ = name;
    return true;
  }

  /// The nearest name; empty when none is near.
  std::string_view found() const { return found_; }

 private:
  /// Bytes of one UTF-8 sequence become one number; its value does not matter.
  static std::u32string folded(std::string_view name) {
    std::u32string out;
    for (const char c : name) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte & 0xC0) == 0x80 && !out.empty()) out.back() = out.back() << 8 | byte;
      else if (c != '_') out.push_back(c >= 'A' && c <= 'Z' ? byte | 0x20 : byte);
    }
    return out;
  }

  std::string_view wrong_, found_;
  std::u32string folded_;
  std::size_t allowed_;  // the longer the name, the more may be wrong in it
  std::size_t replacement_;
  std::size_t distance_ = 0;
};

}  // namespace vmrun
