// SPDX-License-Identifier: Apache-2.0
#include "vm/ir/print_ssa.hpp"

#include "vm/ir/bif_info.hpp"
#include "vm/term/print.hpp"

namespace vmrun::ir {

namespace {

// In the order of Op.
const char* const kOpNames[] = {"move",
                                "get_hd",
                                "get_tl",
                                "get_element",
                                "put_list",
                                "put_tuple",
                                "make_fun",
                                "bs_get_position",
                                "bif",
                                "put_map_assoc",
                                "put_map_exact",
                                "put_record",
                                "get_record_field",
                                "bs_create",
                                "bs_set_position",
                                "bs_get_tail",
                                "call",
                                "call_ext",
                                "call_fun",
                                "apply",
                                "send",
                                "bs_init_writable",
                                "build_stacktrace",
                                "raw_raise",
                                "catch_end",
                                "try_case",
                                "float_load",
                                "float_op",
                                "float_box",
                                "try_end",
                                "remove_message",
                                "timeout",
                                "marker_reserve",
                                "marker_bind",
                                "marker_use",
                                "marker_clear",
                                "test",
                                "get_map",
                                "get_record",
                                "bs_start",
                                "bs_get",
                                "bs_skip",
                                "bs_match_string",
                                "bs_test_tail",
                                "bs_test_unit"};
static_assert(std::size(kOpNames) == static_cast<std::size_t>(Op::kBsTestUnit) + 1);

// In the order of Test.
const char* const kTestNames[] = {
    "<",       ">=",         "==",     "/=",           "=:=",        "=/=",
    "integer", "float",      "number", "atom",         "pid",        "reference",
    "port",    "nil",        "binary", "bitstr",       "list",       "nonempty_list",
    "tuple",   "arity",      "tagged", "boolean",      "function",   "function2",
    "map",     "map_fields", "record", "record_named", "record_open"};
static_assert(std::size(kTestNames) == static_cast<std::size_t>(Test::kRecordOpen) + 1);

const char* const kFailNames[] = {"function_clause", "case_clause", "badmatch",  "if_clause",
                                  "try_clause",      "else_clause", "badrecord", "impossible"};

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string run() {
    for (const Function& f : program_.functions) function(f);
    return std::move(out_);
  }

 private:
  static std::string text(Arg a) {
    return a.is_value() ? "v" + std::to_string(a.value) : term_text(a.literal);
  }
  static std::string text(BlockId b) { return "b" + std::to_string(b); }
  template <class List>
  static std::string values(const List& list) {
    std::string out;
    for (ValueId v : list) out += (out.empty() ? "v" : ", v") + std::to_string(v);
    return out;
  }
  static std::string arguments(const std::vector<Arg>& args) {
    std::string out;
    for (Arg a : args) out += (out.empty() ? "" : ", ") + text(a);
    return "(" + out + ")";
  }

  static std::string text(const Type& t) {
    static const char* const kKinds[] = {"atom", "bitstring", "match_state", "cons", "float",
                                         "fun",  "integer",   "map",         "nil",  "pid",
                                         "port", "reference", "tuple"};
    std::string out;
    for (unsigned k = 0; k < std::size(kKinds); ++k)
      if (t.kinds >> k & 1) out += (out.empty() ? "" : "|") + std::string(kKinds[k]);
    if (t.may_be(kind::kInteger) && t.bounded())
      out += "(" + std::to_string(t.low) + ".." + std::to_string(t.high) + ")";
    return out;
  }

  void function(const Function& f) {
    out_ += (out_.empty() ? "" : "\n") + term_text(f.name) + "/" + std::to_string(f.arity) + " (" +
            values(f.params) + ")\n";
    for (BlockId id = 0; id < f.blocks.size(); ++id)
      if (!f.blocks[id].dead) block(f, id);
  }

  void block(const Function& f, BlockId id) {
    const Block& b = f.blocks[id];
    out_ += " " + text(id);
    if (!b.params.empty()) out_ += " (" + values(b.params) + ")";
    if (id == f.entry) out_ += " entry";
    if (b.is_handler) out_ += " handler";
    if (b.is_loop_head) out_ += " loop";
    if (b.handler != kNone) out_ += " guarded by " + text(b.handler);
    out_ += ":\n";
    for (const Instr& i : b.code) instruction(i);
    end(b);
  }

