// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/build_graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "vm/jit/live_registers.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::jit {
namespace {

using op::Family;

/// What is known at a place in the function.
struct State {
  std::array<ValueId, kMostX> x;
  std::array<ValueId, kMostFloats> floats;
  std::vector<std::pair<Word, ValueId>> y;  // y registers whose values are at hand as well
  // y registers that the current instruction has written, but that are not stored yet: if it
  // leaves, the interpreter finds them as they were.
  std::vector<std::pair<Word, ValueId>> unstored;
  std::vector<std::pair<ValueId, Type>> narrowed;  // types known here, the latest last
  State() {
    x.fill(kNone);
    floats.fill(kNone);
  }
};

/// An edge to a label. Its block is empty, and becomes the label's own if there is no other edge.
struct Incoming {
  BlockId block;
  State state;
};

constexpr Word kHeaderSubMask = 0x3F;
constexpr Word sub_header(Term::Sub sub) { return static_cast<Word>(sub) << 2; }
constexpr Word masked(Word mask, Word value) { return mask << 32 | value; }

class Builder {
 public:
  Builder(const FunctionCode& code, std::vector<RegisterSet> live, Graph* out)
      : code_(code), live_(std::move(live)), g_(*out) {}

  void run() {
    begin_at_entry();
    const auto parts = code_.parts();
    for (const Part& p : parts) has_floats_ |= p.family >= Family::fload && p.family <= Family::fnegate;
    for (std::size_t n = 0; n < parts.size(); ++n) {
      const Part& p = parts[n];
      if (p.begins) begin_instruction(n);
      if (block_ == kNone) continue;
      part(p);
      if (p.ends && block_ != kNone) store_all();
    }
    if (block_ != kNone) leave();  // the code ends in an instruction that never falls through
  }

 private:
  Block& block() { return g_.blocks[block_]; }
  BlockId new_block() {
    g_.blocks.emplace_back();
    return static_cast<BlockId>(g_.blocks.size() - 1);
  }

  // ---- Where code begins ------------------------------------------------------------------------

  void begin_at_entry() {
    block_ = new_block();
    g_.function = block().entry = code_.function().entry();
    for (unsigned n = 0; n < code_.function().arity; ++n) {
      if (n < kRegisterArguments) {
        state_.x[n] = g_.value(Op::kParam, Type{}, n);
        block().params.push_back(state_.x[n]);
      } else {
        state_.x[n] = emit(Op::kLoadX, Type{}, {}, n);
      }
    }
  }
  /// Behind a call, with its result.
  Incoming behind_call(const Word* at) {
    Incoming edge{new_block(), {}};
    Block& b = g_.blocks[edge.block];
    b.entry = at;
    edge.state.x[0] = g_.value(Op::kParam, Type{}, 0);
    b.params.push_back(edge.state.x[0]);
    return edge;
  }

  void begin_instruction(std::size_t n) {
    const Part& p = code_.parts()[n];
    at_ = p.at;
    first_part_ = n;
    if (returns_to_.contains(at_) && only_result_is_live(n)) incoming_[at_].push_back(behind_call(at_));
    if (const auto it = incoming_.find(at_); it != incoming_.end()) {
      if (block_ != kNone) {
        const BlockId edge = block_;
        block_ = kNone;
        it->second.push_back({edge, std::move(state_)});
      }
      merge(it->second, n);
      incoming_.erase(it);
    }
    exit_ = kNone;
    if (block_ == kNone) return;
    start_x_ = state_.x;
    start_floats_ = state_.floats;
    if (begins_again_in_the_middle(n)) leave();
  }

  /// Whether a part behind others may leave, when these have changed what the interpreter, which
  /// does the whole instruction again, would change once more.
  bool begins_again_in_the_middle(std::size_t n) const {
    bool changed = false;
    for (;; ++n) {
      const Part& p = code_.parts()[n];
      if (changed && may_leave(p.family)) return true;
      if (p.ends) return false;
      changed |= p.family == Family::allocate || p.family == Family::deallocate;
    }
  }
  static bool may_leave(Family f) {
    switch (f) {
      case Family::move:
      case Family::swap:
      case Family::init:
      case Family::init_list:
      case Family::deallocate:
      case Family::return_:
      case Family::call:
      case Family::call_only:
      case Family::call_ext:
      case Family::call_ext_only:
      case Family::jump:
      case Family::get_list:
      case Family::get_hd:
      case Family::get_tl:
      case Family::match_list:
      case Family::is_nonempty_list:
      case Family::is_nil:
      case Family::get_tuple_element:
      case Family::get_two_elements:
      case Family::get_three_elements:
      case Family::put_list:
      case Family::put_tuple1:
      case Family::put_tuple2:
      case Family::put_tuple3:
      case Family::put_tuple:
      case Family::fload:
      case Family::fstore: return false;
      default: return true;
    }
  }

  void merge(std::vector<Incoming>& edges, std::size_t n) {
    if (edges.size() == 1) {
      block_ = edges[0].block;
      state_ = std::move(edges[0].state);
      return;
    }
    const BlockId to = new_block();
    State joined;
    const auto choose = [&](auto member, unsigned k, bool is_needed) {
      const ValueId v = (edges[0].state.*member)[k];
      bool same = true, known = v != kNone;
      for (const Incoming& e : edges) {
        same &= (e.state.*member)[k] == v;
        known &= (e.state.*member)[k] != kNone;
      }
      if (!is_needed || !known) return;
      if (same) {
        (joined.*member)[k] = v;
        return;
      }
      Type type = Type::of(std::uint16_t{0});
      for (const Incoming& e : edges) type = type.join(type_in(e.state, (e.state.*member)[k]));
      const ValueId param = g_.value(g_.is_float(v) ? Op::kFloatParam : Op::kParam, type, kNone);
      (joined.*member)[k] = param;
      g_.blocks[to].params.push_back(param);
      for (const Incoming& e : edges) g_.blocks[e.block].args.push_back((e.state.*member)[k]);
    };
    for (unsigned k = 0; k < kMostX; ++k) choose(&State::x, k, live_[n].x >> k & 1);
    for (unsigned k = 0; k < kMostFloats; ++k) choose(&State::floats, k, live_[n].floats >> k & 1);
    joined.narrowed = narrowed_by_all(edges);
    for (const auto& [slot, v] : edges[0].state.y) {
      const std::pair<Word, ValueId> known{slot, v};
      if (std::ranges::all_of(edges, [&](const Incoming& e) { return std::ranges::count(e.state.y, known); }))
        joined.y.push_back(known);
    }
    lead(edges, to);
    state_ = std::move(joined);
  }
  /// Types that are known on every edge, beyond what the values' own types say.
  std::vector<std::pair<ValueId, Type>> narrowed_by_all(const std::vector<Incoming>& edges) const {
    std::vector<std::pair<ValueId, Type>> narrowed;
    for (const auto& [v, type] : edges[0].state.narrowed) {
      Type all = Type::of(std::uint16_t{0});
      for (const Incoming& e : edges) all = all.join(type_in(e.state, v));
      if (all != g_.types[v]) narrowed.emplace_back(v, all);
    }
    return narrowed;
  }
  /// Ends the edges with jumps to the block, and goes on there.
  void lead(const std::vector<Incoming>& edges, BlockId to) {
    for (const Incoming& e : edges) {
      g_.blocks[e.block].end = BlockEnd::kJump;
      g_.blocks[e.block].to = to;
    }
    block_ = to;
  }

