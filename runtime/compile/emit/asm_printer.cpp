// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/asm_printer.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "runtime/compile/emit/term_source.hpp"
#include "vm/base/code_traits.hpp"
#include "vm/ir/types.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::compile {

namespace {

/// How the operands of an instruction are shown, in order:
///   .  as they are    [ ]  a list in brackets    T  the word `test` and the name in front of
///      everything    F  field flags    E  as external function    C  a list of commands
struct Form {
  Bop op;
  const char* name;
  const char* shape;
};

constexpr Form kForms[] = {
    {Bop::kLabel, "label", "."},
    {Bop::kFuncInfo, "func_info", "..."},
    {Bop::kIntCodeEnd, "int_code_end", ""},
    {Bop::kCall, "call", ".."},
    {Bop::kCallLast, "call_last", "..."},
    {Bop::kCallOnly, "call_only", ".."},
    {Bop::kCallExt, "call_ext", ".."},
    {Bop::kCallExtLast, "call_ext_last", "..."},
    {Bop::kCallExtOnly, "call_ext_only", ".."},
    {Bop::kBif0, "bif", "0"},
    {Bop::kBif1, "bif", "1"},
    {Bop::kBif2, "bif", "2"},
    {Bop::kGcBif1, "gc_bif", "g"},
    {Bop::kGcBif2, "gc_bif", "g"},
    {Bop::kGcBif3, "gc_bif", "g"},
    {Bop::kAllocate, "allocate", ".."},
    {Bop::kAllocateHeap, "allocate_heap", "..."},
    {Bop::kTestHeap, "test_heap", ".."},
    {Bop::kDeallocate, "deallocate", "."},
    {Bop::kReturn, "return", ""},
    {Bop::kSend, "send", ""},
    {Bop::kRemoveMessage, "remove_message", ""},
    {Bop::kTimeout, "timeout", ""},
    {Bop::kLoopRec, "loop_rec", ".."},
    {Bop::kLoopRecEnd, "loop_rec_end", "."},
    {Bop::kWait, "wait", "."},
    {Bop::kWaitTimeout, "wait_timeout", ".."},
    {Bop::kIsLt, "is_lt", "T.[..]"},
    {Bop::kIsGe, "is_ge", "T.[..]"},
    {Bop::kIsEq, "is_eq", "T.[..]"},
    {Bop::kIsNe, "is_ne", "T.[..]"},
    {Bop::kIsEqExact, "is_eq_exact", "T.[..]"},
    {Bop::kIsNeExact, "is_ne_exact", "T.[..]"},
    {Bop::kIsInteger, "is_integer", "T.[.]"},
    {Bop::kIsFloat, "is_float", "T.[.]"},
    {Bop::kIsNumber, "is_number", "T.[.]"},
    {Bop::kIsAtom, "is_atom", "T.[.]"},
    {Bop::kIsPid, "is_pid", "T.[.]"},
    {Bop::kIsReference, "is_reference", "T.[.]"},
    {Bop::kIsPort, "is_port", "T.[.]"},
    {Bop::kIsNil, "is_nil", "T.[.]"},
    {Bop::kIsBinary, "is_binary", "T.[.]"},
    {Bop::kIsList, "is_list", "T.[.]"},
    {Bop::kIsNonemptyList, "is_nonempty_list", "T.[.]"},
    {Bop::kIsTuple, "is_tuple", "T.[.]"},
    {Bop::kTestArity, "test_arity", "T.[..]"},
    {Bop::kIsTaggedTuple, "is_tagged_tuple", "T.[...]"},
    {Bop::kIsFunction, "is_function", "T.[.]"},
    {Bop::kIsFunction2, "is_function2", "T.[..]"},
    {Bop::kIsBoolean, "is_boolean", "T.[.]"},
    {Bop::kIsBitstr, "is_bitstr", "T.[.]"},
    {Bop::kIsMap, "is_map", "T.[.]"},
    {Bop::kHasMapFields, "has_map_fields", "T..."},
    {Bop::kGetMapElements, "get_map_elements", "..."},
    {Bop::kPutMapAssoc, "put_map_assoc", "....."},
    {Bop::kPutMapExact, "put_map_exact", "....."},
    {Bop::kSelectVal, "select_val", "..."},
    {Bop::kSelectTupleArity, "select_tuple_arity", "..."},
    {Bop::kJump, "jump", "."},
    {Bop::kCatch, "'catch'", ".."},
    {Bop::kCatchEnd, "catch_end", "."},
    {Bop::kTry, "'try'", ".."},
    {Bop::kTryEnd, "try_end", "."},
    {Bop::kTryCase, "try_case", "."},
    {Bop::kTryCaseEnd, "try_case_end", "."},
    {Bop::kRaise, "raise", ".."},
    {Bop::kMove, "move", ".."},
    {Bop::kSwap, "swap", ".."},
    {Bop::kGetList, "get_list", "..."},
    {Bop::kGetHd, "get_hd", ".."},
    {Bop::kGetTl, "get_tl", ".."},
    {Bop::kGetTupleElement, "get_tuple_element", "..."},
    {Bop::kPutList, "put_list", "..."},
    {Bop::kPutTuple2, "put_tuple2", ".."},
    {Bop::kBadmatch, "badmatch", "."},
    {Bop::kIfEnd, "if_end", ""},
    {Bop::kCaseEnd, "case_end", "."},
    {Bop::kBadrecord, "badrecord", "."},
    {Bop::kIsAnyNativeRecord, "is_any_native_record", "T.[.]"},
    {Bop::kIsNativeRecord, "is_native_record", "T.[...]"},
    {Bop::kGetRecordElements, "get_record_elements", "..."},
    {Bop::kPutRecord, "put_record", "......"},
    {Bop::kIsRecordAccessible, "is_record_accessible", "T.[..]"},
    {Bop::kGetRecordField, "get_record_field", "a"},
    {Bop::kCallFun, "call_fun", "."},
    {Bop::kCallFun2, "call_fun2", "..."},
    {Bop::kApply, "apply", "."},
    {Bop::kApplyLast, "apply_last", ".."},
    {Bop::kMakeFun3, "make_fun3", "m"},
    {Bop::kLine, "line", "l"},
    {Bop::kInitYregs, "init_yregs", "."},
    {Bop::kTrim, "trim", ".."},
    {Bop::kBuildStacktrace, "build_stacktrace", ""},
    {Bop::kRawRaise, "raw_raise", ""},
    {Bop::kNifStart, "nif_start", ""},
    {Bop::kBsInitWritable, "bs_init_writable", ""},
    {Bop::kBsStartMatch4, "bs_start_match4", "...."},
    {Bop::kBsGetInteger2, "bs_get_integer2", "G"},
    {Bop::kBsGetFloat2, "bs_get_float2", "G"},
    {Bop::kBsGetBinary2, "bs_get_binary2", "G"},
    {Bop::kBsSkipBits2, "bs_skip_bits2", "T.[...F]"},
    {Bop::kBsTestTail2, "bs_test_tail2", "T.[..]"},
    {Bop::kBsTestUnit, "bs_test_unit", "T.[..]"},
    {Bop::kBsMatch, "bs_match", "..C"},
    {Bop::kBsMatchString, "bs_match_string", "T.[...]"},
    {Bop::kBsGetUtf8, "bs_get_utf8", "U"},
    {Bop::kBsGetUtf16, "bs_get_utf16", "U"},
    {Bop::kBsGetUtf32, "bs_get_utf32", "U"},
    {Bop::kBsSkipUtf8, "bs_skip_utf8", "T.[..F]"},
    {Bop::kBsSkipUtf16, "bs_skip_utf16", "T.[..F]"},
    {Bop::kBsSkipUtf32, "bs_skip_utf32", "T.[..F]"},
    {Bop::kBsGetTail, "bs_get_tail", "..."},
    {Bop::kBsGetPosition, "bs_get_position", "..."},
    {Bop::kBsSetPosition, "bs_set_position", ".."},
    {Bop::kBsCreateBin, "bs_create_bin", "......"},
    {Bop::kRecvMarkerBind, "recv_marker_bind", ".."},
    {Bop::kRecvMarkerClear, "recv_marker_clear", "."},
    {Bop::kRecvMarkerReserve, "recv_marker_reserve", "."},
    {Bop::kRecvMarkerUse, "recv_marker_use", "."},
    {Bop::kFmove, "fmove", ".."},
    {Bop::kFconv, "fconv", ".."},
    {Bop::kFadd, "fadd", "a"},
    {Bop::kFsub, "fsub", "a"},
    {Bop::kFmul, "fmul", "a"},
    {Bop::kFdiv, "fdiv", "a"},
    {Bop::kFnegate, "fnegate", "a"},
};

const Form& form_of(Bop op) {
  static const auto table = [] {
    std::vector<const Form*> t(256, &kForms[0]);
    for (const Form& f : kForms) t[static_cast<std::size_t>(f.op)] = &f;
    return t;
  }();
  return *table[static_cast<std::size_t>(op)];
}

class Printer {
 public:
  Printer(const Code& code, const core::Module& module, std::span<const ir::Signature> signatures)
      : code_(code), module_(module), signatures_(signatures) {}

