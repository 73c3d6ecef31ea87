#include "probes/print/texts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace vmrun::d {
namespace {

constexpr std::size_t kMostAsked =
    1 << 20;  // names kept: a target that makes atoms without end is no reason to grow

void put_number(std::string& out, std::uint64_t n) {
  const fmt::format_int text(n);
  out.append(text.data(), text.size());
}

const std::string& asked(std::unordered_map<std::uint64_t, std::string>& kept, std::uint64_t number,
                         const std::function<std::string(std::uint64_t)>& ask) {
  if (const auto found = kept.find(number); found != kept.end()) return found->second;
  if (kept.size() >= kMostAsked) kept.clear();
  return kept[number] = ask ? ask(number) : "";
}

}  // namespace

const std::string& Texts::atom(std::uint64_t number) { return asked(atoms_, number, names_.atom); }

const std::string& Texts::address(std::uint64_t address) {
  return asked(addresses_, address, names_.address);
}

std::pair<std::string, std::string> Texts::function(std::uint32_t number) {
  const std::string& text = asked(functions_, number, names_.function);
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
  // Below the outermost function lies where a process begins, which has no name.
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

void Texts::put_shape(std::string& out, Shape shape, const std::uint64_t* words, std::size_t count) {
  switch (shape) {
    case Shape::kPid:
      if (count < 2) break;
      out += machine;
      out += "<0.";
      put_number(out, words[0]);
      out += '.';
      put_number(out, words[1]);
      out += '>';
      return;
    case Shape::kPort:
      if (count < 1) break;
      out += machine;
      out += "#Port<0.";
      put_number(out, words[0]);
      out += '>';
      return;
    case Shape::kFunction:
      if (count < 3) break;
      for (unsigned i = 0; i < 2; ++i) {
        out += atom(words[i]);
        out += i == 0 ? ':' : '/';
      }
      put_number(out, words[2]);
      return;
    case Shape::kAtom:
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
    case Shape::kNull: value.is_null = true; break;
    case Shape::kText:
    case Shape::kBytes: value.bytes = field.text(); break;
    case Shape::kStack: {
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
