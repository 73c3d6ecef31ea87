// SPDX-License-Identifier: Apache-2.0
// One pass over each clause in order. Jumps go forward only, so everything that can come before an
// instruction has been checked by then. `Known` is what has been written on every path to it.
#include "probes/engine/program_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "probes/engine/aggregation.hpp"
#include "probes/engine/operations.hpp"

namespace vmrun::d {

namespace {

struct Known {
  std::uint32_t registers = 0;
  std::uint8_t terms = 0;
  bool reached = false;
};

class ClauseVerifier {
 public:
  ClauseVerifier(const Program& program, const Clause& clause, bool is_predicate)
      : program_(program),
        clause_(clause),
        code_(is_predicate ? clause.predicate : clause.body),
        is_predicate_(is_predicate),
        ways_(code_.size()) {}

  std::string run() {
    if (code_.size() > Bounds::kInstructions)
      return fmt::format("{} instructions, at most {} are allowed", code_.size(), Bounds::kInstructions);
    if (code_.empty()) return "";
    ways_[0].reached = true;
    for (at_ = 0; at_ < code_.size(); ++at_) {
      std::string why = instruction(code_[at_]);
      if (!why.empty()) return fmt::format("instruction {}: {}", at_, why);
    }
    return "";
  }

 private:
  std::string instruction(const Instruction& i) {
    const auto number = static_cast<unsigned>(i.operation);
    if (number >= kOperationCount) return fmt::format("there is no operation {}", number);
    known_ = ways_[at_];
    // Code that no path reaches never runs. Its operands must be sound nevertheless, but its
    // registers need not have been written.
    if (!known_.reached) known_ = {~0u, 0xff, false};
    const OperationInfo& info = kOperations[number];
    const std::int32_t values[] = {i.a, i.b, i.c, i.imm};
    const bool calls = i.operation == Operation::kCall;  // call() checks its arguments
    for (const bool writes : {false, true})
      for (int k = 0; k < 4; ++k)
        if (is_written(info.operands[k]) == writes && !(calls && k == 1))
          if (auto why = operand(info.operands[k], values[k]); !why.empty())
            return fmt::format("{}: {}", info.name, why);
    if (auto why = special(i); !why.empty()) return fmt::format("{}: {}", info.name, why);
    return leave(i);
  }

  static bool is_written(Operand o) { return o == Operand::kWritten || o == Operand::kTermWritten; }

  std::string operand(Operand kind, std::int32_t value) {
    switch (kind) {
      case Operand::kNone: return value == 0 ? "" : "an operand that it does not have is not 0";
      case Operand::kNumber: return "";  // special() checks it
      case Operand::kRead: return read(value);
      case Operand::kWritten:
        if (value >= static_cast<std::int32_t>(kRegisters)) return fmt::format("no register {}", value);
        known_.registers |= 1u << value;
        return "";
      case Operand::kTermRead:
        if (value >= static_cast<std::int32_t>(kTermRegisters))
          return fmt::format("no term register {}", value);
        return known_.terms >> value & 1 ? "" : fmt::format("term register {} may be unwritten", value);
      case Operand::kTermWritten:
        if (value >= static_cast<std::int32_t>(kTermRegisters))
          return fmt::format("no term register {}", value);
        known_.terms = static_cast<std::uint8_t>(known_.terms | 1u << value);
        return "";
      case Operand::kJump:
        if (value <= static_cast<std::int32_t>(at_) || static_cast<std::size_t>(value) >= code_.size())
          return fmt::format("it jumps to {}", value);
        return "";
      case Operand::kConstant: return index(value, program_.constants.size(), "constant");
      case Operand::kText: return index(value, program_.texts.size(), "text");
      case Operand::kVariable: return index(value, program_.variables.size(), "variable");
      case Operand::kAggregation: return index(value, program_.aggregations.size(), "aggregation");
      case Operand::kAction: return index(value, program_.actions.size(), "action");
      case Operand::kArgument: return index(value, kArguments, "argument");
      case Operand::kBuiltin: return index(value, kBuiltinCount, "built-in");
      case Operand::kSubroutine: return index(value, kSubroutineCount, "subroutine");
      case Operand::kFrame: return index(value, program_.frame_bytes, "byte of the frame");
    }
    return "?";
  }

  static std::string index(std::int32_t value, std::size_t count, const char* what) {
    return value >= 0 && static_cast<std::size_t>(value) < count ? "" : fmt::format("no {} {}", what, value);
  }

  std::string read(std::int32_t value) const {
    if (value >= static_cast<std::int32_t>(kRegisters)) return fmt::format("no register {}", value);
    return known_.registers >> value & 1 ? "" : fmt::format("register {} may be unwritten", value);
  }

  static std::string within(std::int64_t value, std::int64_t least, std::int64_t most) {
    return value >= least && value <= most ? ""
                                           : fmt::format("{} is not within {} and {}", value, least, most);
  }