  std::string run() {
    out_ += "{module, " + atom_source(module_.name) + "}.  %% version = 0\n\n{exports, [";
    const char* comma = "";
    for (const core::Export& e : module_.exports) {
      out_ += comma + ("{" + atom_source(e.name) + "," + std::to_string(e.arity) + "}");
      comma = ",";
    }
    out_ += comma + std::string("{module_info,0},{module_info,1}]}.\n\n");
    attributes();
    out_ += "{labels, " + std::to_string(code_.labels) + "}.\n";
    for (std::size_t n = 0; n < signatures_.size(); ++n) functions_[code_.funs[n].entry] = n;
    for (std::size_t n = 0; n < code_.funs.size(); ++n) {
      const Code::Fun& f = code_.funs[n];
      out_ += "\n\n{function, " + atom_source(f.name) + ", " + std::to_string(f.arity) + ", " +
              std::to_string(f.entry) + "}.\n";
      for (std::uint32_t i = f.first; i < f.last; ++i) {
        const AsmInstr& in = code_.code[i];
        if (in.op == Bop::kOnLoad) continue;
        if (in.op == Bop::kCall || in.op == Bop::kCallOnly || in.op == Bop::kCallLast)
          arguments_of(in.args[1].n);
        instruction(in);
        if (in.op == Bop::kCall) result_of(in.args[1].n);
        if (in.op == Bop::kGcBif2) result_of_arithmetic(in.args);
        if (in.op == Bop::kLabel && in.args[0].n == f.entry) parameters(n);
      }
    }
    return std::move(out_);
  }

