// SPDX-License-Identifier: Apache-2.0
// The bytes of a program, and its listing. One pass over the structure writes it or reads it, so
// that the two cannot disagree.
#include "probes/engine/program.hpp"

#include <fmt/format.h>

#include <cstring>

#include "probes/engine/operations.hpp"

namespace vmrun::d {

namespace {

constexpr std::uint32_t kProgramMagic = 0x31504456;  // VDP1

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  template <class Number>
  void number(Number& n) {
    out_.append(reinterpret_cast<const char*>(&n), sizeof n);
  }
  void flag(bool& on) { out_.push_back(on ? 1 : 0); }
  template <class Sequence>
  void count(Sequence& s, std::size_t) {
    auto n = static_cast<std::uint32_t>(s.size());
    number(n);
  }
  template <class Element>
  void block(Element* first, std::size_t n) {
    if (n != 0) out_.append(reinterpret_cast<const char*>(first), n * sizeof *first);
  }

 private:
  std::string& out_;
};

// Once something was missing or impossible, everything reads as zero and good() is false.
class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}
  template <class Number>
  void number(Number& n) {
    n = Number{};
    if (enough(sizeof n)) take(&n, sizeof n);
  }
  void flag(bool& on) {
    std::uint8_t byte = 0;
    number(byte);
    if (byte > 1) good_ = false;
    on = byte == 1;
  }
  /// least: the fewest bytes that an element takes, so that a forged count cannot ask for memory.
  template <class Sequence>
  void count(Sequence& s, std::size_t least) {
    std::uint32_t n = 0;
    number(n);
    if (n > in_.size() / least) good_ = false;
    s.resize(good_ ? n : 0);
  }
  template <class Element>
  void block(Element* first, std::size_t n) {
    if (n != 0 && enough(n * sizeof *first)) take(first, n * sizeof *first);
  }
  bool good() const { return good_; }
  bool at_end() const { return in_.empty(); }

 private:
  bool enough(std::size_t bytes) { return good_ = good_ && in_.size() >= bytes; }
  void take(void* to, std::size_t bytes) {
    std::memcpy(to, in_.data(), bytes);
    in_.remove_prefix(bytes);
  }

  std::string_view in_;
  bool good_ = true;
};

template <class Pass>
void text(Pass& pass, std::string& s) {
  pass.count(s, 1);
  pass.block(s.data(), s.size());
}

// Passes a vector of plain words.
template <class Pass, class Element>
void plain(Pass& pass, std::vector<Element>& v) {
  pass.count(v, sizeof(Element));
  pass.block(v.data(), v.size());
}

template <class Pass, class Element, class Each>
void each(Pass& pass, std::vector<Element>& v, Each&& one) {
  pass.count(v, 1);
  for (auto& element : v) one(element);
}

template <class Pass>
void all(Pass& pass, Program& p) {
  auto& o = p.options;
  pass.number(o.strsize), pass.number(o.bufsize), pass.number(o.aggsize), pass.number(o.dynvarsize);
  pass.number(o.specsize), pass.number(o.scratchsize), pass.number(o.nspec);
  pass.number(o.stack_frames), pass.number(o.ustack_frames);
  pass.number(o.policy), pass.flag(o.destructive), pass.number(o.pid);
  plain(pass, p.constants);
  text(pass, p.texts);
  each(pass, p.variables, [&](Variable& v) {
    text(pass, v.name), pass.number(v.scope), pass.flag(v.associative), pass.number(v.bytes);
    pass.flag(v.by_reference), pass.flag(v.is_text);
  });
  each(pass, p.aggregations, [&](Aggregation& a) {
    text(pass, a.name), pass.number(a.how), pass.block(a.parameters, 4), pass.flag(a.is_signed);
  });
  each(pass, p.actions, [&](Action& a) { pass.number(a.clause); });
  each(pass, p.timers, [&](Timer& t) {
    text(pass, t.name), pass.number(t.interval_ns), pass.flag(t.profile), pass.flag(t.wall);
  });
  each(pass, p.clauses, [&](Clause& c) {
    each(pass, c.probes, [&](Enabled& e) {
      pass.number(e.probe), text(pass, e.module), text(pass, e.function), pass.number(e.arity);
    });
    plain(pass, c.predicate), plain(pass, c.body), pass.flag(c.makes_record);
  });
  pass.number(p.frame_bytes);
}