  // ---- Values -----------------------------------------------------------------------------------

  ValueId emit(Op op, Type type, std::initializer_list<ValueId> args, Word imm = 0, ExitId exit = kNone) {
    const ValueId v = g_.value(op, type, imm);
    append(op, v, std::span(args.begin(), args.size()), imm, exit);
    return v;
  }
  void append(Op op, ValueId dst, std::span<const ValueId> args, Word imm = 0, ExitId exit = kNone) {
    const auto first = static_cast<std::uint32_t>(g_.args.size());
    g_.args.insert(g_.args.end(), args.begin(), args.end());
    block().code.push_back({op, dst, first, static_cast<std::uint32_t>(args.size()), exit, at_, imm});
  }
  /// Appends an instruction without a result.
  void act(Op op, std::initializer_list<ValueId> args, Word imm = 0, ExitId exit = kNone) {
    append(op, kNone, std::span(args.begin(), args.size()), imm, exit);
  }
  ValueId constant(Word w) {
    const auto [it, is_new] = constants_.try_emplace(w, kNone);
    if (is_new) it->second = g_.value(Op::kConst, Type::of(Term::from_raw(w)), w);
    return it->second;
  }
  ValueId get(const Operand& o) {
    switch (o.kind) {
      case Operand::Kind::kX: return state_.x[place_of_x(o.value)];
      case Operand::Kind::kY: {
        for (const auto& [slot, v] : state_.y)
          if (slot == o.value) return v;
        const ValueId v = emit(Op::kLoadY, Type{}, {}, o.value);
        state_.y.emplace_back(o.value, v);
        return v;
      }
      default: return constant(o.value);
    }
  }
  void set(const Operand& o, ValueId v) {
    if (o.is_x()) {
      state_.x[place_of_x(o.value)] = v;
      return;
    }
    state_.unstored.emplace_back(o.value, v);
    std::erase_if(state_.y, [&](const auto& known) { return known.first == o.value; });
    state_.y.emplace_back(o.value, v);
  }

  void store_all() {
    for (const auto& [slot, v] : state_.unstored) act(Op::kStoreY, {v}, slot);
    state_.unstored.clear();
  }

  // ---- Types ------------------------------------------------------------------------------------

  Type type_in(const State& s, ValueId v) const {
    for (std::size_t n = s.narrowed.size(); n-- > 0;)
      if (s.narrowed[n].first == v) return s.narrowed[n].second;
    return g_.types[v];
  }
  Type type(ValueId v) const { return type_in(state_, v); }
  void narrow(ValueId v, const Type& by) {
    if (g_.is_const(v)) return;
    const Type now = type(v).meet(by);
    if (now != type(v)) state_.narrowed.emplace_back(v, now);
  }
  void exclude(ValueId v, unsigned kinds) {
    narrow(v, Type::of(static_cast<std::uint16_t>(Type::kAny & ~kinds)));
  }

  // ---- Ways on ----------------------------------------------------------------------------------

  /// Where the interpreter goes on with the current instruction.
  ExitId exit() {
    if (exit_ == kNone) exit_ = exit_at(at_, live_[first_part_], start_x_, start_floats_);
    return exit_;
  }
  template <class X, class F>
  ExitId exit_at(const Word* at, const RegisterSet& needed, const X& x, const F& floats) {
    Exit e{at, {}, {}};
    for (unsigned k = 0; k < kMostX; ++k)
      if (needed.x >> k & 1 && x[k] != kNone)
        e.registers.push_back({static_cast<std::uint16_t>(x_of_place(k)), x[k]});
    for (unsigned k = 0; k < kMostFloats; ++k)
      if (needed.floats >> k & 1 && floats[k] != kNone)
        e.floats.push_back({static_cast<std::uint16_t>(k), floats[k]});
    g_.exits.push_back(std::move(e));
    return static_cast<ExitId>(g_.exits.size() - 1);
  }
  void end_with(BlockEnd end) {
    block().end = end;
    block().at = at_;
    block_ = kNone;
  }
  /// The interpreter does the current instruction.
  void leave() {
    block().exit = exit();
    end_with(BlockEnd::kExit);
  }
  /// Goes to a label, with the state as it is now.
  void go_to(const Word* to) {
    store_all();
    if (code_.holds(to) && to > at_) {
      incoming_[to].push_back({block_, state_});
      block_ = kNone;
      return;
    }
    // Back, or to where function_clause is raised.
    const bool is_back = code_.holds(to);
    RegisterSet needed;
    if (is_back) needed = live_[code_.part_at(to)];
    else needed.x = (std::uint64_t{1} << code_.function().arity) - 1;
    block().exit = exit_at(to, needed, state_.x, state_.floats);
    end_with(BlockEnd::kExit);
  }

  /// Ends the block with a test. What follows is the case that it holds; `otherwise` is called in
  /// the other case, with the block that is then current, and ends that one.
  template <class Otherwise>
  void require(Condition c, std::initializer_list<ValueId> args, Word imm, Otherwise otherwise,
               bool is_rare = false) {
    branch(c, args, imm);
    const BlockId holds = block().to, not_so = block().otherwise;
    State kept = state_;
    block_ = not_so;
    block().rare = is_rare;
    otherwise();
    block_ = holds;
    state_ = std::move(kept);
  }
  /// Ends the block with a test, whose two blocks are new.
  void branch(Condition c, std::initializer_list<ValueId> args, Word imm) {
    const BlockId yes = new_block(), no = new_block();
    Block& b = block();
    b.end = BlockEnd::kBranch;
    b.at = at_;
    b.condition = c;
    b.args = args;
    b.imm = imm;
    b.to = yes;
    b.otherwise = no;
  }