 private:
  void attributes() {
    out_ += "{attributes, [";
    const char* comma = "";
    // on_load is an instruction in a .beam file and an attribute in assembly.
    if (module_.on_load) {
      out_ += "{on_load,[{" + atom_source(module_.on_load->name) + ",0}]}";
      comma = ",";
    }
    for (const core::Attribute& a : module_.attributes) {
      out_ += comma + ("{" + atom_source(a.name) + ",");
      append_term_source(out_, a.value);
      out_ += "}";
      comma = ",";
    }
    out_ += "]}.\n\n";
    records();
  }

  void records() {
    if (module_.records.empty()) return;
    out_ += "{records,[";
    const char* comma = "";
    for (const core::RecordDef& r : module_.records) {
      out_ += comma + ("{" + atom_source(r.name) + (r.exported ? ",true,[" : ",false,["));
      comma = ",";
      const char* field_comma = "";
      for (const core::RecordDef::Field& f : r.fields) {
        out_ += field_comma + (f.value.is_value() ? "{" + atom_source(f.name) + "," : atom_source(f.name));
        if (f.value.is_value()) append_term_source(out_, f.value), out_ += "}";
        field_comma = ",";
      }
      out_ += "]}";
    }
    out_ += "]}.\n\n";
  }

  // Comments for OTP's validator, which knows less about some values: what is true because of other
  // functions, and what a caller knows about its arguments.

