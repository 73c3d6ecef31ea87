// SPDX-License-Identifier: Apache-2.0
// Types of values, and what follows from them. A value's type follows from the instruction that
// makes it. A test that was passed narrows it for every block that can only be reached through that
// exit. So the walk goes down the tree of dominators (Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm", 2001), narrowing on the way down and undoing it on the way up. The
// parameters of a merge point get the union of the types that its predecessors pass; predecessors
// are always walked before. Tests whose outcome is known become jumps, and built-ins that can no
// longer fail become plain instructions.

#include <algorithm>
#include <string_view>
#include <utility>

#include "vm/ir/bif_info.hpp"
#include "vm/ir/passes.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::ir {

namespace {

constexpr std::int64_t kMaxLength = (std::int64_t{1} << 58) - 1;  // OTP's upper bound for the length of a
                                                                  // list
constexpr std::int64_t kMaxTupleSize = (1 << 24) - 1, kMaxCodePoint = 0x10FFFF;

/// Returns the kind that a conversion function of module erlang makes; any kind for other
/// functions.
std::uint16_t conversion_result(Term function) {
  static const struct {
    Term name;
    std::uint16_t kinds;
  } results[] = {
      {intern_atom("list_to_atom"), kind::kAtom},
      {intern_atom("list_to_existing_atom"), kind::kAtom},
      {intern_atom("binary_to_atom"), kind::kAtom},
      {intern_atom("binary_to_existing_atom"), kind::kAtom},
      {intern_atom("atom_to_list"), kind::kList},
      {intern_atom("integer_to_list"), kind::kList},
      {intern_atom("float_to_list"), kind::kList},
      {intern_atom("binary_to_list"), kind::kList},
      {intern_atom("tuple_to_list"), kind::kList},
      {intern_atom("list_to_tuple"), kind::kTuple},
      {intern_atom("list_to_binary"), kind::kBitstring},
      {intern_atom("iolist_to_binary"), kind::kBitstring},
      {intern_atom("atom_to_binary"), kind::kBitstring},
      {intern_atom("integer_to_binary"), kind::kBitstring},
      {intern_atom("term_to_binary"), kind::kBitstring},
      {intern_atom("make_ref"), kind::kReference},
      {intern_atom("list_to_integer"), kind::kInteger},
      {intern_atom("binary_to_integer"), kind::kInteger},
      {intern_atom("list_to_float"), kind::kFloat},
      {intern_atom("binary_to_float"), kind::kFloat},
  };
  const auto* found = std::ranges::find(results, function, [](const auto& r) { return r.name; });
  return found == std::end(results) ? std::uint16_t{kind::kAny} : found->kinds;
}

/// For operators that commute: the kinds of operand before which a constant comes last; 0 for other
/// operators.
std::uint16_t constant_last_before(std::string_view name) {
  if (name == "and" || name == "or" || name == "xor") return kind::kAny;
  const bool numbers = name == "+" || name == "*" || name == "band" || name == "bor" || name == "bxor";
  return numbers ? kind::kNumber : 0;
}

/// Returns the kinds that pass a test; 0 when the test is not about kinds.
std::uint16_t kinds_of(Test t) {
  switch (t) {
    case Test::kInteger: return kind::kInteger;
    case Test::kFloat: return kind::kFloat;
    case Test::kNumber: return kind::kNumber;
    case Test::kAtom:
    case Test::kBoolean: return kind::kAtom;
    case Test::kPid: return kind::kPid;
    case Test::kReference: return kind::kReference;
    case Test::kPort: return kind::kPort;
    case Test::kNil: return kind::kNil;
    case Test::kBinary:
    case Test::kBitstr: return kind::kBitstring | kind::kMatchState;
    case Test::kList: return kind::kList;
    case Test::kNonemptyList: return kind::kCons;
    case Test::kTuple:
    case Test::kArity:
    case Test::kTagged: return kind::kTuple;
    case Test::kFunction:
    case Test::kFunction2: return kind::kFun;
    case Test::kMap:
    case Test::kMapFields: return kind::kMap;
    case Test::kRecord:
    case Test::kRecordNamed:
    case Test::kRecordOpen: return kind::kRecord;
    default: return 0;
  }
}

/// Whether all values of those kinds pass the test.
bool tests_kinds_alone(Test t) {
  switch (t) {
    case Test::kBoolean:
    case Test::kBinary:
    case Test::kArity:
    case Test::kTagged:
    case Test::kFunction2:
    case Test::kMapFields:
    case Test::kRecordNamed:
    case Test::kRecordOpen: return false;
    default: return kinds_of(t) != 0;
  }
}

enum class Outcome : std::uint8_t { kUnknown, kYes, kNo };

/// a < b
Outcome less(const Type& a, const Type& b) {
  if (!a.is(kind::kInteger) || !b.is(kind::kInteger)) return Outcome::kUnknown;
  if (a.high != Type::kHighest && b.low != Type::kLowest && a.high < b.low) return Outcome::kYes;
  if (a.low != Type::kLowest && b.high != Type::kHighest && a.low >= b.high) return Outcome::kNo;
  return Outcome::kUnknown;
}

/// Whether == and =:= give the same result for two such values: an integer is never compared with a
/// float.
bool equal_is_exact(const Type& a, const Type& b) {
  constexpr std::uint16_t kSimple =
      kind::kAny & ~(kind::kNumber | kind::kCons | kind::kTuple | kind::kMap | kind::kRecord);
  if (a.is(kSimple) || b.is(kSimple)) return true;
  if (a.is(kSimple | kind::kInteger) && !b.may_be(kind::kFloat)) return true;
  return b.is(kSimple | kind::kInteger) && !a.may_be(kind::kFloat);
}

/// The bounds of x op y; not known when they do not fit.
struct Bounds {
  bool known = true;
  std::int64_t low = 0, high = 0;
  Type type() const { return known ? Type::integer(low, high) : Type::of_kinds(kind::kInteger); }
};

Bounds add(const Type& a, const Type& b) {
  Bounds r;
  r.known = a.bounded() && b.bounded() && !__builtin_add_overflow(a.low, b.low, &r.low) &&
            !__builtin_add_overflow(a.high, b.high, &r.high);
  return r;
}

Bounds subtract(const Type& a, const Type& b) {
  Bounds r;
  r.known = a.bounded() && b.bounded() && !__builtin_sub_overflow(a.low, b.high, &r.low) &&
            !__builtin_sub_overflow(a.high, b.low, &r.high);
  return r;
}

Bounds multiply(const Type& a, const Type& b) {
  Bounds r;
  std::int64_t p[4];
  r.known = a.bounded() && b.bounded() && !__builtin_mul_overflow(a.low, b.low, &p[0]) &&
            !__builtin_mul_overflow(a.low, b.high, &p[1]) && !__builtin_mul_overflow(a.high, b.low, &p[2]) &&
            !__builtin_mul_overflow(a.high, b.high, &p[3]);
  if (!r.known) return r;
  r.low = *std::min_element(p, p + 4);
  r.high = *std::max_element(p, p + 4);
  return r;
}

class Inference {
 public:
  /// observed: nothing is changed, and the types passed to other functions are recorded in it.
  Inference(Program& program, Function& fn, const std::vector<BlockId>& order, Observed* observed)
      : program_(program), fn_(fn), order_(order), observed_(observed) {}