  // ---- Tests ------------------------------------------------------------------------------------

  /// A test of kinds that looks at the tag alone. If the type decides, no test is made.
  void test_kind(ValueId v, Condition c, std::uint16_t kinds, const Word* fail) {
    if (type(v).is(kinds)) return;
    if (!type(v).may_be(kinds)) return go_to(fail);
    require(c, {v}, c == Condition::kSame ? Term::nil().raw() : 0, [&] {
      exclude(v, kinds);
      go_to(fail);
    });
    narrow(v, Type::of(kinds));
  }
  /// Requires a boxed term with such a header.
  void test_header(ValueId v, Condition c, Word imm, const Type& then, const Word* fail) {
    const Type t = type(v);
    if (!t.may_be(then.kinds)) return go_to(fail);
    if (t.is(then.kinds) && !then.has_header() && then.kinds != Type::kOtherBoxed) return;
    if (then.has_header() && t.is(Type::kTuple) && t.header == then.header) return;
    if (!t.is(Type::kBoxed))
      require(Condition::kIsBoxed, {v}, 0, [&] {
        exclude(v, Type::kBoxed);
        go_to(fail);
      });
    require(c, {v}, imm, [&] { go_to(fail); });
    narrow(v, then);
  }
  static Type tuple_of(Word header) {
    Type t = Type::of(std::uint16_t{Type::kTuple});
    t.header = header;
    return t;
  }
  void test_same(ValueId v, Word word, const Word* fail) {
    require(Condition::kSame, {v}, word, [&] { go_to(fail); });
    narrow(v, Type::of(Term::from_raw(word)));
  }

  /// a =:= b or its contrary: goes on if the outcome is `wanted`, else to `fail`.
  void test_equal(ValueId a, ValueId b, bool wanted, const Word* fail) {
    if (g_.is_const(a)) std::swap(a, b);
    const Type ta = type(a), tb = type(b);
    const bool decides = ta.is(Type::kImmediate) || tb.is(Type::kImmediate);  // the same word or not equal
    if (!decides) return test_equal_terms(a, b, wanted, fail);
    const auto same = [&](auto otherwise) {
      if (g_.is_const(b)) require(Condition::kSame, {a}, g_.imms[b], otherwise);
      else require(Condition::kSame, {a, b}, 0, otherwise);
    };
    if (wanted) {
      same([&] { go_to(fail); });
      narrow(a, tb);
      narrow(b, ta);
      return;
    }
    State before = state_;
    const BlockId from = block_;
    same([&] {});
    // The other way round.
    const BlockId no = g_.blocks[from].otherwise;
    narrow(a, tb);
    go_to(fail);
    block_ = no;
    state_ = std::move(before);
  }
  void test_equal_terms(ValueId a, ValueId b, bool wanted, const Word* fail) {
    // Terms of one word are equal. Else they are not, if one is immediate; else they are compared.
    branch(Condition::kSame, {a, b}, 0);
    const BlockId same = block().to;
    block_ = block().otherwise;
    std::vector<Incoming> equal{{same, state_}}, differ;
    const auto look = [&](ValueId v, auto otherwise) {
      if (type(v).is(Type::kBoxed | Type::kCons)) return otherwise();
      require(Condition::kIsImmediate, {v}, 0, otherwise);
      differ.push_back({block_, state_});
    };
    look(a, [&] {
      look(b, [&] {
        if (has_floats_) return leave();
        branch(Condition::kTermsEqual, {a, b}, 0);
        equal.push_back({block().to, state_});
        differ.push_back({block().otherwise, state_});
        block_ = kNone;
      });
      block_ = kNone;
    });
    go_on(wanted ? equal : differ, wanted ? differ : equal, fail);
  }
  /// Goes on where the first edges lead, and to `fail` where the others do.
  void go_on(std::vector<Incoming>& here, std::vector<Incoming>& elsewhere, const Word* fail) {
    for (Incoming& e : elsewhere) {
      block_ = e.block;
      state_ = std::move(e.state);
      go_to(fail);
    }
    join(here);
  }
  /// Goes on where edges lead that differ in nothing but what is known of types.
  void join(std::vector<Incoming>& edges) {
    if (edges.empty()) return;
    if (edges.size() == 1) {
      block_ = edges[0].block;
    } else {
      edges[0].state.narrowed = narrowed_by_all(edges);
      lead(edges, new_block());
    }
    state_ = std::move(edges[0].state);
  }

  /// a < b, or a >= b if not `wanted`.
  void test_less(ValueId a, ValueId b, bool wanted, const Word* fail) {
    constexpr std::uint16_t kSmall = Type::kSmall;
    if (type(a).may_be(kSmall) && type(b).may_be(kSmall) && (type(a).is(kSmall) || type(b).is(kSmall)))
      require_small(a, b);
    if (!type(a).is(kSmall) || !type(b).is(kSmall)) return test_terms_less(a, b, wanted, fail);
    const Type now_a = type(a), now_b = type(b);
    const bool known_less = now_a.high < now_b.low, known_not = now_a.low >= now_b.high;
    if (known_less || known_not) {
      if (known_less != wanted) go_to(fail);
      return;
    }
    const auto less = [&] {  // a < b holds
      narrow(a, Type::small(Type::kLeast, now_b.high - 1));
      narrow(b, Type::small(now_a.low + 1, Type::kMost));
    };
    const auto not_less = [&] {
      narrow(a, Type::small(now_b.low, Type::kMost));
      narrow(b, Type::small(Type::kLeast, now_a.high));
    };
    const auto test = [&](auto otherwise) {
      if (g_.is_const(b)) require(Condition::kLess, {a}, g_.imms[b], otherwise);
      else require(Condition::kLess, {a, b}, 0, otherwise);
    };
    if (wanted) {
      test([&] {
        not_less();
        go_to(fail);
      });
      less();
      return;
    }
    State before = state_;
    const BlockId from = block_;
    test([&] {});
    const BlockId no = g_.blocks[from].otherwise;
    less();
    go_to(fail);
    block_ = no;
    state_ = std::move(before);
    not_less();
  }