  void parameters(std::size_t function) {
    for (std::uint32_t a = 0; a < code_.funs[function].arity; ++a) {
      if (a < 64 && code_.funs[function].accepts_context >> a & 1) known(a, "accepts_match_context");
      else if (!signatures_.empty()) known(a, signatures_[function].params[a]);
    }
  }
  void arguments_of(std::uint64_t entry) {
    if (auto callee = functions_.find(entry); callee != functions_.end())
      for (std::uint32_t a = 0; a < signatures_[callee->second].params.size(); ++a)
        known(a, signatures_[callee->second].params[a]);
  }
  void result_of(std::uint64_t entry) {
    if (auto callee = functions_.find(entry); callee != functions_.end())
      known(0, signatures_[callee->second].result);
  }
  /// If one operand is a float, so is the result, if there is one. The validator derives that only
  /// when it knows that the other operand is a number. args: label, live, function, two operands,
  /// result.
  void result_of_arithmetic(const std::vector<Operand>& args) {
    const std::string_view name = atom_text(code_.imports[args[2].n].name);
    if (name != "+" && name != "-" && name != "*") return;
    const auto is_float = [&](const Operand& o) {
      return o.kind == Operand::kTerm ? o.term.is_float()
                                      : o.type && code_.types[o.type].kinds == ir::kind::kFloat;
    };
    if (is_float(args[3]) || is_float(args[4])) known(args[5], "{type,{t_float,any}}");
  }
  void known(std::uint32_t x, const ir::Type& t) {
    if (!t.may_be(ir::kind::kRecord | ir::kind::kMatchState)) known(x, "{type," + type(t) + "}");
  }
  void known(std::uint32_t x, const std::string& what) { known(Operand::x(x), what); }
  void known(const Operand& where, const std::string& what) {
    out_ += std::string("    {'%',{var_info,{") + (where.kind == Operand::kX ? "x," : "y,") +
            std::to_string(where.n) + "},[" + what + "]}}.\n";
  }

  std::string type(const Code::ValueType& t) const {
    ir::Type known = ir::Type::of_kinds(t.kinds);
    if (t.low <= t.high) {
      known.low = t.low;
      known.high = t.high;
    }
    return type(known);
  }

  static std::string atom_type(const ir::Type& t) {
    if (t.only.is_value() && t.only.is_atom()) return "{t_atom,[" + atom_source(t.only) + "]}";
    return t.boolean ? "{t_atom,[false,true]}" : "{t_atom,any}";
  }

  /// The number of a tuple's elements whose types are printed; OTP's own compiler keeps as many.
  static constexpr std::uint32_t kElementsTold = 12;

  std::string tuple_type(const ir::Type& t) const {
    std::string elements;
    for (std::uint32_t k = 0;
         k < std::min(t.size, kElementsTold) && (t.elements || (k == 0 && t.tag.is_value())); ++k) {
      const std::string of =
          k == 0 && t.tag.is_value() ? "{t_atom,[" + atom_source(t.tag) + "]}" : type(t.elements[k]);
      if (of != "any") elements += (elements.empty() ? "" : ",") + std::to_string(k + 1) + " => " + of;
    }
    return "{t_tuple," + std::to_string(t.size) + (t.exact_size ? ",true" : ",false") + ",#{" + elements +
           "}}";
  }

  bool has(CodeTrait trait) const { return code_has(trait, code_.release); }