  std::string variable(std::int32_t number, Scope scope, bool associative) const {
    const Variable& v = program_.variables[static_cast<std::size_t>(number)];
    return v.scope == scope && v.associative == associative ? ""
                                                            : fmt::format("{} is of another kind", v.name);
  }

  std::string of_record() const {
    if (is_predicate_) return "a predicate makes no record";
    return clause_.makes_record ? "" : "this clause makes no record";
  }

  std::string special(const Instruction& i) {
    using enum Operation;
    switch (i.operation) {
      case kSext:
      case kZext: return within(i.c, 1, 64);
      case kLd: return size(i.c & 127);
      case kSt: return size(i.c);
      case kCopy:
      case kCopys: return within(i.imm, 1, Bounds::kVariableBytes);
      case kLdg:
      case kStg:
      case kAddrg: return variable(i.imm, Scope::kGlobal, false);
      case kLdt:
      case kStt: return variable(i.imm, Scope::kSelf, false);
      case kLda:
      case kSta: return variable(i.imm, Scope::kGlobal, true);
      case kLdta:
      case kStta: return variable(i.imm, Scope::kSelf, true);
      case kKeyb: return within(i.imm, 0, Bounds::kStrsize);
      case kKeystack: return within(i.imm, 0, Bounds::kFrames);
      case kKeybuiltin: return text_builtin(i.imm);
      case kBuiltin: return is_term(i.imm) ? fmt::format("{} is a term", kBuiltins[i.imm].name) : "";
      case kTbuiltin: return is_term(i.imm) ? "" : fmt::format("{} is no term", kBuiltins[i.imm].name);
      case kBegin:
      case kFi:
      case kFs:
      case kFarg: return of_record();
      case kFb:
      case kFterm: return either(of_record(), within(i.imm, 0, Bounds::kStrsize));
      case kFbuiltin: return either(of_record(), text_builtin(i.imm));
      case kFstack: return either(of_record(), within(i.imm, 0, Bounds::kFrames));
      case kCall: return call(i);
      case kTcall: return of_term(i.imm, ParameterType::kTerm);
      case kTint: return of_term(i.imm, ParameterType::kInt);
      case kSpecto: return of_record();
      case kExit:
      case kCommit:
      case kDiscard:
      case kAgg: return is_predicate_ ? "not in a predicate" : "";
      default: return "";
    }
  }

  static std::string either(const std::string& one, const std::string& other) {
    return one.empty() ? other : one;
  }

  static std::string size(int bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? "" : fmt::format("{} bytes at once", bytes);
  }

  static bool is_term(std::int32_t builtin) { return kBuiltins[builtin].type == ValueType::kTerm; }

  static std::string text_builtin(std::int32_t number) {
    const auto type = kBuiltins[number].type;
    return type == ValueType::kString || type == ValueType::kPid
               ? ""
               : fmt::format("{} is no text", kBuiltins[number].name);
  }

  static std::string of_term(std::int32_t number, ParameterType result) {
    const SubroutineInfo& s = kSubroutines[number];
    return s.of_term && s.result == result ? "" : fmt::format("{} is of another kind", s.name);
  }

  std::string call(const Instruction& i) const {
    const SubroutineInfo& s = kSubroutines[i.imm];
    if (s.of_term) return fmt::format("{} takes a term", s.name);
    if (i.c != s.parameter_count) return fmt::format("{} takes {} arguments", s.name, s.parameter_count);
    if (i.b >= kRegisters) return fmt::format("no register {}", i.b);
    for (int k = 0; k < i.c; ++k)
      if (auto why = read(i.b + k); !why.empty()) return why;
    return "";
  }

  // Passes what is known on to the instructions that can come next.
  std::string leave(const Instruction& i) {
    using enum Operation;
    if (!ways_[at_].reached) return "";
    if (i.operation == kRet) {
      if (is_predicate_ && !(known_.registers & 1)) return "ret: the predicate leaves no value in register 0";
      return "";
    }
    if (i.operation == kJump || i.operation == kJz || i.operation == kJnz)
      to(static_cast<std::size_t>(i.imm));
    if (i.operation == kJump) return "";
    if (at_ + 1 == code_.size()) return "it runs on past the end";
    to(at_ + 1);
    return "";
  }

  void to(std::size_t next) {
    Known& there = ways_[next];
    if (!there.reached) {
      there = {known_.registers, known_.terms, true};
      return;
    }
    there.registers &= known_.registers;
    there.terms &= known_.terms;
  }