  void test_terms_less(ValueId a, ValueId b, bool wanted, const Word* fail) {
    if (has_floats_ && (!type(a).may_be(Type::kSmall) || !type(b).may_be(Type::kSmall))) return leave();
    std::vector<Incoming> less, not_less;
    const auto compare = [&](Condition c) {
      branch(c, {a, b}, 0);
      less.push_back({block().to, state_});
      not_less.push_back({block().otherwise, state_});
      block_ = kNone;
    };
    const auto compare_terms = [&] {
      if (has_floats_) leave();
      else compare(Condition::kTermsLess);
    };
    if (!type(a).may_be(Type::kSmall) || !type(b).may_be(Type::kSmall)) {
      compare_terms();
    } else {
      constexpr std::uint16_t kSmall = Type::kSmall;
      const bool a_is = type(a).is(kSmall), b_is = type(b).is(kSmall);
      if (!a_is && !b_is) require(Condition::kBothSmall, {a, b}, 0, compare_terms, true);
      else require(Condition::kIsSmall, {a_is ? b : a}, 0, compare_terms, true);
      compare(Condition::kLess);
    }
    go_on(wanted ? less : not_less, wanted ? not_less : less, fail);
  }

  /// Leaves unless they are small.
  void require_small(ValueId a, ValueId b) {
    const bool a_is = type(a).is(Type::kSmall), b_is = type(b).is(Type::kSmall);
    const auto rarely = [&] { leave(); };
    if (!a_is && !b_is && a != b) require(Condition::kBothSmall, {a, b}, 0, rarely, true);
    else if (!a_is) require(Condition::kIsSmall, {a}, 0, rarely, true);
    else if (!b_is) require(Condition::kIsSmall, {b}, 0, rarely, true);
    narrow(a, Type::of(std::uint16_t{Type::kSmall}));
    narrow(b, Type::of(std::uint16_t{Type::kSmall}));
  }

  /// A comparison whose result is a value.
  void truth_value(const Part& p) {
    const auto o = code_.operands(p);
    const bool exact = p.family == Family::eq_exact_value;
    const ValueId a = get(o[exact ? 0 : 1]), b = get(o[exact ? 1 : 2]);
    const Operand& dst = o[exact ? 2 : 3];
    // As bits: less, equal, greater.
    const unsigned mask = exact ? 2 : static_cast<unsigned>(o[0].value);
    const Type ta = type(a), tb = type(b);
    const bool words_decide = exact && (ta.is(Type::kImmediate) || tb.is(Type::kImmediate));
    if (!words_decide) {
      if (!ta.may_be(Type::kSmall) || !tb.may_be(Type::kSmall)) return leave();
      require_small(a, b);
    }
    // a < b, a = b, or their contrary; a > b is b < a.
    const bool swaps = mask == 4 || mask == 3;
    const ValueId x = swaps ? b : a, y = swaps ? a : b;
    const Condition c = mask == 2 || mask == 5 ? Condition::kSame : Condition::kLess;
    const bool holds = mask == 1 || mask == 2 || mask == 4;
    if (g_.is_const(y)) branch(c, {x}, g_.imms[y]);
    else branch(c, {x, y}, 0);
    std::vector<Incoming> edges{{block().to, state_}, {block().otherwise, state_}};
    g_.blocks[edges[0].block].args = {constant((holds ? atoms::true_ : atoms::false_).raw())};
    g_.blocks[edges[1].block].args = {constant((holds ? atoms::false_ : atoms::true_).raw())};
    join(edges);
    const ValueId result = g_.value(Op::kParam, Type::of(std::uint16_t{Type::kAtom}), kNone);
    block().params.push_back(result);
    set(dst, result);
  }

  // ---- Arithmetic -------------------------------------------------------------------------------