  /// Returns a type in the terms of beam_types.hrl of the release.
  std::string type(const ir::Type& t) const {
    namespace kind = ir::kind;
    if (t.may_be(kind::kRecord)) return "any";
    if (t.kinds == 0) return "none";
    // A #t_union{} holds only one of these kinds.
    constexpr int kOthers =
        kind::kBitstring | kind::kFun | kind::kMap | kind::kPid | kind::kPort | kind::kReference;
    if (std::popcount(static_cast<unsigned>(t.kinds & kOthers)) > 1) return "any";
    const auto is = [&](std::uint16_t kinds) { return (t.kinds & kinds) != 0; };
    const bool newer = has(CodeTrait::kAppendableTypes);
    const char* const number = newer ? "{t_number,any}" : "number";
    const char* const bits = newer ? "{t_bitstring,1,false}" : "{t_bitstring,1}";
    const char* const context = newer ? "{t_bs_context,1}" : "{t_bs_context,0,0,0}";
    const std::string integer =
        t.bounded() ? "{t_integer,{" + std::to_string(t.low) + "," + std::to_string(t.high) + "}}"
                    : "{t_integer,any}";
    const std::string of_list = t.item ? type(*t.item) + ",nil}" : "any,any}";
    // In the order of the fields of #t_union{}.
    constexpr std::size_t kTuplePart = 3;
    std::string parts[] = {is(kind::kAtom) ? atom_type(t) : "",
                           is(kind::kCons) && is(kind::kNil) ? "{t_list," + of_list
                           : is(kind::kCons)                 ? "{t_cons," + of_list
                           : is(kind::kNil)                  ? "nil"
                                                             : "",
                           is(kind::kInteger) && is(kind::kFloat) ? number
                           : is(kind::kInteger)                   ? integer
                           : is(kind::kFloat)                     ? "{t_float,any}"
                                                                  : "",
                           is(kind::kTuple) ? tuple_type(t) : "",
                           is(kind::kMatchState) && is(kind::kBitstring) ? "{t_bs_matchable,1}"
                           : is(kind::kMatchState)                       ? context
                           : is(kind::kBitstring)                        ? bits
                           : is(kind::kFun)                              ? "{t_fun,any,any,any}"
                           : is(kind::kMap)                              ? "{t_map,any,any}"
                           : is(kind::kPid)                              ? "pid"
                           : is(kind::kPort)                             ? "port"
                           : is(kind::kReference)                        ? "reference"
                                                                         : ""};
    std::string one;
    int count = 0;
    for (const std::string& p : parts) {
      if (p.empty()) continue;
      one = p;
      ++count;
    }
    if (count == 1) return one;
    // In a union a tuple that is a record is given by its key.
    std::string& tuple = parts[kTuplePart];
    if (t.exact_size && t.tag.is_value() && !tuple.empty())
      tuple = "[{{" + std::to_string(t.size) + ",{t_atom,[" + atom_source(t.tag) + "]}}," + tuple + "}]";
    std::string all = "{t_union";
    for (const std::string& part : parts) {
      if (&part == std::end(parts) - 1 && has(CodeTrait::kRecordTypes)) all += ",none";
      all += "," + (part.empty() ? "none" : part);
    }
    return all + "}";
  }

  void constant(Term t) {
    if (t.is_nil()) {
      out_ += "nil";
      return;
    }
    out_ += t.is_atom() ? "{atom," : t.is_integer() ? "{integer," : t.is_float() ? "{float," : "{literal,";
    append_term_source(out_, t);
    out_ += "}";
  }

  void operand(const std::vector<Operand>& args, std::size_t& k) {
    const Operand& o = args[k++];
    if (o.type != 0) {
      out_ += o.kind == Operand::kX ? "{tr,{x," : "{tr,{y,";
      out_ += std::to_string(o.n) + "}," + type(code_.types[o.type]) + "}";
      return;
    }
    switch (o.kind) {
      case Operand::kU: out_ += std::to_string(o.n); break;
      case Operand::kTerm: constant(o.term); break;
      case Operand::kX: out_ += "{x," + std::to_string(o.n) + "}"; break;
      case Operand::kY: out_ += "{y," + std::to_string(o.n) + "}"; break;
      case Operand::kFr: out_ += "{fr," + std::to_string(o.n) + "}"; break;
      case Operand::kLabel: out_ += "{f," + std::to_string(o.n) + "}"; break;
      case Operand::kFun: out_ += std::to_string(o.n); break;
      case Operand::kExt: {
        const Import& i = code_.imports[o.n];
        out_ += "{extfunc," + atom_source(i.module) + "," + atom_source(i.name) + "," +
                std::to_string(i.arity) + "}";
        break;
      }
      case Operand::kAlloc:
        out_ += "{alloc,[{words," + std::to_string(o.n) + "},{floats," + std::to_string(o.floats) +
                "},{funs," + std::to_string(o.funs) + "}]}";
        break;
      case Operand::kString: {
        out_ += "{string,<<";
        for (std::uint32_t b = 0; b < o.floats; b += 8) {
          if (b > 0) out_ += ",";
          out_ += std::to_string(code_.strings[o.n + b / 8]);
        }
        out_ += ">>}";
        break;
      }
      case Operand::kList: {
        out_ += "{list,[";
        for (std::uint32_t n = 0; n < o.n; ++n) {
          if (n > 0) out_ += ",";
          operand(args, k);
        }
        out_ += "]}";
        break;
      }
    }
  }

