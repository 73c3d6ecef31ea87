// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vm/jit/build_graph.hpp"
#include "vm/jit/callees.hpp"
#include "vm/jit/graph.hpp"
#include "vm/jit/live_registers.hpp"
#include "vm/jit/matching.hpp"
#include "vm/jit/unboxing.hpp"
#include "vm/term/arith.hpp"

/// What build_graph is made of. Its files: build_graph.cpp (where code begins, edges, values),
/// and one file build_*.cpp for each kind of instruction. One thread.
namespace vmrun::jit {

/// What is known at a place in the function.
struct State {
  std::array<ValueId, kMostX> x;
  std::array<ValueId, kMostFloats> floats;
  std::vector<std::pair<Word, ValueId>> y;  // y registers whose values are at hand as well
  // y registers that the current instruction has written, but that are not stored yet: if it
  // leaves, the interpreter finds them as they were.
  std::vector<std::pair<Word, ValueId>> unstored;
  std::vector<std::pair<ValueId, Type>> narrowed;  // types known here, the latest last
  Matching matching;
  bool return_is_stored = false;                    // in an inlined call: the return address is on the stack
  std::vector<std::pair<Word, ValueId>> callers_y;  // likewise: what `y` is where the call returns
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

inline constexpr Word kHeaderSubMask = 0x3F;
constexpr Word sub_header(Term::Sub sub) { return static_cast<Word>(sub) << 2; }
constexpr Word masked(Word mask, Word value) { return mask << 32 | value; }

/// A call that is replaced by the code of what it calls.
struct InlinedCall {
  const Word* return_to;
  std::vector<Incoming> returned;  // the result is in x0
};

class Builder {
 public:
  Builder(const FunctionCode& code, const std::vector<RegisterSet>& live, const Surroundings& around,
          Graph* out)
      : code_(code), live_(live), g_(*out), around_(around) {}

  void run();
  /// Builds the code in the place of a call, which is in that block.
  /// is_fun: of a fun.
  void run_inlined(BlockId block, const State& at_call, InlinedCall* call, bool is_fun);
  /// Likewise for a last call of a fun, whose frame has been given back.
  void run_last(BlockId block, const State& at_call);

 private:
  // ---- Instructions. Each does those of its kind, and asks the next one for others; the last one
  // leaves them to the interpreter. ----

  void build_move(const Part& p);
  void build_call(const Part& p);
  void build_process(const Part& p);
  void build_test(const Part& p);
  void build_term(const Part& p);
  void build_map(const Part& p);
  void build_arithmetic(const Part& p);
  void build_kind(const Part& p);
  void build_guard(const Part& p);
  void build_matching(const Part& p);
  void build_construction(const Part& p);

  // ---- Where code begins -------------------------------------------------------------------

  Block& block() { return g_.blocks[block_]; }
  BlockId new_block();
  void build_parts();
  void begin_at_entry();
  /// An entry into the function: behind a call, or where the interpreter may go on here. These x
  /// registers are needed.
  Incoming entered_at(const Word* at, std::uint64_t registers);
  void begin_instruction(std::size_t n);
  /// Edges on which a register that is needed has no value: nobody comes there. The compiler leaves
  /// such edges behind what always raises.
  void leave_where_unknown(std::vector<Incoming>* edges, std::size_t n);
  /// Whether a part behind others may leave, when these have changed what the interpreter, which
  /// does the whole instruction again, would change once more.
  bool begins_again_in_the_middle(std::size_t n) const;
  static bool may_leave(op::Family f);
  void merge(std::vector<Incoming>& edges, std::size_t n);
  /// Puts the return address of an inlined call onto the stack on all edges, if it is there on one.
  void store_returns_alike(std::vector<Incoming>& edges);
  /// Types that are known on every edge, beyond what the values' own types say.
  std::vector<std::pair<ValueId, Type>> narrowed_by_all(const std::vector<Incoming>& edges) const;
  /// Ends the edges with jumps to the block, and goes on there.
  void lead(const std::vector<Incoming>& edges, BlockId to);

  // ---- Values --------------------------------------------------------------------------------