  static Type sum(const Type& a, const Type& b, bool minus) {
    const SWord low = minus ? a.low - b.high : a.low + b.low, high = minus ? a.high - b.low : a.high + b.high;
    if (low < Type::kLeast || high > Type::kMost) return Type::of(std::uint16_t{Type::kSmall});
    return Type::small(low, high);
  }
  Type result_of(Op op, const Type& a, const Type& b) const {
    switch (op) {
      case Op::kAdd: return sum(a, b, false);
      case Op::kSubtract: return sum(a, b, true);
      case Op::kAnd:
        if (b.low >= 0) return Type::small(0, b.high);
        if (a.low >= 0) return Type::small(0, a.high);
        break;
      case Op::kRemainder:
        if (b.low > 0) return Type::small(a.low >= 0 ? 0 : 1 - b.high, b.high - 1);
        break;
      case Op::kShiftRight:
        if (a.low >= 0) return Type::small(0, a.high);
        break;
      default: break;
    }
    return Type::of(std::uint16_t{Type::kSmall});
  }
  /// kConst: none.
  static Op small_operation(ArithOp op) {
    switch (op) {
      case ArithOp::kAdd: return Op::kAdd;
      case ArithOp::kSubtract: return Op::kSubtract;
      case ArithOp::kMultiply: return Op::kMultiply;
      case ArithOp::kDiv: return Op::kDivide;
      case ArithOp::kRem: return Op::kRemainder;
      case ArithOp::kBand: return Op::kAnd;
      case ArithOp::kBor: return Op::kOr;
      case ArithOp::kBxor: return Op::kXor;
      case ArithOp::kBsr: return Op::kShiftRight;
      default: return Op::kConst;
    }
  }
  static bool always_works(Op op, const Type& result) {
    switch (op) {
      case Op::kAdd:
      case Op::kSubtract: return result.low != Type::kLeast || result.high != Type::kMost;
      case Op::kAnd:
      case Op::kOr:
      case Op::kXor:
      case Op::kShiftRight: return true;
      default: return false;
    }
  }
  void arithmetic(Op op, ValueId a, ValueId b, const Operand& dst) {
    if (op == Op::kShiftRight && !(g_.is_const(b) && type(b).low >= 0)) return leave();
    const Op float_op = op == Op::kAdd        ? Op::kFloatAdd
                        : op == Op::kSubtract ? Op::kFloatSubtract
                        : op == Op::kMultiply ? Op::kFloatMultiply
                                              : Op::kConst;
    constexpr std::uint16_t kSmall = Type::kSmall;
    // What is computed with a small integer is taken for one, until it is known to be another
    // number.
    const bool may_be_small = type(a).may_be(kSmall) && type(b).may_be(kSmall),
               may_be_float = !type(a).is(kSmall) && !type(b).is(kSmall) &&
                              (type(a).may_be(Type::kFloat) || type(b).may_be(Type::kFloat));
    if (float_op == Op::kConst || (may_be_small && !may_be_float)) {
      if (!may_be_small) return leave();
      require_small(a, b);
      return set(dst, of_small(op, a, b));
    }
    if (!may_be_small) {
      const ValueId r = of_floats(float_op, a, b);
      if (block_ != kNone) set(dst, r);
      return;
    }
    // Either of it.
    std::vector<Incoming> edges;
    std::vector<ValueId> results;
    const auto ends_with = [&](ValueId result) {
      results.push_back(result);
      edges.push_back({block_, state_});
    };
    const bool a_is = type(a).is(kSmall), b_is = type(b).is(kSmall), both = !a_is && !b_is && a != b;
    const auto otherwise = [&] {
      const ValueId result = of_floats(float_op, a, b);
      if (block_ != kNone) ends_with(result);
      block_ = kNone;
    };
    if (both) require(Condition::kBothSmall, {a, b}, 0, otherwise, true);
    else require(Condition::kIsSmall, {a_is ? b : a}, 0, otherwise, true);
    narrow(a, Type::of(kSmall));
    narrow(b, Type::of(kSmall));
    ends_with(of_small(op, a, b));
    for (std::size_t n = 0; n < edges.size(); ++n) g_.blocks[edges[n].block].args = {results[n]};
    if (edges.size() == 1) {
      state_ = std::move(edges[0].state);
      block().args.clear();
      return set(dst, results[0]);
    }
    join(edges);
    Type type = g_.types[results[0]].join(g_.types[results[1]]);
    const ValueId result = g_.value(Op::kParam, type, kNone);
    block().params.push_back(result);
    set(dst, result);
  }
  ValueId of_small(Op op, ValueId a, ValueId b) {
    const Type result = result_of(op, type(a), type(b));
    return emit(op, result, {a, b}, 0, always_works(op, result) ? kNone : exit());
  }
  /// Two numbers one of which is a float, as a new term. Leaves if there is anything else.
  ValueId of_floats(Op op, ValueId a, ValueId b) {
    const ValueId x = as_float(a);
    if (block_ == kNone) return kNone;
    const ValueId y = as_float(b);
    if (block_ == kNone) return kNone;
    const ValueId r = emit(op, Type{}, {x, y}, 0, exit());
    act(Op::kNeed, {}, 2 + kStackReserveWords, exit());
    return emit(Op::kBox, Type::of(std::uint16_t{Type::kFloat}), {r});
  }
  /// Returns the number, unboxed. Leaves for other terms and for large integers.
  ValueId as_float(ValueId v) {
    if (g_.is_const(v)) {
      const Term t = Term::from_raw(g_.imms[v]);
      if (!t.is_small() && !t.is_float()) return leave(), kNone;
      const double d = t.is_small() ? static_cast<double>(t.small_value()) : float_of(t)->value;
      return emit(Op::kFloatConst, Type{}, {}, std::bit_cast<Word>(d));
    }
    constexpr std::uint16_t kSmall = Type::kSmall, kFloat = Type::kFloat;
    if (!type(v).may_be(kSmall | kFloat)) return leave(), kNone;
    if (type(v).is(kSmall)) return emit(Op::kToFloat, Type{}, {v});
    std::vector<Incoming> edges;
    std::vector<ValueId> results;
    if (type(v).may_be(kSmall)) {
      branch(Condition::kIsSmall, {v}, 0);
      const BlockId other = block().otherwise;
      const State before = state_;
      block_ = block().to;
      results.push_back(emit(Op::kToFloat, Type{}, {v}));
      edges.push_back({block_, state_});
      block_ = other;
      state_ = before;
      exclude(v, kSmall);
    }
    if (!type(v).is(kFloat)) {
      if (!type(v).is(Type::kBoxed))
        require(
            Condition::kIsBoxed, {v}, 0, [&] { leave(); }, true);
      require(
          Condition::kHeaderIs, {v}, Term::header(Term::Sub::kFloat, 1).raw(), [&] { leave(); }, true);
      narrow(v, Type::of(kFloat));
    }
    const ValueId unboxed = emit(Op::kUnbox, Type{}, {v});
    if (edges.empty()) return unboxed;
    results.push_back(unboxed);
    edges.push_back({block_, state_});
    for (std::size_t n = 0; n < edges.size(); ++n) g_.blocks[edges[n].block].args = {results[n]};
    join(edges);
    const ValueId result = g_.value(Op::kFloatParam, Type{}, kNone);
    block().params.push_back(result);
    return result;
  }

  // ---- Terms ------------------------------------------------------------------------------------

  static constexpr Word kListTag = Term::kListTag, kBoxedTag = Term::kBoxedTag;
  ValueId load(ValueId from, Word tag, Word words, Type type = {}) {
    return emit(Op::kLoad, type, {from}, words * sizeof(Word) - tag);
  }
  void elements(const Part& p, unsigned count) {
    const auto o = code_.operands(p);
    const ValueId tuple = get(o[0]);
    ValueId v[3];
    for (unsigned n = 0; n < count; ++n) v[n] = load(tuple, kBoxedTag, o[1].value + n);
    for (unsigned n = 0; n < count; ++n) set(o[2 + n], v[n]);
  }
  void put_tuple(std::span<const ValueId> values, const Operand& dst) {
    const Word header = Term::header(Term::Sub::kTuple, values.size()).raw();
    const ValueId v = g_.value(Op::kPutTuple, tuple_of(header), header);
    append(Op::kPutTuple, v, values, header);
    set(dst, v);
  }
  void put_tuple_of(const Part& p, unsigned count) {
    const auto o = code_.operands(p);
    ValueId values[3];
    for (unsigned n = 0; n < count; ++n) values[n] = get(o[n]);
    put_tuple({values, count}, o[count]);
  }
  void get_list(const Part& p, bool tests) {
    const auto o = code_.operands(p);
    const ValueId list = get(o[0]);
    if (tests) {
      test_kind(list, Condition::kIsList, Type::kCons, o[3].target());
      if (block_ == kNone) return;
    }
    const ValueId head = load(list, kListTag, 0), tail = load(list, kListTag, 1);
    set(o[1], head);
    set(o[2], tail);
  }

