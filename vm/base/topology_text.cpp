// SPDX-License-Identifier: Apache-2.0
#include "vm/base/topology_text.hpp"

#include <array>
#include <charconv>
#include <optional>

namespace vmrun {
namespace {

constexpr int kMostId = 65535;

/// Reads one entry at a time from the front of the text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::variant<std::vector<ProcessorPlace>, const char*> all() {
    if (text_.empty()) return "missing cpu topology";
    do {
      if (const char* error = read_entry()) return error;
    } while (!text_.empty());
    if (const char* error = settle_places(places_)) return error;
    return std::move(places_);
  }

 private:
  // What an entry names, in the order that it has to be in. A node may be on either side of p.
  enum Level : std::size_t { kLogical, kThread, kCore, kPart, kPackage, kNode, kLevels };
  static constexpr const char* kBadId = "invalid identifier";
  static constexpr const char* kBadRange = "invalid identifier range";

  bool starts_with(char c) const { return !text_.empty() && text_[0] == c; }

  const char* read_entry() {
    ids_ = {};
    last_ = {};
    for (; !text_.empty() && text_[0] != ':';)
      if (const char* error = read_level()) return error;
    if (starts_with(':')) text_.remove_prefix(1);
    return ids_[kLogical].empty() ? "missing logical identifier" : add_places();
  }

  std::optional<Level> level_of(char letter) const {
    switch (letter) {
      case 'L': return kLogical;
      case 't':
      case 'T': return kThread;
      case 'c':
      case 'C': return kCore;
      case 'p':
      case 'P': return kPackage;
      // Without p behind it it is a node around the processor.
      case 'n':
      case 'N': return last_ && *last_ == kPackage ? kNode : kPart;
      default: return {};
    }
  }

  const char* read_level() {
    const std::optional<Level> level = level_of(text_[0]);
    if (!level) return "invalid identifier type";
    if (last_ && *level <= *last_) return "invalid hierarchy";
    text_.remove_prefix(1);
    last_ = level;
    return read_ids(ids_[*level]);
  }

  /// Reads identifiers and ranges of them, separated by commas.
  const char* read_ids(std::vector<int>& ids) {
    while (true) {
      const std::optional<int> from = read_id();
      if (!from) return kBadId;
      std::optional<int> to = from;
      if (starts_with('-')) {
        text_.remove_prefix(1);
        to = read_id();
        if (!to) return kBadRange;
      }
      const int step = *from <= *to ? 1 : -1;
      for (int id = *from; id != *to + step; id += step) ids.push_back(id);
      if (!starts_with(',')) return nullptr;
      text_.remove_prefix(1);
    }
  }

  std::optional<int> read_id() {
    int id = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), id);
    if (error != std::errc() || starts_with('-') || id > kMostId) return {};
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return id;
  }

  /// The i-th identifier of a level; a single one is that of all.
  int id_at(Level level, std::size_t i, int otherwise) const {
    const std::vector<int>& ids = ids_[level];
    return ids.empty() ? otherwise : ids[ids.size() == 1 ? 0 : i];
  }

  const char* add_places() {
    const std::size_t count = ids_[kLogical].size();
    for (const std::vector<int>& ids : ids_)
      if (ids.size() > 1 && ids.size() != count) return kBadRange;
    const bool is_outside = ids_[kPackage].empty();
    for (std::size_t i = 0; i < count; ++i) {
      ProcessorPlace place{.node = id_at(kNode, i, -1),
                           .package = id_at(kPackage, i, 0),
                           .part = id_at(kPart, i, -1),
                           .core = id_at(kCore, i, 0),
                           .logical = id_at(kLogical, i, 0),
                           .thread = id_at(kThread, i, 0)};
      if (is_outside) std::swap(place.node, place.part);
      places_.push_back(place);
    }
    return nullptr;
  }

  std::string_view text_;
  std::vector<ProcessorPlace> places_;
  std::array<std::vector<int>, kLevels> ids_;  // of this entry
  std::optional<Level> last_;
};

}  // namespace

std::variant<std::vector<ProcessorPlace>, const char*> read_topology(std::string_view text) {
  return Reader(text).all();
}

}  // namespace vmrun