  static std::string flags(const Operand& o) {
    std::string s = "{field_flags,[";
    s += o.n & 4 ? "signed" : "unsigned";
    s += o.n & 2 ? ",little]}" : o.n & 16 ? ",native]}" : ",big]}";
    return s;
  }

  /// Prints the one command that is written: an atom and two numbers.
  void commands(const std::vector<Operand>& a, std::size_t& k) {
    out_ += "{commands,[{" + atom_source(a[k + 1].term) + "," + std::to_string(a[k + 2].n) + "," +
            std::to_string(a[k + 3].n) + "}]}";
    k += 4;
  }

  void arguments(const std::vector<Operand>& a, std::size_t from, std::size_t to) {
    out_ += "[";
    for (std::size_t k = from; k < to;) {
      if (k > from) out_ += ",";
      operand(a, k);
    }
    out_ += "]";
  }

  void instruction(const AsmInstr& i) {
    const Form& f = form_of(i.op);
    std::string_view shape = f.shape;
    const auto& a = i.args;
    std::size_t k = 0;
    out_ += i.op == Bop::kLabel ? "  " : "    ";
    if (a.empty() && shape.empty()) {
      out_ += f.name + std::string(".\n");
      return;
    }
    out_ += "{";
    if (shape == "0" || shape == "1" || shape == "2" || shape == "g") {
      const bool gc = shape == "g";
      const std::size_t at = shape == "0" ? 0 : gc ? 2 : 1;
      out_ += f.name + std::string(",") + atom_source(code_.imports[a[at].n].name) + ",{f," +
              std::to_string(shape == "0" ? 0 : a[0].n) + "},";
      if (gc) out_ += std::to_string(a[1].n) + ",";
      arguments(a, at + 1, a.size() - 1);
      out_ += ",";
      k = a.size() - 1;
      operand(a, k);
    } else if (shape == "a") {
      out_ += "bif," + std::string(f.name) + ",";
      operand(a, k);
      out_ += ",";
      arguments(a, 1, a.size() - 1);
      out_ += ",";
      k = a.size() - 1;
      operand(a, k);
    } else if (shape == "G" || shape == "U") {
      out_ += "test," + std::string(f.name) + ",";
      operand(a, k);
      out_ += "," + std::to_string(a[2].n) + ",[";
      k = 1;
      operand(a, k);
      out_ += ",";
      if (shape == "G") {
        k = 3;
        operand(a, k);
        out_ += "," + std::to_string(a[4].n) + ",";
      }
      out_ += flags(a[a.size() - 2]) + "],";
      k = a.size() - 1;
      operand(a, k);
    } else if (shape == "m") {
      const Code::Lambda& l = code_.lambdas[a[0].n];
      out_ +=
          "make_fun3,{f," + std::to_string(code_.funs[l.fun].entry) + "}," + std::to_string(a[0].n) + ",0,";
      k = 1;
      operand(a, k);
      out_ += ",";
      operand(a, k);
    } else if (shape == "l") {
      out_ += "line,[";
      if (a[0].n > 0) {
        const Code::Line& l = code_.lines[a[0].n - 1];
        out_ += "{location,\"" + std::string(l.file < module_.files.size() ? module_.files[l.file] : "?") +
                "\"," + std::to_string(l.line) + "}";
      }
      out_ += "]";
    } else {
      if (!shape.empty() && shape[0] == 'T') out_ += "test,", shape.remove_prefix(1);
      out_ += f.name;
      bool open = false;
      for (char c : shape) {
        if (c == ']') {
          out_ += "]";
          continue;
        }
        if (!open) out_ += ",";
        open = c == '[';
        if (open) out_ += "[";
        else if (c == 'F') out_ += flags(a[k++]);
        else if (c == 'C') commands(a, k);
        else operand(a, k);
      }
    }
    out_ += "}.\n";
  }

  const Code& code_;
  const core::Module& module_;
  const std::span<const ir::Signature> signatures_;
  std::unordered_map<std::uint64_t, std::size_t> functions_;  // key: the label of the entry
  std::string out_;
};

}  // namespace

std::string print_assembly(const Code& code, const core::Module& module,
                           std::span<const ir::Signature> signatures) {
  return Printer(code, module, signatures).run();
}

}  // namespace vmrun::compile