  /// To the label if there is one; else the interpreter raises the exception.
  void fail_to(const Operand& label) {
    if (label.value) go_to(label.target());
    else leave();
  }
  void element(const Part& p) {
    const auto o = code_.operands(p);
    const ValueId tuple = get(o[1]);
    if (p.family == Family::element_var) return leave();
    const Word header = Term::header(Term::Sub::kTuple, o[0].value).raw();
    const Type t = type(tuple);
    if (!(t.is(Type::kTuple) && t.has_header() && t.header >= header)) {
      const auto otherwise = [&] { fail_to(o[3]); };
      const bool rare = !o[3].value;
      if (!t.is(Type::kBoxed)) require(Condition::kIsBoxed, {tuple}, 0, otherwise, rare);
      if (!t.is(Type::kTuple))
        require(Condition::kHeaderMasked, {tuple}, masked(kHeaderSubMask, 0), otherwise, rare);
      require(Condition::kHeaderAtLeast, {tuple}, header, otherwise, rare);
      narrow(tuple, Type::of(std::uint16_t{Type::kTuple}));
    }
    set(o[2], load(tuple, kBoxedTag, o[0].value));
  }

  // ---- Calls ------------------------------------------------------------------------------------

  void call(const Part& p, unsigned arity, const Word* target, Word address_at, bool returns) {
    store_all();
    Block& b = block();
    for (unsigned n = 0; n < arity; ++n) b.args.push_back(state_.x[n]);
    b.target = target;
    b.imm = address_at;
    if (returns) {
      b.return_to = p.next;
      returns_to_.insert(p.next);
    }
    end_with(target ? BlockEnd::kCall : BlockEnd::kCallAt);
  }

  void call_fun(const Part& p, unsigned arity, ValueId fun, bool returns) {
    store_all();
    for (unsigned n = 0; n < arity; ++n) block().args.push_back(state_.x[n]);
    block().args.push_back(fun);
    block().imm = arity;
    if (returns) {
      block().return_to = p.next;
      returns_to_.insert(p.next);
    }
    end_with(BlockEnd::kCallFun);
  }
  void require_fun(ValueId fun, unsigned arity) {
    const auto rarely = [&] { leave(); };
    if (!type(fun).is(Type::kBoxed)) require(Condition::kIsBoxed, {fun}, 0, rarely, true);
    require(Condition::kHeaderMasked, {fun}, masked(kHeaderSubMask, sub_header(Term::Sub::kFun)), rarely,
            true);
    require(Condition::kFunArity, {fun}, arity, rarely, true);
  }
  void call_bif(const Part& p) {
    const auto o = code_.operands(p);
    const auto arity = static_cast<unsigned>(o[1].value);
    returns_to_.insert(p.next);
    if (!p.begins) return leave();  // the instruction would begin again
    std::vector<ValueId> args(state_.x.begin(), state_.x.begin() + arity);
    const ValueId result = g_.value(Op::kCallBif, Type{}, o[2].value);
    append(Op::kCallBif, result, args, o[2].value, exit());
    block().code.back().next = p.next;
    state_ = State();
    state_.x[0] = result;
    if (only_result_is_live(code_.part_at(p.next))) return;
    block().exit = exit_at(p.next, {1, 0}, state_.x, state_.floats);
    end_with(BlockEnd::kExit);
  }
  /// Where more is needed than a result, nothing returns: the call raises an exception.
  bool only_result_is_live(std::size_t part) const {
    return !(live_[part].x & ~std::uint64_t{1}) && !live_[part].floats;
  }

  // ---- Switches ---------------------------------------------------------------------------------

  template <class Add>
  void switch_on(ValueId v, const Word* fail, Add add_cases) {
    std::vector<std::pair<Word, const Word*>> cases;
    add_cases([&](Word value, const Word* to) { cases.emplace_back(value, to); });
    store_all();
    const BlockId from = block_;
    State before = state_;
    for (const auto& [value, to] : cases) {
      const BlockId edge = new_block();
      g_.blocks[from].cases.push_back({value, edge});
      block_ = edge;
      state_ = before;
      if (g_.types[v].kinds != 0) narrow(v, Type::of(Term::from_raw(value)));
      go_to(to);
    }
    block_ = new_block();
    state_ = before;
    const BlockId otherwise = block_;
    go_to(fail);
    block_ = from;
    block().args = {v};
    block().otherwise = otherwise;
    end_with(BlockEnd::kSwitch);
  }
  void select(const Part& p) {
    const auto o = code_.operands(p);
    const ValueId v = get(o[0]);
    const auto distance_at = [&](std::size_t n) { return p.at + static_cast<SWord>(p.list[n]); };
    switch (p.family) {
      case Family::select_dense:  // src step fail first table
        return switch_on(v, o[2].target(), [&](auto add) {
          for (std::size_t n = 0; n < p.list.size(); ++n)
            if (distance_at(n) != o[2].target()) add(o[3].value + (n << o[1].value), distance_at(n));
        });
      case Family::select_two:
        return switch_on(v, o[5].target(), [&](auto add) {
          add(o[1].value, o[2].target());
          add(o[3].value, o[4].target());
        });
      case Family::select_linear:
        return switch_on(v, o[1].target(), [&](auto add) {
          for (std::size_t n = 0; n + 1 < p.list.size(); n += 2) add(p.list[n], distance_at(n + 1));
        });
      case Family::select_hash:
        return switch_on(v, o[2].target(), [&](auto add) {
          for (std::size_t n = 0; n + 1 < p.list.size(); n += 2)
            if (p.list[n]) add(p.list[n], distance_at(n + 1));
        });
      default: break;
    }
    // select_tuple_arity
    const Word* const fail = o[1].target();
    if (!type(v).is(Type::kBoxed)) require(Condition::kIsBoxed, {v}, 0, [&] { go_to(fail); });
    const ValueId header = load(v, kBoxedTag, 0, Type::of(std::uint16_t{0}));
    switch_on(header, fail, [&](auto add) {
      for (std::size_t n = 0; n + 1 < p.list.size(); n += 2) add(p.list[n], distance_at(n + 1));
    });
  }

  // ---- Instructions -----------------------------------------------------------------------------