  void run() {
    find_dominators();
    types_.assign(fn_.value_count, Type{});
    if (const Signature* known = signature(static_cast<std::size_t>(&fn_ - program_.functions.data())))
      for (std::size_t k = 0; k < known->params.size(); ++k) types_[fn_.params[k]] = known->params[k];
    first_element_of_.assign(fn_.value_count, kNone);
    incoming_.resize(fn_.blocks.size());
    walk();
  }

 private:
  // --- the tree of dominators ---

  void find_dominators() {
    number_.assign(fn_.blocks.size(), kNone);
    for (std::uint32_t n = 0; n < order_.size(); ++n) number_[order_[n]] = n;
    above_.assign(fn_.blocks.size(), kNone);
    above_[fn_.entry] = fn_.entry;
    for (bool changed = true; changed;) {
      changed = false;
      for (BlockId id : order_) {
        if (id == fn_.entry) continue;
        BlockId common = kNone;
        for (BlockId p : fn_.blocks[id].preds) {
          if (number_[p] == kNone || above_[p] == kNone) continue;
          common = common == kNone ? p : meet_of(common, p);
        }
        if (common == above_[id]) continue;
        above_[id] = common;
        changed = true;
      }
    }
    below_.resize(fn_.blocks.size());
    for (BlockId id : order_)
      if (id != fn_.entry && above_[id] != kNone) below_[above_[id]].push_back(id);
  }

