// SPDX-License-Identifier: Apache-2.0
#include "probes/print/record_texts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace vmrun::d {
namespace {

constexpr std::size_t kMostAsked = 1 << 20;  // names kept: bounded, for a target may make atoms without end

void put_number(std::string& out, std::uint64_t n) {
  const fmt::format_int text(n);
  out.append(text.data(), text.size());
}

}  // namespace

bool Texts::is_new(NameKind kind, std::uint64_t number) {
  Kept& kept = kept_[static_cast<std::size_t>(kind)];
  if (kept.names.contains(number)) return false;
  if (kept.names.size() >= kMostAsked) kept = {};
  kept.names[number];
  kept.wanted.push_back(number);
  return true;
}

void Texts::ask() {
  for (std::size_t kind = 0; kind < kNameKinds; ++kind) {
    Kept& kept = kept_[kind];
    const std::vector<std::uint64_t> wanted = std::exchange(kept.wanted, {});
    if (wanted.empty() || !names_) continue;
    std::vector<std::string> names = names_(static_cast<NameKind>(kind), wanted);
    for (std::size_t i = 0; i < std::min(names.size(), wanted.size()); ++i)
      kept.names[wanted[i]] = std::move(names[i]);
  }
}

const std::string& Texts::name(NameKind kind, std::uint64_t number) {
  if (is_new(kind, number)) ask();
  return kept_[static_cast<std::size_t>(kind)].names[number];
}

void Texts::want(const RecordField& field) {
  if (field.field->kind == Field::Kind::kInteger) return;
  const NameKind kind = field.shape == Encoding::kStack ? NameKind::kAddress : NameKind::kAtom;
  const std::size_t names = field.shape == Encoding::kStack      ? field.body.size()
                            : field.shape == Encoding::kFunction ? 2
                            : field.shape == Encoding::kAtom     ? 1
                                                                 : 0;
  for (std::size_t i = 0; i < std::min(names, field.body.size()); ++i) (void)is_new(kind, field.body[i]);
}

std::pair<std::string, std::string> Texts::function(std::uint32_t number) {
  const std::string& text = name(NameKind::kFunction, number);
  const std::size_t nul = text.find('\0');
  if (nul == std::string::npos) return {"?", "?"};
  return {text.substr(0, nul), text.substr(nul + 1)};
}

std::string& Texts::make() {
  if (used_ == made_.size()) made_.emplace_back();
  std::string& text = made_[used_++];
  text.clear();
  return text;
}

void Texts::put_stack(std::string& out, const std::uint64_t* frames, std::size_t count) {
  // Below the outermost function is the place where a process begins, which has no name.
  if (count > 1 && address(frames[count - 1]).empty()) --count;
  for (std::size_t i = 0; i < count; ++i) {
    const bool folded = stack_format == StackFormat::kFolded;
    const std::uint64_t frame = frames[folded ? count - 1 - i : i];
    const std::string& name = address(frame);
    if (name.empty()) out += fmt::format("0x{:x}", frame);
    else out += name;
    if (!folded) out += '\n';
    else if (i + 1 < count) out += ';';
  }
}

void Texts::put_shape(std::string& out, Encoding shape, const std::uint64_t* words, std::size_t count) {
  switch (shape) {
    case Encoding::kPid:
      if (count < 2) break;
      out += machine;
      out += "<0.";
      put_number(out, words[0]);
      out += '.';
      put_number(out, words[1]);
      out += '>';
      return;
    case Encoding::kPort:
      if (count < 1) break;
      out += machine;
      out += "#Port<0.";
      put_number(out, words[0]);
      out += '>';
      return;
    case Encoding::kFunction:
      if (count < 3) break;
      for (unsigned i = 0; i < 2; ++i) {
        out += atom(words[i]);
        out += i == 0 ? ':' : '/';
      }
      put_number(out, words[2]);
      return;
    case Encoding::kAtom:
      if (count < 1) break;
      out += atom(words[0]);
      return;
    default: break;
  }
  out += '?';
}

Value Texts::value(const RecordField& field) {
  Value value;
  value.kind = field.field->kind;
  value.width = field.field->bytes;
  value.is_signed = field.field->is_signed;
  value.type = field.field->type;
  value.most = field.field->most;
  value.number = field.number;
  if (value.kind == Field::Kind::kInteger) return value;
  switch (field.shape) {
    case Encoding::kNull: value.is_null = true; break;
    case Encoding::kText:
    case Encoding::kBytes: value.bytes = field.text(); break;
    case Encoding::kStack: {
      std::string& text = make();
      put_stack(text, field.body.data(), field.body.size());
      value.kind = Field::Kind::kStack;
      value.bytes = text;
      break;
    }
    default: {
      std::string& text = make();
      put_shape(text, field.shape, field.body.data(), field.body.size());
      value.bytes = text;
    }
  }
  return value;
}

void put_indented(std::string& out, std::string_view lines, std::size_t indent) {
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    out.append(indent, ' ');
    out += lines.substr(0, end);
    out += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

}  // namespace vmrun::d