  ValueId emit(Op op, Type type, std::initializer_list<ValueId> args, Word imm = 0, ExitId exit = kNone);
  void append(Op op, ValueId dst, std::span<const ValueId> args, Word imm = 0, ExitId exit = kNone);
  /// Appends an instruction without a result.
  void act(Op op, std::initializer_list<ValueId> args, Word imm = 0, ExitId exit = kNone);
  ValueId constant(Word w);
  /// A word that is no term.
  ValueId number(Word w);
  /// Calls a C++ function. Its result is no term unless there is a type.
  ValueId invoke(const Callee& callee, std::initializer_list<ValueId> args,
                 Type type = Type::of(std::uint16_t{0}));
  /// Behind what the instruction has done with a callee that uses the heap, and at the end of the
  /// instruction: if there are words outside the heap's block, the interpreter goes on behind it,
  /// and collects soon.
  void collect_soon_if_left(const Part& p);
  ValueId get(const Operand& o);
  void set(const Operand& o, ValueId v);
  void store_all();

  // ---- Types ---------------------------------------------------------------------------------

  Type type_in(const State& s, ValueId v) const;
  Type type(ValueId v) const { return type_in(state_, v); }
  void narrow(ValueId v, const Type& by);
  void exclude(ValueId v, unsigned kinds);

  // ---- Ways on -------------------------------------------------------------------------------

  /// Where the interpreter goes on with the current instruction.
  ExitId exit();
  /// Likewise, where a guess was wrong. If that happens often, the function is compiled once more,
  /// without guesses in this instruction.
  ExitId exit_of_guess();
  bool guesses() const { return guess_of(at_) != Guess::kNothing; }
  Guess guess_of(const Word* at) const {
    const auto it = around_.guesses.find(at);
    return it == around_.guesses.end() ? Guess::kSmall : it->second;
  }
  /// What is guessed of two operands of the current instruction.
  Guess guess(ValueId a, ValueId b) const;
  template <class X, class F>
  ExitId exit_at(const Word* at, const RegisterSet& needed, const X& x, const F& floats,
                 const Word* return_to) {
    Exit e{at, How::kAsItWas, false, return_to, {}, {}};
    for (unsigned k = 0; k < kMostX; ++k)
      if (needed.x >> k & 1 && x[k] != kNone)
        e.registers.push_back({static_cast<std::uint16_t>(x_of_place(k)), x[k]});
    for (unsigned k = 0; k < kMostFloats; ++k)
      if (needed.floats >> k & 1 && floats[k] != kNone)
        e.floats.push_back({static_cast<std::uint16_t>(k), floats[k]});
    g_.exits.push_back(std::move(e));
    return static_cast<ExitId>(g_.exits.size() - 1);
  }
  void end_with(BlockEnd end);
  /// The interpreter does the current instruction.
  void leave();
  /// Likewise, where a function has found that it cannot do it (Exit::is_asked_for).
  void leave_as_asked();
  /// Ends the block: the machine goes on with an instruction in the interpreter.
  void leave_for(const Word* at, How how);
  void leave_with(ExitId e);
  /// Goes to a label, with the state as it is now.
  void go_to(const Word* to);
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
  void branch(Condition c, std::initializer_list<ValueId> args, Word imm);

  // ---- Tests and switches --------------------------------------------------------------------