  void instruction(const Instr& i) {
    out_ += "    ";
    if (!i.dsts.empty()) out_ += values(i.dsts) + " = ";
    out_ += kOpNames[static_cast<std::size_t>(i.op)];
    if (i.op == Op::kBif) out_ += std::string(" ") + i.bif->name;
    if (i.op == Op::kTest) out_ += std::string(" ") + kTestNames[static_cast<std::size_t>(i.test)];
    if (i.op == Op::kFloatOp) out_ += std::string(" ") + "+-*/"[i.imm];
    else if (i.op == Op::kCall || i.op == Op::kMakeFun) out_ += " " + callee(i);
    else if (i.imm != 0 || i.op == Op::kGetElement) out_ += " #" + std::to_string(i.imm);
    for (std::size_t k = 0; k < i.args.size(); ++k) {
      out_ += (k == 0 ? " " : ", ") + text(i.args[k]);
      if (k < i.types.size() && i.args[k].is_value() && i.types[k].kinds != kind::kAny)
        out_ += " :: " + text(i.types[k]);
    }
    out_ += "\n";
  }

  std::string callee(const Instr& i) const {
    const std::size_t index = i.op == Op::kMakeFun ? program_.lambdas[i.imm].function : i.imm;
    const Function& f = program_.functions[index];
    return term_text(f.name) + "/" + std::to_string(f.arity);
  }

  void end(const Block& b) {
    out_ += "    ";
    switch (b.end) {
      case BlockEnd::kNone: out_ += "unfinished"; break;
      case BlockEnd::kJump:
        out_ += "jump " + text(b.succ) + (b.jump_args.empty() ? "" : " " + arguments(b.jump_args));
        break;
      case BlockEnd::kFallible: out_ += "then " + text(b.succ) + " else " + text(b.fail); break;
      case BlockEnd::kSwitchValue:
      case BlockEnd::kSwitchArity:
        out_ += (b.end == BlockEnd::kSwitchArity ? "switch arity " : "switch ") + text(b.subject);
        for (const SwitchCase& c : b.cases) out_ += ", " + term_text(c.value) + " -> " + text(c.to);
        out_ += " else " + text(b.fail);
        break;
      case BlockEnd::kReturn: out_ += "return " + text(b.subject); break;
      case BlockEnd::kError:
        out_ += std::string("error ") + kFailNames[static_cast<std::size_t>(b.error)] + subject(b);
        break;
      case BlockEnd::kTry:
        out_ += "try v" + std::to_string(b.tag) + " " + text(b.succ) + " handler " + text(b.fail);
        break;
      case BlockEnd::kCatch:
        out_ += "catch v" + std::to_string(b.tag) + " " + text(b.succ) + " handler " + text(b.fail);
        break;
      case BlockEnd::kLoopRec:
        out_ +=
            "v" + std::to_string(b.tag) + " = next message, then " + text(b.succ) + " else " + text(b.fail);
        break;
      case BlockEnd::kLoopRecEnd: out_ += "next message " + text(b.succ); break;
      case BlockEnd::kWait: out_ += "wait " + text(b.succ); break;
      case BlockEnd::kWaitTimeout:
        out_ += "wait " + text(b.subject) + ", message " + text(b.fail) + " time out " + text(b.succ);
        break;
      case BlockEnd::kUnreachable: out_ += "unreachable"; break;
    }
    out_ += "\n";
  }

  static std::string subject(const Block& b) {
    if (!b.jump_args.empty()) return " " + arguments(b.jump_args);
    const bool alone = b.error == Fail::kFunctionClause || b.error == Fail::kIfClause;
    return alone ? "" : " " + text(b.subject);
  }

  const Program& program_;
  std::string out_;
};

}  // namespace

std::string print_ssa(const Program& program) { return Printer(program).run(); }

}  // namespace vmrun::ir
