// SPDX-License-Identifier: Apache-2.0
#include "probes/screen/sorted_table.hpp"

#include <algorithm>
#include <numeric>

namespace vmrun::screen {
namespace {

constexpr std::size_t kGap = 1, kNarrowestText = 12;

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

bool SortedTable::matches(const Row& row) const {
  if (wanted_.empty()) return true;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].is_text && lower(text_(row, i)).find(wanted_) != std::string::npos) return true;
  return false;
}

/// Sorts the rows that the filter lets through. Rows that are equal keep the order of their ids.
void SortedTable::order() {
  order_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (matches(rows_[i])) order_.push_back(i);
  const bool by_text = columns_[sorted_by_].is_text;
  std::vector<std::string> texts(by_text ? rows_.size() : 0);
  if (by_text)
    for (const std::size_t i : order_) texts[i] = text_(rows_[i], sorted_by_);
  // Texts begin with the first in the alphabet, numbers with the largest.
  const auto is_before = [&](std::size_t a, std::size_t b) {
    if (by_text) return texts[a] < texts[b];
    return rows_[a].numbers[sorted_by_] > rows_[b].numbers[sorted_by_];
  };
  std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
    if (is_before(a, b)) return !is_reversed_;
    if (is_before(b, a)) return is_reversed_;
    return rows_[a].id < rows_[b].id;
  });
  at_ = order_.empty() ? 0 : std::min(at_, order_.size() - 1);
  if (kept_.empty()) return;
  const auto kept = std::ranges::find_if(order_, [&](std::size_t i) { return rows_[i].id == kept_; });
  if (kept != order_.end()) at_ = static_cast<std::size_t>(kept - order_.begin());
}

void SortedTable::set_rows(std::vector<Row> rows) {
  rows_ = std::move(rows);
  order();
}

void SortedTable::sort_by(std::size_t column, bool reversed) {
  sorted_by_ = column;
  is_reversed_ = reversed;
  order();
}

void SortedTable::set_filter(std::string filter) {
  wanted_ = lower(filter);
  filter_ = std::move(filter);
  order();
}

/// The first row is nobody's: whichever row comes to the top has the cursor.
void SortedTable::move_to(std::size_t at) {
  if (order_.empty()) return;
  at_ = std::min(at, order_.size() - 1);
  kept_ = at_ == 0 ? "" : rows_[order_[at_]].id;
}

bool SortedTable::press(const Key& key) {
  using Kind = Key::Kind;
  const auto back = [this](std::size_t n) { move_to(at_ - std::min(at_, n)); };
  switch (key.kind) {
    case Kind::kUp: return back(1), true;
    case Kind::kDown: return move_to(at_ + 1), true;
    case Kind::kPageUp: return back(page_), true;
    case Kind::kPageDown: return move_to(at_ + page_), true;
    case Kind::kHome: return move_to(0), true;
    case Kind::kEnd: return move_to(order_.size()), true;
    default: break;
  }
  const std::size_t last = columns_.size() - 1;
  if (key.is('k')) back(1);
  else if (key.is('j')) move_to(at_ + 1);
  else if (key.is('r')) sort_by(sorted_by_, !is_reversed_);
  else if (key.is('<') || key.kind == Kind::kLeft) sort_by(sorted_by_ == 0 ? last : sorted_by_ - 1, false);
  else if (key.is('>') || key.kind == Kind::kRight) sort_by(sorted_by_ == last ? 0 : sorted_by_ + 1, false);
  else return false;
  return true;
}

const SortedTable::Row* SortedTable::chosen() const { return order_.empty() ? nullptr : &rows_[order_[at_]]; }

const SortedTable::Row* SortedTable::find(const std::string& id) const {
  const auto found = std::ranges::find(rows_, id, &Row::id);
  return found == rows_.end() ? nullptr : &*found;
}

/// Returns the columns that there is room for: texts and the sorted column first, then the others
/// from the left.
std::vector<std::size_t> SortedTable::columns_for(std::size_t width) const {
  std::vector<bool> taken(columns_.size());
  std::size_t used = 0;
  const auto take = [&](std::size_t i, bool always) {
    const std::size_t least = std::max({columns_[i].least, columns_of(columns_[i].heading),
                                        columns_[i].is_text ? kNarrowestText : 0}) +
                              kGap;
    if (taken[i] || (!always && used + least > width + kGap)) return;
    taken[i] = true;
    used += least;
  };
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].is_text) take(i, true);
  take(sorted_by_, true);
  for (std::size_t i = 0; i < columns_.size(); ++i) take(i, false);
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (taken[i]) which.push_back(i);
  return which;
}

/// Returns the widths of columns for the rows from first_ to `last`. Texts share what is left.
std::vector<std::size_t> SortedTable::widths_for(const std::vector<std::size_t>& which, std::size_t width,
                                                 std::size_t last) const {
  std::vector<std::size_t> widths;
  std::size_t numbers = 0, texts = 0;
  for (const std::size_t i : which) {
    std::size_t w = std::max(columns_[i].least, columns_of(columns_[i].heading));
    if (columns_[i].is_text) ++texts;
    else {
      for (std::size_t at = first_; at < last; ++at) w = std::max(w, columns_of(text_(rows_[order_[at]], i)));
      numbers += w;
    }
    widths.push_back(w);
  }
  const std::size_t taken = numbers + (which.size() - 1) * kGap;
  const std::size_t left = width > taken ? width - taken : 0;
  for (std::size_t n = 0; n < which.size(); ++n)
    if (columns_[which[n]].is_text) widths[n] = std::max(left / texts, std::min(width, kNarrowestText));
  return widths;
}

std::vector<Line> SortedTable::lines(std::size_t width, std::size_t height) {
  std::vector<Line> out;
  if (height == 0 || columns_.empty()) return out;
  page_ = std::max<std::size_t>(height - 1, 1);
  if (at_ < first_) first_ = at_;
  if (at_ >= first_ + page_) first_ = at_ + 1 - page_;
  if (first_ + page_ > order_.size()) first_ = order_.size() - std::min(order_.size(), page_);
  const std::size_t last = std::min(order_.size(), first_ + height - 1);
  const std::vector<std::size_t> which = columns_for(width);
  const std::vector<std::size_t> widths = widths_for(which, width, last);
  const auto put = [&](auto&& cell, auto&& look) {
    Line line;
    for (std::size_t n = 0; n < which.size(); ++n) {
      if (n != 0) line.push_back({std::string(kGap, ' '), look(columns_.size())});
      line.push_back({padded(cell(which[n]), widths[n], !columns_[which[n]].is_text), look(which[n])});
    }
    out.push_back(std::move(line));
  };
  put([&](std::size_t i) { return columns_[i].heading; },
      [&](std::size_t i) { return i == sorted_by_ ? Look::kSorted : Look::kHeading; });
  for (std::size_t at = first_; at < last; ++at) {
    const Row& row = rows_[order_[at]];
    put([&](std::size_t i) { return text_(row, i); },
        [&](std::size_t) { return at == at_ ? Look::kChosen : Look::kPlain; });
  }
  return out;
}

}  // namespace vmrun::screen