  void part(const Part& p);
  void float_operation(const Part& p, Op op) {
    const auto o = code_.operands(p);
    state_.floats[o[2].value] =
        emit(op, Type{}, {state_.floats[o[0].value], state_.floats[o[1].value]}, 0, exit());
  }

  const FunctionCode& code_;
  const std::vector<RegisterSet> live_;
  Graph& g_;
  BlockId block_ = kNone;  // kNone: what follows is not reached from before
  State state_;
  std::array<ValueId, kMostX> start_x_;  // as the current instruction begins
  std::array<ValueId, kMostFloats> start_floats_;
  const Word* at_ = nullptr;
  std::size_t first_part_ = 0;
  ExitId exit_ = kNone;  // of the current instruction
  std::unordered_map<const Word*, std::vector<Incoming>> incoming_;
  std::unordered_set<const Word*> returns_to_;
  std::unordered_map<Word, ValueId> constants_;
  bool has_floats_ = false;  // in registers: they would not survive calls of C++ functions
};

void Builder::part(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::move: return set(o[1], get(o[0]));
    case Family::swap: {
      const ValueId a = get(o[0]), b = get(o[1]);
      set(o[0], b);
      set(o[1], a);
      return;
    }
    case Family::init: return set(o[0], constant(Term::nil().raw()));
    case Family::init_list:
      for (const Word slot : p.list) set({Operand::Kind::kY, slot}, constant(Term::nil().raw()));
      return;
    case Family::allocate:
      act(Op::kNeed, {}, o[2].value, exit());
      store_all();
      act(Op::kMoveStack, {}, static_cast<Word>(-static_cast<SWord>(o[0].value)));
      state_.y.clear();
      return;
    case Family::deallocate:
      store_all();
      act(Op::kMoveStack, {}, o[0].value);
      state_.y.clear();
      return;
    case Family::test_heap: return act(Op::kNeed, {}, o[1].value, exit());
    case Family::return_:
      store_all();
      block().args = {state_.x[0]};
      return end_with(BlockEnd::kReturn);
    case Family::jump: return go_to(o[0].target());

    case Family::call: return call(p, header_of_entry(o[0].target())->arity, o[0].target(), 0, true);
    case Family::call_only: return call(p, header_of_entry(o[0].target())->arity, o[0].target(), 0, false);
    case Family::call_ext:
    case Family::call_ext_only: {
      const auto* e = reinterpret_cast<const Export*>(o[0].value);
      return call(p, e->arity, nullptr, reinterpret_cast<Word>(&e->address), p.family == Family::call_ext);
    }

    case Family::is_nonempty_list:
      return test_kind(get(o[0]), Condition::kIsList, Type::kCons, o[1].target());
    case Family::is_nil: return test_kind(get(o[0]), Condition::kSame, Type::kNil, o[1].target());
    case Family::is_atom: return test_kind(get(o[0]), Condition::kIsAtom, Type::kAtom, o[1].target());
    case Family::is_tuple:
      return test_header(get(o[0]), Condition::kHeaderMasked, masked(kHeaderSubMask, 0),
                         Type::of(std::uint16_t{Type::kTuple}), o[1].target());
    case Family::test_arity:
    case Family::is_tuple_of_arity:
      return test_header(get(o[0]), Condition::kHeaderIs, o[1].value, tuple_of(o[1].value), o[2].target());
    case Family::is_tagged_tuple: {
      const ValueId v = get(o[0]);
      test_header(v, Condition::kHeaderIs, o[1].value, tuple_of(o[1].value), o[3].target());
      if (block_ == kNone) return;
      return test_same(load(v, kBoxedTag, 1), o[2].value, o[3].target());
    }
    case Family::is_map:
      return test_header(get(o[0]), Condition::kHeaderMasked,
                         masked(kHeaderSubMask, sub_header(Term::Sub::kMap)),
                         Type::of(std::uint16_t{Type::kOtherBoxed}), o[1].target());
    case Family::is_function:
      return test_header(get(o[0]), Condition::kHeaderMasked,
                         masked(kHeaderSubMask, sub_header(Term::Sub::kFun)),
                         Type::of(std::uint16_t{Type::kOtherBoxed}), o[1].target());
    case Family::is_float:
      return test_header(get(o[0]), Condition::kHeaderIs, Term::header(Term::Sub::kFloat, 1).raw(),
                         Type::of(std::uint16_t{Type::kFloat}), o[1].target());
    case Family::is_integer: {
      const ValueId v = get(o[0]);
      if (type(v).is(Type::kSmall | Type::kBig)) return;
      if (!type(v).may_be(Type::kSmall | Type::kBig)) return go_to(o[1].target());
      if (!type(v).may_be(Type::kSmall)) return leave();
      return require(
                 Condition::kIsSmall, {v}, 0, [&] { leave(); }, true),
             narrow(v, Type::of(std::uint16_t{Type::kSmall}));
    }
    case Family::is_eq_exact: return test_equal(get(o[0]), get(o[1]), true, o[2].target());
    case Family::is_ne_exact: return test_equal(get(o[0]), get(o[1]), false, o[2].target());
    case Family::is_lt: return test_less(get(o[0]), get(o[1]), true, o[2].target());
    case Family::is_ge: return test_less(get(o[0]), get(o[1]), false, o[2].target());
    case Family::select_dense:
    case Family::select_two:
    case Family::select_linear:
    case Family::select_hash:
    case Family::select_tuple_arity: return select(p);

    case Family::get_list: return get_list(p, false);
    case Family::match_list: return get_list(p, true);
    case Family::get_hd: return set(o[1], load(get(o[0]), kListTag, 0));
    case Family::get_tl: return set(o[1], load(get(o[0]), kListTag, 1));
    case Family::get_tuple_element: return elements(p, 1);
    case Family::get_two_elements: return elements(p, 2);
    case Family::get_three_elements: return elements(p, 3);
    case Family::put_list: {
      const ValueId head = get(o[0]), tail = get(o[1]);
      return set(o[2], emit(Op::kPutList, Type::of(std::uint16_t{Type::kCons}), {head, tail}));
    }
    case Family::put_tuple1: return put_tuple_of(p, 1);
    case Family::put_tuple2: return put_tuple_of(p, 2);
    case Family::put_tuple3: return put_tuple_of(p, 3);
    case Family::put_tuple: {
      std::vector<ValueId> values;
      for (const Word w : p.list) values.push_back(get(source_of(w)));
      return put_tuple(values, o[0]);
    }

    case Family::plus:
    case Family::plus_small: return arithmetic(Op::kAdd, get(o[0]), get(o[1]), o[2]);
    case Family::minus:
    case Family::minus_small: return arithmetic(Op::kSubtract, get(o[0]), get(o[1]), o[2]);
    case Family::times: return arithmetic(Op::kMultiply, get(o[0]), get(o[1]), o[2]);
    case Family::int_div: return arithmetic(Op::kDivide, get(o[0]), get(o[1]), o[2]);
    case Family::int_rem: return arithmetic(Op::kRemainder, get(o[0]), get(o[1]), o[2]);
    case Family::band:
    case Family::band_small: return arithmetic(Op::kAnd, get(o[0]), get(o[1]), o[2]);
    case Family::bor: return arithmetic(Op::kOr, get(o[0]), get(o[1]), o[2]);
    case Family::bxor: return arithmetic(Op::kXor, get(o[0]), get(o[1]), o[2]);
    case Family::bsr: return arithmetic(Op::kShiftRight, get(o[0]), get(o[1]), o[2]);

    case Family::fload: {
      const ValueId v = get(o[0]);
      if (!g_.is_const(v)) narrow(v, Type::of(std::uint16_t{Type::kFloat}));
      const ValueId f = as_float(v);
      if (block_ != kNone) state_.floats[o[1].value] = f;
      return;
    }
    case Family::fconv: {
      const ValueId f = as_float(get(o[0]));
      if (block_ != kNone) state_.floats[o[1].value] = f;
      return;
    }
    case Family::fstore:
      return set(o[1], emit(Op::kBox, Type::of(std::uint16_t{Type::kFloat}), {state_.floats[o[0].value]}));
    case Family::fadd: return float_operation(p, Op::kFloatAdd);
    case Family::fsub: return float_operation(p, Op::kFloatSubtract);
    case Family::fmul: return float_operation(p, Op::kFloatMultiply);
    case Family::fdiv: return float_operation(p, Op::kFloatDivide);
    case Family::self: return set(o[0], emit(Op::kSelf, Type::of(std::uint16_t{Type::kOtherImmediate}), {}));
    case Family::call_fun: {
      const ValueId fun = get(o[1]);
      require_fun(fun, static_cast<unsigned>(o[0].value));
      return call_fun(p, static_cast<unsigned>(o[0].value), fun, true);
    }
    case Family::call_fun_last: {
      const ValueId fun = get(o[1]);
      require_fun(fun, static_cast<unsigned>(o[0].value));
      store_all();
      act(Op::kMoveStack, {}, o[2].value);
      state_.y.clear();
      return call_fun(p, static_cast<unsigned>(o[0].value), fun, false);
    }
    case Family::call_bif:
    case Family::call_located_bif: return call_bif(p);
    case Family::make_fun: {
      std::vector<ValueId> values;
      for (const Word w : p.list) values.push_back(get(source_of(w)));
      const ValueId v = g_.value(Op::kPutFun, Type::of(std::uint16_t{Type::kOtherBoxed}), o[0].value);
      append(Op::kPutFun, v, values, o[0].value);
      return set(o[1], v);
    }
    case Family::element:
    case Family::element_var: return element(p);
    case Family::hd:
    case Family::tl: {
      const ValueId list = get(o[0]);
      if (!type(list).is(Type::kCons))
        require(
            Condition::kIsList, {list}, 0, [&] { fail_to(o[2]); }, !o[2].value);
      narrow(list, Type::of(std::uint16_t{Type::kCons}));
      return set(o[1], load(list, kListTag, p.family == Family::tl));
    }
    case Family::abs: {
      const ValueId v = get(o[0]);
      if (!type(v).may_be(Type::kSmall)) return leave();
      require_small(v, v);
      if (type(v).low >= 0) return set(o[1], v);
      return set(o[1], emit(Op::kAbsolute, Type::small(0, Type::kMost), {v}, 0, exit()));
    }
    case Family::arith: {
      const auto operation = static_cast<ArithOp>(std::countr_zero(o[0].value));
      if (const Op op = small_operation(operation); op != Op::kConst)
        return arithmetic(op, get(o[1]), get(o[2]), o[3]);
      if (operation != ArithOp::kDivide) return leave();
      const ValueId r = of_floats(Op::kFloatDivide, get(o[1]), get(o[2]));
      if (block_ != kNone) set(o[3], r);
      return;
    }
    case Family::eq_exact_value:
    case Family::compare_value: return truth_value(p);
    case Family::tuple_size: {
      const ValueId v = get(o[0]);
      const auto otherwise = [&] { fail_to(o[2]); };
      if (!type(v).is(Type::kBoxed)) require(Condition::kIsBoxed, {v}, 0, otherwise, !o[2].value);
      if (!type(v).is(Type::kTuple))
        require(Condition::kHeaderMasked, {v}, masked(kHeaderSubMask, 0), otherwise, !o[2].value);
      narrow(v, Type::of(std::uint16_t{Type::kTuple}));
      return set(o[1], emit(Op::kTupleSize, Type::small(0, (1 << 24) - 1), {v}));
    }
    case Family::get_map_element:
    case Family::get_map_element_slow: {
      if (has_floats_) return leave();
      const Operand& dst = o[p.family == Family::get_map_element ? 3 : 2];
      const ValueId map = get(o[0]), key = get(o[1]);
      const ValueId found = emit(Op::kMapGet, Type{}, {map, key});
      require(Condition::kDiffers, {found}, 0,
              [&] { go_to(o[p.family == Family::get_map_element ? 4 : 3].target()); });
      return set(dst, found);
    }
    case Family::begin_catch: return set(o[0], constant(Term::catch_at(o[1].target()).raw()));
    case Family::try_end: return set(o[0], constant(Term::nil().raw()));
    case Family::catch_end: {
      const ValueId v = state_.x[0];
      require(
          Condition::kDiffers, {v}, 0, [&] { leave(); }, true);
      return set(o[0], constant(Term::nil().raw()));
    }
    case Family::apply: returns_to_.insert(p.next); return leave();
    default: return leave();
  }
}

}  // namespace

bool build_graph(const FunctionCode& code, Graph* out) {
  if (code.function().arity >= kScratchPlace) return false;
  std::vector<RegisterSet> live = live_registers(code);
  if (live.empty()) return false;
  Builder(code, std::move(live), out).run();
  return true;
}

}  // namespace vmrun::jit