  /// A test of kinds that looks at the tag alone. If the type decides, no test is made.
  void test_kind(ValueId v, Condition c, std::uint16_t kinds, const Word* fail);
  /// Requires a boxed term with such a header.
  void test_header(ValueId v, Condition c, Word imm, const Type& then, const Word* fail);
  static Type tuple_of(Word header);
  void test_same(ValueId v, Word word, const Word* fail);
  /// a =:= b or its contrary: goes on if the outcome is `wanted`, else to `fail`.
  /// Not `exact`: a == b.
  void test_equal(ValueId a, ValueId b, bool wanted, const Word* fail, bool exact = true);
  void test_equal_terms(ValueId a, ValueId b, bool wanted, const Word* fail, bool exact);
  /// Goes on where the first edges lead, and to `fail` where the others do.
  void go_on(std::vector<Incoming>& here, std::vector<Incoming>& elsewhere, const Word* fail);
  /// Goes on where edges lead that differ in nothing but what is known of types.
  void join(std::vector<Incoming>& edges);
  /// Likewise, with a value from each edge.
  ValueId join(std::vector<Incoming>& edges, const std::vector<ValueId>& values);
  /// a < b, or a >= b if not `wanted`.
  void test_less(ValueId a, ValueId b, bool wanted, const Word* fail);
  void test_terms_less(ValueId a, ValueId b, bool wanted, const Word* fail);
  /// Ends the block with a < b of small integers.
  void less_than(ValueId a, ValueId b);
  void same(ValueId a, ValueId b);
  /// Goes on where both are small; `otherwise` is called where they are not.
  template <class F>
  void otherwise_than_small(ValueId a, ValueId b, F otherwise) {
    const bool a_is = type(a).is(Type::kSmall), b_is = type(b).is(Type::kSmall);
    if (!a_is && !b_is && a != b) require(Condition::kBothSmall, {a, b}, 0, otherwise, true);
    else if (!a_is || !b_is) require(Condition::kIsSmall, {a_is ? b : a}, 0, otherwise, true);
    narrow(a, Type::of(std::uint16_t{Type::kSmall}));
    narrow(b, Type::of(std::uint16_t{Type::kSmall}));
  }
  /// Requires a boxed term of these kinds, which the condition tests.
  template <class F>
  void require_boxed(ValueId v, std::uint16_t kinds, Condition c, Word imm, F otherwise, bool rare) {
    if (!type(v).is(Type::kBoxed)) require(Condition::kIsBoxed, {v}, 0, otherwise, rare);
    if (!type(v).is(kinds)) require(c, {v}, imm, otherwise, rare);
    narrow(v, Type::of(kinds));
  }
  /// Where the condition holds is one more edge, with this type of the value; goes on where it does
  /// not.
  void aside(std::vector<Incoming>* edges, Condition c, std::initializer_list<ValueId> args, Word imm,
             ValueId v, const Type& then);
  void test_either(ValueId v, Condition first, Word imm, std::uint16_t first_kinds, Condition second,
                   Word second_imm, std::uint16_t second_kinds, const Word* fail);
  void test_word(ValueId v, Word word, std::uint16_t kinds, const Word* fail);
  void test_boolean(ValueId v, const Word* fail);
  void test_integer(ValueId v, const Word* fail);
  void test_function(const Part& p);
  /// Leaves unless they are small.
  void require_small(ValueId a, ValueId b);
  /// A comparison whose result is a value.
  void truth_value(const Part& p);
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
  void select(const Part& p);

  // ---- Arithmetic ----------------------------------------------------------------------------

  static Type sum(const Type& a, const Type& b, bool minus);
  Type result_of(Op op, const Type& a, const Type& b) const;
  /// kConst: none.
  static Op small_operation(ArithOp op);
  static bool always_works(Op op, const Type& result);
  /// kConst: none.
  static Op float_operation(ArithOp op);
  void arithmetic(ArithOp operation, ValueId a, ValueId b, const Operand& dst);
  /// Two small integers. What does not work that way is one of the other edges.
  ValueId of_small(Op op, ValueId a, ValueId b, std::vector<Incoming>* others);
  /// Two numbers one of which is a float, as a new term. Anything else is one of the other edges.
  ValueId of_floats(Op op, ValueId a, ValueId b, std::vector<Incoming>* others);
  /// Returns the number, unboxed. Other terms and large integers are other edges.
  ValueId as_float(ValueId v, std::vector<Incoming>* others);
  ValueId as_float(ValueId v);
  /// There is room for it.
  ValueId box(ValueId number);
  void arithmetic_of(const Part& p);
  void float_operation(const Part& p, Op op);

  // ---- Maps ----------------------------------------------------------------------------------

  /// The value of a key in what is a map, or 0.
  ValueId find_key(ValueId map, ValueId key);
  void get_map_element(ValueId map, ValueId key, const Operand& dst, const Word* fail);
  /// Fails as fail_to unless it is a map. Returns false if it can be none.
  bool require_map(ValueId map, const Operand& label);
  void map_get(const Part& p);
  void is_map_key(const Part& p);
  void map_size(const Part& p);
  void put_map(const Part& p);

  // ---- Guard built-ins -----------------------------------------------------------------------

  void length(const Part& p);
  void element_at(const Part& p);
  void extreme(const Part& p, bool least);
  void bool_not(const Part& p);
  void guard_bif(const Part& p, unsigned arity);
  void make_room_for_bif();
  void update_tuple(const Part& p);

  // ---- Terms ---------------------------------------------------------------------------------