std::string text_at(const Program& p, std::size_t offset) {
  if (offset >= p.texts.size()) return "?";
  std::string shown = "\"";
  for (char c : std::string_view(p.texts.data() + offset)) {
    if (c == '"' || c == '\\') shown += {'\\', c};
    else if (c == '\n') shown += "\\n";
    else shown += static_cast<unsigned char>(c) < ' ' ? fmt::format("\\x{:02x}", c) : std::string(1, c);
  }
  return shown + '"';
}

template <class Table>
std::string named(const Table& table, std::int32_t number, const char* prefix) {
  const auto n = static_cast<std::size_t>(number);
  return n < table.size() ? prefix + table[n].name : fmt::format("{}?{}", prefix, number);
}

std::string operand_text(const Program& p, Operand operand, std::int32_t value) {
  const auto n = static_cast<std::size_t>(value);
  switch (operand) {
    case Operand::kNone: return "";
    case Operand::kWritten:
    case Operand::kRead: return fmt::format("%r{}", value);
    case Operand::kTermWritten:
    case Operand::kTermRead: return fmt::format("%t{}", value);
    case Operand::kNumber: return fmt::format("{}", value);
    case Operand::kJump: return fmt::format("-> {}", value);
    case Operand::kConstant: return n < p.constants.size() ? fmt::format("{:#x}", p.constants[n]) : "?";
    case Operand::kText: return text_at(p, n);
    case Operand::kVariable: return named(p.variables, value, "");
    case Operand::kAggregation: return named(p.aggregations, value, "@");
    case Operand::kAction: return fmt::format("action {}", value);
    case Operand::kArgument: return fmt::format("arg{}", value);
    case Operand::kBuiltin: return n < kBuiltinCount ? kBuiltins[n].name : "?";
    case Operand::kSubroutine: return n < kSubroutineCount ? kSubroutines[n].name : "?";
    case Operand::kFrame: return fmt::format("this+{}", value);
  }
  return "?";
}

void list(const Program& p, const std::vector<Instruction>& code, std::string& out) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto& at = code[i];
    const auto number = static_cast<unsigned>(at.operation);
    if (number >= kOperationCount) {
      out += fmt::format("  {:4} ?{}\n", i, number);
      continue;
    }
    std::string operands;
    const std::int32_t values[] = {at.a, at.b, at.c, at.imm};
    for (int k = 0; k < 4; ++k)
      if (const auto shown = operand_text(p, kOperations[number].operands[k], values[k]); !shown.empty())
        operands += (operands.empty() ? "" : ", ") + shown;
    auto line = fmt::format("  {:4} {:<10} {}", i, kOperations[number].name, operands);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
}

}  // namespace

std::string to_bytes(const Program& program) {
  std::string bytes;
  Writer writer(bytes);
  std::uint32_t head[] = {kProgramMagic, kProgramVersion};
  writer.block(head, 2);
  all(writer, const_cast<Program&>(program));  // a writer only reads it
  return bytes;
}

bool from_bytes(std::string_view bytes, Program& program, std::string& why) {
  Reader reader(bytes);
  std::uint32_t head[2] = {};
  reader.block(head, 2);
  if (head[0] != kProgramMagic) return why = "these are not the bytes of a program", false;
  if (head[1] != kProgramVersion) {
    why = fmt::format("the program is of version {}, this engine is of version {}", head[1], kProgramVersion);
    return false;
  }
  program = Program{};
  all(reader, program);
  if (reader.good() && reader.at_end()) return true;
  why = "the bytes of the program are damaged";
  return false;
}

std::string disassemble(const Program& program) {
  std::string out;
  for (std::size_t i = 0; i < program.clauses.size(); ++i) {
    const auto& clause = program.clauses[i];
    out += fmt::format("clause {}:\n", i);
    if (!clause.predicate.empty()) out += " predicate:\n", list(program, clause.predicate, out);
    out += " body:\n", list(program, clause.body, out);
  }
  return out;
}

}  // namespace vmrun::d