  const Program& program_;
  const Clause& clause_;
  const std::vector<Instruction>& code_;
  const bool is_predicate_;
  std::vector<Known> ways_;
  Known known_;
  std::size_t at_ = 0;
};

template <class Number>
std::string option(const char* name, Number& value, Number standard, std::uint64_t most) {
  if (value == 0) value = standard;
  return value <= most ? "" : fmt::format("{}: {} is more than {}", name, value, most);
}

std::string options(Options& o) {
  const Options standard;
  for (auto&& why : {option("strsize", o.strsize, standard.strsize, Bounds::kStrsize),
                     option("bufsize", o.bufsize, standard.bufsize, Bounds::kBufsize),
                     option("aggsize", o.aggsize, standard.aggsize, Bounds::kAggsize),
                     option("dynvarsize", o.dynvarsize, standard.dynvarsize, Bounds::kDynvarsize),
                     option("specsize", o.specsize, standard.specsize, Bounds::kSpecBytes),
                     option("scratchsize", o.scratchsize, standard.scratchsize, Bounds::kScratch),
                     option("nspec", o.nspec, standard.nspec, Bounds::kSpeculations),
                     option("jstackframes", o.stack_frames, standard.stack_frames, Bounds::kFrames),
                     option("ustackframes", o.ustack_frames, standard.ustack_frames, Bounds::kFrames)})
    if (!why.empty()) return why;
  if (o.specsize * o.nspec > Bounds::kSpecBytes) return "specsize: too much for so many speculations";
  if (o.policy > Options::Policy::kRing) return "bufpolicy: there is no such policy";
  return "";
}

std::string count(const char* what, std::size_t n, std::size_t most) {
  return n <= most ? "" : fmt::format("{} {}, at most {} are allowed", n, what, most);
}

std::string tables(const Program& p) {
  for (auto&& why : {count("clauses", p.clauses.size(), Bounds::kClauses),
                     count("bytes of texts", p.texts.size(), Bounds::kTexts),
                     count("constants", p.constants.size(), Bounds::kConstants),
                     count("variables", p.variables.size(), Bounds::kNames),
                     count("aggregations", p.aggregations.size(), Bounds::kNames),
                     count("actions", p.actions.size(), Bounds::kActions),
                     count("timers", p.timers.size(), Bounds::kTimers),
                     count("bytes of this-> variables", p.frame_bytes, Bounds::kFrameBytes)})
    if (!why.empty()) return why;
  if (!p.texts.empty() && p.texts.back() != '\0') return "the texts do not end";
  std::size_t bytes = 0;
  for (const Variable& v : p.variables) {
    if (v.scope > Scope::kSelf) return fmt::format("variable {}: no such scope", v.name);
    if (v.bytes == 0 || v.bytes > Bounds::kVariableBytes || (!v.by_reference && v.bytes != 8))
      return fmt::format("variable {}: {} bytes", v.name, v.bytes);
    if (v.scope == Scope::kGlobal && !v.associative) bytes += v.bytes;
  }
  if (auto why = count("bytes of global variables", bytes, Bounds::kGlobalBytes); !why.empty()) return why;
  for (const Aggregation& a : p.aggregations) {
    if (a.how > Aggregating::kLlquantize) return fmt::format("aggregation {}: no such kind", a.name);
    if (value_words(a) == 0) return fmt::format("aggregation {}: its steps are impossible", a.name);
  }
  for (const Timer& t : p.timers)
    if (t.interval_ns < Bounds::kShortestInterval || t.interval_ns > 1ull << 62)
      return fmt::format("timer {}: an interval of {} ns", t.name, t.interval_ns);
  return "";
}

std::string enabled(const Program& p, std::size_t probes) {
  std::unordered_map<std::uint32_t, std::size_t> instructions;
  std::size_t all = 0;
  for (const Clause& c : p.clauses) {
    all += c.probes.size();
    for (const Enabled& e : c.probes) {
      const bool is_timer = e.probe >= kFirstTimerProbe && e.probe < kBeginProbe;
      if (is_any_function_probe(e.probe)) {
        if (e.arity < -1 || e.arity > 255) return "an arity is out of range";
      } else if (is_timer ? e.probe - kFirstTimerProbe >= p.timers.size()
                          : e.probe >= probes && (e.probe < kBeginProbe || e.probe > kErrorProbe))
        return fmt::format("there is no probe {}", e.probe);
      auto& total = instructions[e.probe];
      total += c.predicate.size() + c.body.size();
      if (auto why = count("instructions at one probe", total, Bounds::kInstructionsOfProbe); !why.empty())
        return why;
    }
  }
  return count("enabled probes", all, Bounds::kEnabled);
}

std::string refusal(Program& p, std::size_t probes) {
  if (auto why = options(p.options); !why.empty()) return why;
  if (auto why = tables(p); !why.empty()) return why;
  for (std::size_t i = 0; i < p.clauses.size(); ++i)
    for (const bool is_predicate : {true, false})
      if (auto why = ClauseVerifier(p, p.clauses[i], is_predicate).run(); !why.empty())
        return fmt::format("clause {}{}: {}", i, is_predicate ? ", predicate" : "", why);
  return enabled(p, probes);
}

}  // namespace

bool verify(Program& program, std::size_t probes, std::string& why) {
  why = refusal(program, probes);
  return why.empty();
}

}  // namespace vmrun::d
