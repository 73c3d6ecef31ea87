// SPDX-License-Identifier: Apache-2.0
#include "vm/code/emitter.hpp"

#include <algorithm>
#include <cstring>

namespace vmrun {
namespace {

constexpr SWord kMaxImmediate = SWord{1} << 27;

bool fits(char kind, const Operand& o) {
  using K = Operand::Kind;
  switch (kind) {
    case 'x': return o.kind == K::kX;
    case 'y': return o.kind == K::kY;
    case 'k':  // not a literal: at a low address it would fit, but some handlers compare identity alone
      return o.kind == K::kConst && o.value <= 0xFFFFFFFFu && Term::from_raw(o.value).is_immed();
    case 'c': return o.kind == K::kConst;
    case 'i': {
      const Term t = Term::from_raw(o.value);
      return o.kind == K::kConst && t.is_small() && t.small_value() < kMaxImmediate &&
             t.small_value() >= -kMaxImmediate;
    }
    case 'S': return o.kind == K::kX || o.kind == K::kY || o.kind == K::kConst;
    case 'D': return o.kind == K::kX || o.kind == K::kY;
    case 'l': return o.kind == K::kFloat;
    case 'f': return o.kind == K::kLabel;
    case 'u': return o.kind == K::kNumber && o.value <= 0xFFFF;
    case 'q': return o.kind == K::kNumber && o.value <= 0xFFFFFFFFu;
    case 'w': return o.kind == K::kNumber;
  }
  return false;
}

Word encode(char kind, const Operand& o) {
  switch (kind) {
    case 'i': return static_cast<Word>(Term::from_raw(o.value).small_value() << 4);
    case 'S':
      return o.kind == Operand::Kind::kX   ? encode_any_x(o.value)
             : o.kind == Operand::Kind::kY ? encode_any_y(o.value)
                                           : o.value;
    case 'D': return o.kind == Operand::Kind::kY ? o.value | kDestinationY : o.value;
    default: return o.value;
  }
}

/// The first variant whose kinds fit; -1 if none fits. A list does not count as an operand.
int select(op::Family family, const Operand* operands, std::size_t count) {
  const auto f = static_cast<unsigned>(family);
  for (unsigned v = op::kFamilyStart[f]; v < op::kFamilyStart[f + 1]; v++) {
    const char* kinds = op::kInstructions[op::kVariants[v]].kinds;
    std::size_t i = 0;
    while (i < count && kinds[i] && fits(kinds[i], operands[i])) i++;
    if (i == count && (!kinds[i] || kinds[i] == '*')) return op::kVariants[v];
  }
  return -1;
}

int fused(std::uint16_t first, std::uint16_t second) {
  const FusionRow* const end = op::kFusions + op::kFusionStart[first + 1];
  const FusionRow* const row =
      std::ranges::lower_bound(op::kFusions + op::kFusionStart[first], end, second, {}, &FusionRow::second);
  return row != end && row->second == second ? row->fused : -1;
}

}  // namespace

bool Emitter::can_emit(op::Family family, std::initializer_list<Operand> operands) const {
  return select(family, operands.begin(), operands.size()) >= 0;
}
void Emitter::emit(op::Family family, std::initializer_list<Operand> operands,
                   const std::vector<ListWord>& list) {
  emit(family, operands.begin(), operands.size(), list);
}
void Emitter::emit(op::Family family, std::span<const Operand> operands, const std::vector<ListWord>& list) {
  emit(family, operands.data(), operands.size(), list);
}

void Emitter::emit(op::Family family, const Operand* operands, std::size_t count,
                   const std::vector<ListWord>& list) {
  const int selected = select(family, operands, count);
  if (selected < 0) {
    if (error_.empty())
      error_ = std::string("operands of ") + op::kFamilyNames[static_cast<unsigned>(family)] +
               " are out of range or of the wrong kind";
    return;
  }
  const auto operation = static_cast<std::uint16_t>(selected);
  if (!try_fuse(operation)) {
    items_.push_back({operation, next_is_target_, pending_line_, static_cast<std::uint32_t>(values_.size()),
                      static_cast<std::uint32_t>(lists_.size()), 0, 0});
  }
  next_is_target_ = false;
  pending_line_ = 0;
  const char* kinds = op::kInstructions[operation].kinds;
  for (std::size_t i = 0; i < count; i++) values_.push_back(encode(kinds[i], operands[i]));
  if (kinds[count] == '*') {
    values_.push_back(list.size());
    items_.back().first_list = static_cast<std::uint32_t>(lists_.size());
    items_.back().list_count = static_cast<std::uint32_t>(list.size());
    lists_.insert(lists_.end(), list.begin(), list.end());
  }
}

/// Replaces the last instruction and this one by a fused one. Returns false if the second is a
/// jump's target, or if both may raise on different lines.
bool Emitter::try_fuse(std::uint16_t operation) {
  if (items_.empty() || next_is_target_) return false;
  Item& last = items_.back();
  const int whole = fused(last.operation, operation);
  if (whole < 0) return false;
  if (pending_line_) {
    if ((op::kInstructions[last.operation].flags & InstructionRow::kRaises) && last.line != pending_line_)
      return false;
    last.line = pending_line_;
  }
  last.operation = static_cast<std::uint16_t>(whole);
  return true;
}

void Emitter::place_label(Word label) {
  if (label_item_[label] != kUnplaced && error_.empty())
    error_ = "label " + std::to_string(label) + " is defined twice";
  label_item_[label] = static_cast<std::uint32_t>(items_.size());
  next_is_target_ = true;
}

bool Emitter::distance(const Item& from, Word label, SWord* out) {
  if (label == 0) {
    *out = 0;
    return true;
  }
  if (label_item_[label] >= items_.size()) {
    if (error_.empty()) error_ = "label " + std::to_string(label) + " is used but leads nowhere";
    return false;
  }
  *out = static_cast<SWord>(items_[label_item_[label]].at) - static_cast<SWord>(from.at);
  return true;
}

void Emitter::write(const Item& item, std::vector<Word>& code) {
  const InstructionRow& row = op::kInstructions[item.operation];
  auto* bytes = reinterpret_cast<std::uint8_t*>(code.data() + item.at);
  std::memcpy(bytes, &item.operation, 2);
  const Word* value = values_.data() + item.first_value;
  for (unsigned i = 0; row.kinds[i]; i++, value++) {
    std::uint8_t* field = bytes + row.fields[i];
    SWord jump = 0;
    switch (row.kinds[i]) {
      case 'f': {
        if (!distance(item, *value, &jump)) return;
        const auto narrow = static_cast<std::int32_t>(jump);
        std::memcpy(field, &narrow, 4);
        break;
      }
      case 'k':
      case 'i':
      case 'q':
      case '*': std::memcpy(field, value, 4); break;
      case 'c':
      case 'S':
      case 'w': std::memcpy(field, value, 8); break;
      default: std::memcpy(field, value, 2);
    }
  }
  Word* list = code.data() + item.at + row.words;
  for (std::uint32_t i = 0; i < item.list_count; i++) {
    const ListWord& w = lists_[item.first_list + i];
    SWord jump = 0;
    if (w.is_label && !distance(item, w.value, &jump)) return;
    list[i] = w.is_label ? static_cast<Word>(jump) : w.value;
  }
}

bool Emitter::finish(std::vector<Word>* code) {
  std::uint64_t at = 0;
  for (Item& item : items_) {
    item.at = static_cast<std::uint32_t>(at);
    at += op::kInstructions[item.operation].words + item.list_count;
    if (item.line) lines_.push_back({item.at, item.line});
  }
  if (at >= 1u << 30) error_ = "the code is too large";
  if (!error_.empty()) return false;
  code->assign(at, 0);
  for (const Item& item : items_) write(item, *code);
  return error_.empty();
}

}  // namespace vmrun