  static constexpr Word kListTag = Term::kListTag, kBoxedTag = Term::kBoxedTag;
  ValueId load(ValueId from, Word tag, Word words, Type type = {});
  void elements(const Part& p, unsigned count);
  void put_tuple(std::span<const ValueId> values, const Operand& dst);
  void put_tuple_of(const Part& p, unsigned count);
  void get_list(const Part& p, bool tests);
  /// To the label if there is one; else the interpreter raises the exception.
  void fail_to(const Operand& label);
  void element(const Part& p);

  // ---- Bit strings ---------------------------------------------------------------------------

  static constexpr std::uint16_t kRaw = 0;  // the kinds of a word that is no term
  ValueId word_of(Op op, std::initializer_list<ValueId> args, Word imm = 0) {
    return emit(op, Type::of(kRaw), args, imm);
  }
  ValueId untagged(ValueId small) { return word_of(Op::kShift, {small}, Shift{0, 4, true, false}.imm()); }
  // Positions.
  void match_in(ValueId context);
  /// Stores the position in front of a part that does not take it from here, or to which something
  /// else leads as well.
  void settle_position(const Part& p);
  void store_position();
  void position_is_unknown();  // a function has moved it
  ValueId position(Word ahead);
  void advance(Word bits);
  void advance_by(ValueId bits, bool by_bytes);
  ValueId bits_left();
  void require_bits(Word bits, const Word* fail);
  bool suggests_aligned(std::size_t n) const;
  bool is_alone(std::size_t n) const;
  bool require_aligned(const Part& p);
  void note_alignment();
  void get_position(const Part& p);
  void set_position(const Part& p);

  // Fields.
  ValueId load_bytes(Word at, unsigned count, bool swaps);
  ValueId bytes_ahead(Word at, unsigned* count, bool swaps);
  ValueId bits_on_top(Word bits);
  ValueId bytes_anywhere(Word bits, bool is_signed);
  ValueId tagged_field(ValueId word, unsigned bytes, Word bit, Word bits, bool is_signed);
  ValueId small_field(const Part& p, Word bits, bool is_signed, bool is_little);
  void get_field(const Part& p, Word bits, Word flags);
  void match_bytes(const std::uint8_t* bytes, Word count, const Word* fail);
  void match_word(const Part& p);
  void match_string(const Part& p);
  void start_match(const Part& p);
  /// Behind so many bits there are whole units.
  void test_units_behind(Word bits, Word unit, const Word* fail);
  void test_tail(const Part& p);
  void ensure(const Part& p);
  ValueId bits_of_size(ValueId size, Word unit, const Word* fail);
  Word constant_bits(ValueId size, Word unit) const;
  void get_part(const Part& p);
  void get_rest(const Part& p);
  void skip(const Part& p);
  void get_integer(const Part& p);
  void get_float(const Part& p);
  void get_utf8(const Part& p);
  void get_character(const Part& p, const Callee& callee);

  // Guards.
  template <class Ask>
  void look_at_bits(ValueId v, std::vector<Incoming>* edges, const Operand& fail, Ask ask);
  void size_of_bits(ValueId v, const Operand& dst, const Operand& fail, const Callee& callee, unsigned shift);
  void test_binary(ValueId v, const Operand& fail);
  void test_bitstring(ValueId v, const Operand& fail);

  /// The bit string under construction (vm/code/construction.hpp).
  struct Construction {
    ValueId out = kNone;  // kNone: the top of the heap, behind a heap binary's size
    ValueId limit = kNone;
    ValueId pieces = kNone;
    // What is appended to: its original, the binary behind that, so many bytes of it are used, and
    // where `out` began.
    ValueId original = kNone, binary = kNone, used = kNone, begin = kNone;
  };
  void require_or_slow(const Part& p, Condition c, std::initializer_list<ValueId> args, Word imm = 0);
  void require_small_or_slow(const Part& p, ValueId v);
  ValueId out();
  void put(ValueId word, Field f);
  void put_number(const Part& p, ValueId v, Word at, Word bits);
  void put_piece(const Part& p, bool is_last);
  void put_float(const Part& p);
  void put_part(const Part& p);
  void put_utf8(const Part& p);
  void begin_append(const Part& p);
  void end_append(const Part& p);
  ValueId add_bits(ValueId before, ValueId small, Word bits);
  Word bits_to_append(const Part& p);
  ValueId append_bits(const Part& p, Word bits, std::vector<Incoming>* others);
  void create_binary(const Part& p);