  BlockId meet_of(BlockId a, BlockId b) const {
    while (a != b) {
      while (number_[a] > number_[b]) a = above_[a];
      while (number_[b] > number_[a]) b = above_[b];
    }
    return a;
  }

  /// Without recursion, because the tree may be as deep as the function is long.
  void walk() {
    struct Visit {
      BlockId block;
      std::size_t next, mark;
    };
    std::vector<Visit> stack;
    auto enter = [&](BlockId id) {
      stack.push_back({id, 0, trail_.size()});
      block(id);
    };
    enter(fn_.entry);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next < below_[top.block].size()) {
        enter(below_[top.block][top.next++]);
        continue;
      }
      for (; trail_.size() > top.mark; trail_.pop_back()) types_[trail_.back().first] = trail_.back().second;
      stack.pop_back();
    }
  }

  // --- types of values ---

  Type type(Arg a) const { return a.is_value() ? types_[a.value] : program_.types.of(a.literal); }

  void narrow(Arg a, const Type& by) {
    if (!a.is_value()) return;
    const Type now = types_[a.value].meet(by);
    if (now == types_[a.value]) return;
    trail_.emplace_back(a.value, types_[a.value]);
    types_[a.value] = now;
    // The first element is the tuple's tag.
    if (const ValueId whole = first_element_of_[a.value];
        whole != kNone && now.only.is_value() && now.only.is_atom()) {
      Type named = Type::tuple(1, false);
      named.tag = now.only;
      narrow(Arg::of(whole), named);
    }
  }
  void exclude(Arg a, std::uint16_t kinds) {
    narrow(a, Type::of_kinds(static_cast<std::uint16_t>(kind::kAny & ~kinds)));
  }

  void block(BlockId id) {
    Block& b = fn_.blocks[id];
    if (b.preds.size() == 1 && !b.is_loop_head) edge(fn_.blocks[b.preds[0]], id);
    if (!b.is_handler && !b.is_loop_head && incoming_[id].size() == b.params.size())
      for (std::size_t k = 0; k < b.params.size(); ++k) types_[b.params[k]] = incoming_[id][k];
    const bool fallible = b.end == BlockEnd::kFallible;
    for (std::size_t k = 0; k < b.code.size(); ++k) {
      Instr& i = b.code[k];
      const bool last = fallible && k + 1 == b.code.size();
      if (observed_) observe(i);
      else note_types(i);
      if (i.op == Op::kBif && !observed_) simplify(i);
      if (last &&
          (i.op == Op::kGetElement || i.op == Op::kGetHd || i.op == Op::kGetTl || i.op == Op::kMove)) {
        b.end = BlockEnd::kJump;
        b.fail = kNone;
      } else if (last) {
        break;  // it is applied to its exits
      }
      result(i);
      passed(i);
    }
    if (!observed_) end(b);
    else if (b.end == BlockEnd::kReturn) observed_->result = observed_->result.join(type(b.subject), pool());
    hand_over(b);
  }

  /// Records the types that are passed to other functions.
  void observe(const Instr& i) {
    if (i.op != Op::kCall && i.op != Op::kMakeFun) return;
    Observed::Call call{static_cast<std::uint32_t>(i.imm), {}};
    for (Arg a : i.args) {
      call.args.push_back(type(a).general());
      if (call.args.back().kinds == 0) return;  // never reached
    }
    (i.op == Op::kCall ? observed_->calls : observed_->funs).push_back(std::move(call));
  }

  /// Merges the types that a jump passes into those of its target's parameters.
  void hand_over(const Block& b) {
    if (b.end != BlockEnd::kJump || b.jump_args.empty()) return;
    auto& in = incoming_[b.succ];
    if (in.empty()) in.assign(b.jump_args.size(), Type::of_kinds(0));
    for (std::size_t k = 0; k < in.size() && k < b.jump_args.size(); ++k)
      in[k] = in[k].join(type(b.jump_args[k]), pool());
  }

  /// Narrows types by what is known behind one exit of the only predecessor.
  void edge(const Block& from, BlockId to) {
    switch (from.end) {
      case BlockEnd::kFallible:
        if (from.succ == from.fail) return;
        if (from.succ == to) {
          const Instr& i = from.code.back();
          result(i);
          passed(i);
        } else if (from.code.back().op == Op::kTest) {
          failed(from.code.back());
        }
        return;
      case BlockEnd::kSwitchValue:
        for (const SwitchCase& c : from.cases)
          if (c.to == to) narrow(from.subject, program_.types.of(c.value));
        return;
      case BlockEnd::kSwitchArity:
        for (const SwitchCase& c : from.cases)
          if (c.to == to)
            narrow(from.subject, Type::tuple(static_cast<std::uint32_t>(c.value.small_value()), true));
        return;
      default: return;
    }
  }

  void result(const Instr& i) {
    for (ValueId v : i.dsts) types_[v] = Type{};
    if (i.dst() == kNone) return;
    types_[i.dst()] = is_reached(i) ? result_type(i) : Type::of_kinds(0);
    if (i.op == Op::kGetElement && i.imm == 0 && i.args[0].is_value())
      first_element_of_[i.dst()] = i.args[0].value;
  }

  /// While types are still being inferred, a value without any kind has not been computed yet.
  bool is_reached(const Instr& i) const {
    return !observed_ ||
           std::none_of(i.args.begin(), i.args.end(), [&](Arg a) { return type(a).kinds == 0; });
  }

  Type result_type(const Instr& i) const {
    switch (i.op) {
      case Op::kMove: return type(i.args[0]);
      case Op::kGetElement: return element_type(type(i.args[0]), i.imm);
      case Op::kGetHd: return head_type(type(i.args[0]));
      case Op::kGetTl: return tail_type(type(i.args[0]));
      case Op::kPutList: return cons_type(type(i.args[0]), type(i.args[1]));
      case Op::kPutTuple: {
        std::vector<Type> elements;
        for (Arg a : i.args) elements.push_back(type(a));
        return pool().tuple(elements);
      }
      case Op::kCall: {
        const Signature* const known = signature(i.imm);
        return known ? known->result : Type{};
      }
      case Op::kCallExt: return called_type(i);
      case Op::kMakeFun: return Type::of_kinds(kind::kFun);
      case Op::kPutMapAssoc:
      case Op::kPutMapExact: return Type::of_kinds(kind::kMap);
      case Op::kPutRecord: return Type::of_kinds(kind::kRecord);
      case Op::kBsCreate:
      case Op::kBsGetTail:
      case Op::kBsInitWritable: return Type::of_kinds(kind::kBitstring);
      case Op::kBsStart: return Type::of_kinds(kind::kMatchState);
      case Op::kBsGet: return field_type(i);
      case Op::kFloatBox: return Type::of_kinds(kind::kFloat);
      case Op::kBif: return bif_type(i);
      default: return Type{};
    }
  }

  static Type element_type(const Type& t, std::uint64_t at) {
    if (at == 0 && t.tag.is_value() && t.tag.is_atom()) {
      Type atom = Type::of_kinds(kind::kAtom);
      atom.boolean = t.tag == atoms::true_ || t.tag == atoms::false_;
      atom.only = t.tag;
      return atom;
    }
    return t.elements && at < t.size ? t.elements[at] : Type{};
  }
  static Type head_type(const Type& t) { return t.item ? *t.item : Type{}; }
  static Type tail_type(const Type& t) {
    Type rest = Type::of_kinds(t.item ? kind::kList : kind::kAny);
    rest.item = t.item;
    return rest;
  }
  Type cons_type(const Type& head, const Type& tail) const {
    if (!tail.is(kind::kList) || (tail.may_be(kind::kCons) && !tail.item)) return Type::of_kinds(kind::kCons);
    return pool().list(tail.may_be(kind::kCons) ? tail.item->join(head, pool()) : head, kind::kCons);
  }

  /// The result type of a function in another module.
  Type called_type(const Instr& i) const {
    if (!i.args[0].is_literal() || !i.args[1].is_literal()) return {};
    const Term module = i.args[0].literal;
    if (module == math_) return Type::of_kinds(kind::kFloat);
    if (module == atoms::erlang) return Type::of_kinds(conversion_result(i.args[1].literal));
    if (module != lists_ || i.args.size() != 3 || i.args[1].literal != reverse_) return {};
    const Type of = type(i.args[2]);
    Type reversed = Type::of_kinds(kind::kList);
    if (of.is(kind::kList)) {
      reversed.kinds = of.kinds;
      reversed.item = of.item;
    }
    return reversed;
  }

  Type field_type(const Instr& i) const {
    switch (i.spec.type) {
      case SegType::kFloat: return Type::of_kinds(kind::kFloat);
      case SegType::kUtf8:
      case SegType::kUtf16:
      case SegType::kUtf32: return Type::integer(0, kMaxCodePoint);
      case SegType::kInteger: {
        const Type size = type(i.args[1]);
        if (!size.bounded() || size.high < 0 || size.high > 62 || size.high * i.spec.unit > 62)
          return Type::of_kinds(kind::kInteger);
        const std::int64_t range = std::int64_t{1} << (size.high * i.spec.unit);
        return i.spec.is_signed ? Type::integer(-range / 2, std::max<std::int64_t>(range / 2 - 1, 0))
                                : Type::integer(0, range - 1);
      }
      default: return Type::of_kinds(kind::kBitstring);
    }
  }

  Type bif_type(const Instr& i) const {
    if (i.bif->boolean) return Type::truth();
    const std::string_view name = i.bif->name;
    const Type a = i.args.empty() ? Type{} : type(i.args[0]),
               b = i.args.size() > 1 ? type(i.args[1]) : Type{};
    if (i.args.size() == 2 && (name == "+" || name == "-" || name == "*")) {
      if (a.is(kind::kInteger) && b.is(kind::kInteger))
        return (name == "+" ? add(a, b) : name == "-" ? subtract(a, b) : multiply(a, b)).type();
      // With one float the result is a float; two numbers of unknown kinds do not decide it.
      return Type::of_kinds(a.is(kind::kFloat) || b.is(kind::kFloat) ? kind::kFloat : kind::kNumber);
    }
    if (name == "/" || name == "float") return Type::of_kinds(kind::kFloat);
    if (name == "band") {
      if (b.bounded() && b.low >= 0 && b.is(kind::kInteger)) return Type::integer(0, b.high);
      if (a.bounded() && a.low >= 0 && a.is(kind::kInteger)) return Type::integer(0, a.high);
      return Type::of_kinds(kind::kInteger);
    }
    if (name == "rem") {
      if (!b.bounded() || b.low == Type::kLowest || !b.is(kind::kInteger))
        return Type::of_kinds(kind::kInteger);
      const std::int64_t most = std::max(b.high, -b.low) - 1;
      if (most < 0) return Type::of_kinds(kind::kInteger);
      return Type::integer(a.is(kind::kInteger) && a.low >= 0 ? 0 : -most, most);
    }
    if (name == "bsr" && a.is(kind::kInteger) && a.bounded() && a.low >= 0 && b.is(kind::kInteger) &&
        b.low >= 0)
      return Type::integer(0, a.high);
    if (name == "div" || name == "bor" || name == "bxor" || name == "bsl" || name == "bsr" ||
        name == "bnot" || name == "round" || name == "trunc" || name == "floor" || name == "ceil")
      return Type::of_kinds(kind::kInteger);
    if (name == "length" || name == "byte_size" || name == "bit_size" || name == "map_size")
      return Type::integer(0, kMaxLength);
    if (name == "tuple_size") return Type::integer(a.is(kind::kTuple) ? a.size : 0, kMaxTupleSize);
    if (name == "self") return Type::of_kinds(kind::kPid);
    if (name == "node") return Type::of_kinds(kind::kAtom);
    if (name == "binary_part") return Type::of_kinds(kind::kBitstring);
    if (name == "max" || name == "min") return a.join(b, pool());
    if (name == "hd") return head_type(a);
    if (name == "tl") return tail_type(a);
    if (name == "element" && a.is(kind::kInteger) && a.low == a.high && a.low > 0)
      return element_type(b, static_cast<std::uint64_t>(a.low - 1));
    if (i.args.size() == 1 && (name == "abs" || name == "-" || name == "+"))
      return Type::of_kinds(a.is(kind::kInteger) ? kind::kInteger
                            : a.is(kind::kFloat) ? kind::kFloat
                                                 : kind::kNumber);
    return Type{};
  }

  // --- what follows when an instruction succeeds ---

  void passed(const Instr& i) {
    switch (i.op) {
      case Op::kTest: return passed_test(i);
      case Op::kBif: return passed_bif(i);
      case Op::kBsStart: return narrow(i.args[0], Type::of_kinds(kind::kBitstring | kind::kMatchState));
      case Op::kPutMapAssoc:
      case Op::kPutMapExact:
      case Op::kGetMap: return narrow(i.args[0], Type::of_kinds(kind::kMap));
      case Op::kGetRecord:
      case Op::kGetRecordField: return narrow(i.args[0], Type::of_kinds(kind::kRecord));
      default: return;
    }
  }

  void passed_test(const Instr& i) {
    const Arg a = i.args[0];
    switch (i.test) {
      case Test::kEqExact: {
        const Type both = type(a).meet(type(i.args[1]));
        narrow(a, both);
        narrow(i.args[1], both);
        return;
      }
      case Test::kLt: return ordered(a, i.args[1], 1);
      case Test::kGe: return ordered(i.args[1], a, 0);
      case Test::kBoolean: return narrow(a, Type::truth());
      case Test::kArity: return narrow(a, Type::tuple(static_cast<std::uint32_t>(i.imm), true));
      case Test::kTagged: {
        Type t = Type::tuple(static_cast<std::uint32_t>(i.imm), true);
        t.tag = i.args[1].literal;
        return narrow(a, t);
      }
      default:
        if (const std::uint16_t kinds = kinds_of(i.test); kinds != 0) narrow(a, Type::of_kinds(kinds));
    }
  }

  void failed(const Instr& i) {
    const Arg a = i.args[0];
    if (i.test == Test::kLt) return ordered(i.args[1], a, 0);
    if (i.test == Test::kGe) return ordered(a, i.args[1], 1);
    if (tests_kinds_alone(i.test)) return exclude(a, kinds_of(i.test));
    if (i.test == Test::kEqExact && i.args[1].is_literal() && i.args[1].literal.is_nil())
      exclude(a, kind::kNil);
  }

  /// small + gap =< large, which bounds both if they are integers. Floats are ordered among
  /// integers too, so only an integer gives a bound to the other side.
  void ordered(Arg small, Arg large, std::int64_t gap) {
    const Type s = type(small), l = type(large);
    if (l.is(kind::kInteger) && l.high != Type::kHighest && l.high > Type::kLowest + 1) {
      Type below;
      below.high = l.high - gap;
      narrow(small, below);
    }
    if (s.is(kind::kInteger) && s.low != Type::kLowest && s.low < Type::kHighest - 1) {
      Type above;
      above.low = s.low + gap;
      narrow(large, above);
    }
  }

  void passed_bif(const Instr& i) {
    const std::string_view name = i.bif->name;
    if (name == "hd" || name == "tl") return narrow(i.args[0], Type::of_kinds(kind::kCons));
    if (name == "length") return narrow(i.args[0], Type::of_kinds(kind::kList));
    if (name == "tuple_size") return narrow(i.args[0], Type::of_kinds(kind::kTuple));
    if (name == "map_size") return narrow(i.args[0], Type::of_kinds(kind::kMap));
    if (name == "byte_size" || name == "bit_size") return narrow(i.args[0], Type::of_kinds(kind::kBitstring));
    if (name == "map_get" || name == "is_map_key") return narrow(i.args[1], Type::of_kinds(kind::kMap));
    if (name == "element") {
      const Type at = type(i.args[0]);
      const bool known = at.is(kind::kInteger) && at.low > 0 && at.low <= kMaxTupleSize;
      return narrow(i.args[1], Type::tuple(known ? static_cast<std::uint32_t>(at.low) : 1, false));
    }
    if (name == "div" || name == "rem" || name == "band" || name == "bor" || name == "bxor" ||
        name == "bsl" || name == "bsr" || name == "bnot") {
      for (Arg a : i.args) narrow(a, Type::of_kinds(kind::kInteger));
    } else if (name == "+" || name == "-" || name == "*" || name == "/" || name == "abs" || name == "float" ||
               name == "round" || name == "trunc" || name == "floor" || name == "ceil") {
      for (Arg a : i.args) narrow(a, Type::of_kinds(kind::kNumber));
    }
  }

  // --- decisions ---

  Outcome outcome(const Instr& i) const {
    const Type a = type(i.args[0]);
    if (const std::uint16_t kinds = kinds_of(i.test); kinds != 0) {
      if (!a.may_be(kinds)) return Outcome::kNo;
      if (tests_kinds_alone(i.test)) return a.is(kinds) ? Outcome::kYes : Outcome::kUnknown;
      if (i.test == Test::kBoolean && a.is(kind::kAtom) && a.boolean) return Outcome::kYes;
      if (i.test == Test::kArity || i.test == Test::kTagged) return shape(a, i);
      return Outcome::kUnknown;
    }
    const Type b = type(i.args[1]);
    switch (i.test) {
      case Test::kLt: return less(a, b);
      case Test::kGe: {
        const Outcome below = less(a, b);
        return below == Outcome::kYes ? Outcome::kNo : below == Outcome::kNo ? Outcome::kYes : below;
      }
      case Test::kEqExact:
        if (a.only.is_value() && b.only.is_value()) return a.only == b.only ? Outcome::kYes : Outcome::kNo;
        return a.meet(b).kinds == 0 ? Outcome::kNo : Outcome::kUnknown;
      default: return Outcome::kUnknown;
    }
  }

  static Outcome shape(const Type& a, const Instr& i) {
    if ((a.exact_size && a.size != i.imm) || a.size > i.imm) return Outcome::kNo;
    const bool tagged = i.test == Test::kTagged;
    if (tagged && a.tag.is_value() && a.tag != i.args[1].literal) return Outcome::kNo;
    if (!a.is(kind::kTuple) || !a.exact_size) return Outcome::kUnknown;
    return !tagged || a.tag.is_value() ? Outcome::kYes : Outcome::kUnknown;
  }

  void end(Block& b) {
    if (b.end == BlockEnd::kSwitchValue) return decide_switch(b);
    if (b.end != BlockEnd::kFallible || b.code.back().op != Op::kTest) return;
    Instr& i = b.code.back();
    const Outcome known = outcome(i);
    if (known != Outcome::kUnknown) {
      b.end = BlockEnd::kJump;
      if (known == Outcome::kNo) b.succ = b.fail;
      b.fail = kNone;
      b.code.pop_back();
      return;
    }
    if ((i.test == Test::kEq || i.test == Test::kNe) && equal_is_exact(type(i.args[0]), type(i.args[1]))) {
      if (i.test == Test::kNe) std::swap(b.succ, b.fail);
      i.test = Test::kEqExact;
    }
  }

  void decide_switch(Block& b) {
    const Type t = type(b.subject);
    std::erase_if(b.cases,
                  [&](const SwitchCase& c) { return t.meet(program_.types.of(c.value)).kinds == 0; });
    if (b.cases.empty()) {
      b.end = BlockEnd::kJump;
      b.succ = b.fail;
      b.fail = kNone;
      b.subject = {};
      return;
    }
    // With two boolean cases the second one needs no test.
    if (b.cases.size() != 2 || !t.is(kind::kAtom) || !t.boolean) return;
    Instr test{.op = Op::kTest};
    test.test = Test::kEqExact;
    std::vector<Arg> args{b.subject, Arg::lit(b.cases[0].value)};
    test.args = program_.arena.copy(args);
    b.code.push_back(test);
    b.end = BlockEnd::kFallible;
    b.succ = b.cases[0].to;
    b.fail = b.cases[1].to;
    b.cases.clear();
    b.subject = {};
  }

  /// Simplifies a built-in that can no longer fail, or whose result is known.
  void simplify(Instr& i) {
    const std::string_view name = i.bif->name;
    if ((name == "hd" || name == "tl") && i.args[0].is_literal() && i.args[0].literal.is_list()) {
      const Term cell = i.args[0].literal;
      become(i, Op::kMove, Arg::lit(name == "hd" ? cell.head() : cell.tail()), 0);
    } else if (name == "element" && i.args[0].is_literal()) {
      const Type at = type(i.args[0]), whole = type(i.args[1]);
      if (at.is(kind::kInteger) && whole.is(kind::kTuple) && at.low >= 1 && at.low <= whole.size &&
          i.args[1].is_value())
        become(i, Op::kGetElement, i.args[1], static_cast<std::uint64_t>(at.low - 1));
    } else if ((name == "hd" || name == "tl") && i.args[0].is_value() && type(i.args[0]).is(kind::kCons)) {
      become(i, name == "hd" ? Op::kGetHd : Op::kGetTl, i.args[0], 0);
    } else if (name == "tuple_size" && type(i.args[0]).is(kind::kTuple) && type(i.args[0]).exact_size) {
      become(i, Op::kMove, Arg::lit(Term::small(type(i.args[0]).size)), 0);
    } else if ((name == "==" || name == "/=") && equal_is_exact(type(i.args[0]), type(i.args[1]))) {
      i.bif = find_bif(intern_atom(name == "==" ? "=:=" : "=/="), 2);
    } else if (i.bif->arity == 2 && i.args[0].is_literal() && i.args[1].is_value() &&
               (type(i.args[1]).kinds & constant_last_before(name))) {
      // The constant goes last, as in erlc: an error message shows the order.
      const Arg args[] = {i.args[1], i.args[0]};
      i.args = program_.arena.copy(args, 2);
      note_types(i);
    } else if (i.bif->test >= 0 && i.bif->safe) {
      Instr test = i;
      test.op = Op::kTest;
      test.test = static_cast<Test>(i.bif->test);
      const bool negated = test.test == Test::kNeExact;
      if (negated) test.test = Test::kEqExact;
      std::vector<Arg> args(i.args.begin(), i.args.end());
      if (i.bif->swap) std::swap(args[0], args[1]);
      test.args = args;
      const Outcome known = outcome(test);
      if (known != Outcome::kUnknown)
        become(i, Op::kMove, Arg::lit((known == Outcome::kYes) != negated ? atoms::true_ : atoms::false_), 0);
    }
  }

  void become(Instr& i, Op op, Arg arg, std::uint64_t imm) {
    i.op = op;
    i.args = program_.arena.copy(&arg, 1);
    i.imm = imm;
    i.bif = nullptr;
    note_types(i);
  }

  /// Records what is known about each argument here, for readers of the code.
  void note_types(Instr& i) {
    i.types = {};
    if (i.op != Op::kBif && i.op != Op::kTest) return;
    std::vector<Type> known;
    bool any = false;
    for (Arg a : i.args) {
      known.push_back(type(a));
      any |= a.is_value() && known.back().kinds != kind::kAny;
    }
    if (any) i.types = program_.arena.copy(known);
  }

  TypePool& pool() const { return program_.types; }
  const Signature* signature(std::size_t function) const {
    return program_.signatures.empty() ? nullptr : &program_.signatures[function];
  }

  Program& program_;
  Function& fn_;
  const std::vector<BlockId>& order_;
  Observed* const observed_;
  const Term math_ = intern_atom("math"), lists_ = intern_atom("lists"), reverse_ = intern_atom("reverse");
  std::vector<std::uint32_t> number_;  // of a block in order_
  std::vector<BlockId> above_;         // the nearest block on every path to it
  std::vector<std::vector<BlockId>> below_;
  std::vector<Type> types_;  // indexed by value, at the current point
  std::vector<std::pair<ValueId, Type>> trail_;
  std::vector<ValueId> first_element_of_;  // indexed by value: the tuple of which it is the first element
  std::vector<std::vector<Type>> incoming_;
};

}  // namespace

void infer_types(Program& program, Function& fn, const std::vector<BlockId>& order) {
  Inference(program, fn, order, nullptr).run();
}

Observed observe_types(Program& program, Function& fn, const std::vector<BlockId>& order) {
  Observed observed;
  Inference(program, fn, order, &observed).run();
  return observed;
}

}  // namespace vmrun::ir