  // ---- Calls ---------------------------------------------------------------------------------

  void call(const Part& p, unsigned arity, const Word* target, Word address_at, bool returns);
  /// frame: so many words of it are given back first.
  void call_fun(const Part& p, unsigned arity, ValueId fun, Word frame, bool returns);
  void call_bif(const Part& p);
  void apply(const Part& p, bool returns);

  // ---- Loops (build_loops.cpp) --------------------------------------------------------------

  struct Loop {
    BlockId head = kNone;
    std::vector<ValueId> params;
    std::vector<Type> types;     // what arguments of calls have to be
    std::vector<bool> is_float;  // they have to have been computed as floats
  };
  /// A last call of the function itself, whose arguments are in x registers. Returns false if it is
  /// a call like others.
  bool call_again();
  void jump_to_loop(const Loop& loop);
  void build_loop();
  /// Returns false if nothing is known that would make it worth it.
  bool build_loop_for(bool may_unbox, Loop* loop);
  void run_loop();
  void end_with_call(unsigned arity);

  // ---- Inlining (build_inlining.cpp) ---------------------------------------------------------

  struct Inlinable {
    std::shared_ptr<const FunctionCode> code;
    std::vector<RegisterSet> live;
  };
  /// Returns nullptr if it is not to be inlined.
  const Inlinable* inlinable(const Word* entry);
  const Inlinable* inlinable(const std::shared_ptr<const FunctionCode>& code);
  /// Returns false if there is no room for it. Else it counts as inlined.
  bool take_inlinable(const Inlinable& f);
  /// Returns false if it is not done.
  bool inline_call(const Part& p, const Word* target);
  void replace_call(const Part& p, const Inlinable& f, bool is_fun);
  /// A call of a fun of the module's own code, with as many arguments as it has parameters: goes on
  /// where none of those that have been seen here is called. Without a block no other is expected.
  void inline_funs(const Part& p, unsigned arity, ValueId fun, Word frame, bool returns);
  void inline_fun(const Part& p, const Inlinable& f, unsigned arity, ValueId fun, Word frame, bool returns);
  void begin_in_place(BlockId block, const State& at_call, const Word* return_to);
  /// Where an inlined call returns to, unless that is on the stack.
  static const Word* return_to(const InlinedCall* call, const State& s) {
    return call && !s.return_is_stored ? call->return_to : nullptr;
  }
  const Word* return_to() const { return return_to(inlined_, state_); }
  /// Puts it onto the stack.
  void store_return();
  void return_inlined();
  void need(Word words);

  // ---- Processes --------------------------------------------------------------------------------

  void send(const Part& p);
  void next_message(const Part& p);
  void start_timer(const Part& p);
  /// Where more is needed than a result, nothing returns: the call raises an exception.
  bool only_result_is_live(std::size_t part) const;

  const FunctionCode& code_;
  const std::vector<RegisterSet>& live_;
  Graph& g_;
  BlockId block_ = kNone;  // kNone: what follows is not reached from before
  State state_;
  std::array<ValueId, kMostX> start_x_;  // as the current instruction begins
  std::array<ValueId, kMostFloats> start_floats_;
  const Word* at_ = nullptr;
  std::size_t first_part_ = 0;
  const Word* start_return_ = nullptr;           // return_to() likewise
  ExitId exit_ = kNone, exit_of_guess_ = kNone;  // of the current instruction
  const Surroundings& around_;
  std::vector<Incoming> calls_again_;
  const Loop* loop_ = nullptr;                                             // the one whose code this is
  InlinedCall* inlined_ = nullptr;                                         // the call whose code this is
  bool is_last_ = false;                                                   // it is that of a last call
  bool is_fun_ = false;                                                    // it is that of a fun
  std::unordered_map<const Word*, std::unique_ptr<Inlinable>> inlinable_;  // by entry; nullptr: it is not
  std::size_t inlined_parts_ = 0;
  std::unordered_map<const Word*, std::vector<Incoming>> incoming_;
  std::unordered_set<const Word*> returns_to_, resumes_at_;
  std::unordered_map<const Word*, BlockId> loops_;  // where jumps back may go to: no register is needed
  std::unordered_map<Word, ValueId> constants_, numbers_;
  Construction built_;
};

}  // namespace vmrun::jit
