// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/specialiser.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "vm/code/walk.hpp"
#include "vm/hot/evaluator.hpp"
#include "vm/hot/writer.hpp"

namespace vmrun {
namespace {

using namespace x86;

constexpr unsigned kMostInstructions = 400;  // of the processor, on one way through a case
constexpr unsigned kMostBytes = 1 << 16;     // of a function's code
constexpr unsigned kDeepest = 24;            // ways to the side of ways to the side
constexpr unsigned kLongestSideWay = 48, kLongestWay = 300;

/// Where a case's code goes, as far as can be seen without following what is decided on the way.
class Ways {
 public:
  explicit Ways(const LoopCode& loop) : loop_(loop) {}

  /// To the end of the case, soon, and without a call but those that are often made.
  bool is_short(Bytes from) { return known(short_, from, kLongestSideWay, Calls::kOften); }
  /// To the end of the case.
  bool reaches_end(Bytes from, bool with_calls) {
    return with_calls ? known(long_, from, kLongestWay, Calls::kAny)
                      : known(without_calls_, from, kLongestWay, Calls::kOften);
  }

  static bool is_followed(const Instruction& in) {
    switch (in.head.meta.category) {
      case ZYDIS_CATEGORY_RET:
      case ZYDIS_CATEGORY_INTERRUPT:
      case ZYDIS_CATEGORY_SYSTEM: return false;
      default: break;
    }
    // A nop of one byte is where a probe fires: that must be where tracers know it.
    if (in.head.mnemonic == ZYDIS_MNEMONIC_NOP && in.head.length == 1) return false;
    return in.head.mnemonic != ZYDIS_MNEMONIC_UD2;
  }

 private:
  using Known = std::unordered_map<Bytes, bool>;
  enum class Calls { kOften, kAny };

  bool known(Known& all, Bytes from, unsigned most, Calls calls) {
    const auto [it, is_new] = all.try_emplace(from, false);
    if (is_new) it->second = look(from, most, calls);
    return it->second;
  }
  bool look(Bytes pc, unsigned most, Calls calls) const {
    int with_case = kNone;  // a register
    for (unsigned n = 0; n < most; ++n) {
      Instruction in;
      if (!decode(pc, &in)) return false;
      pc = in.next();
      if (in.is_call()) {
        if (calls == Calls::kOften && !is_often_called(in)) return false;
      } else if (in.is_jump()) {
        const ZydisDecodedOperand& to = in.operands[0];
        if (!in.is_direct())
          return is_dispatch(loop_, in) ||
                 (is_register(to) && with_case != kNone && general(to.reg.value) == with_case);
        // Round a loop: what ends it is somewhere.
        if (in.target() <= in.at && most == kLongestWay) return true;
        pc = in.target();
      } else if (!is_followed(in)) {
        return false;
      }
      if (const int r = register_with_case(loop_, in); r != kNone) with_case = r;
    }
    return false;
  }
  bool is_often_called(const Instruction& call) const {
    return call.is_direct() &&
           std::ranges::find(loop_.often_called, call.target()) != loop_.often_called.end();
  }

  const LoopCode& loop_;
  Known short_, long_, without_calls_;
};

/// Nobody looks at the flags there.
bool flags_are_dead(Bytes pc) {
  for (unsigned n = 0; n < 64; ++n) {
    Instruction in;
    if (!decode(pc, &in) || in.reads_flags()) return false;
    if (in.is_call() || in.writes_flags() || in.head.meta.category == ZYDIS_CATEGORY_RET) return true;
    if (in.is_jump() && !in.is_direct()) return true;
    pc = in.is_jump() ? in.target() : in.next();
  }
  return false;
}

bool writes(const Instruction& in, int r) {
  return std::any_of(in.operands, in.operands + in.head.operand_count, [r](const ZydisDecodedOperand& o) {
    return is_register(o) && x86::writes(o) && general(o.reg.value) == r;
  });
}

class Specialiser {
 public:
  Specialiser(const LoopCode& loop, const FunctionHeader& function, const Word* end, HotFunction* out)
      : loop_(loop),
        begin_(reinterpret_cast<const Word*>(&function)),
        entry_(function.entry()),
        end_(end),
        out_(*out),
        ways_(loop),
        evaluator_(loop, begin_, end),
        writer_(loop, evaluator_, *out) {}

  void run() {
    entries_.insert(entry_);
    each_instruction(entry_, end_, [&](const Word* at, const InstructionRow& row) {
      const Word* const next = next_instruction(at, row);
      if (row.flags & InstructionRow::kEntry && next < end_) entries_.insert(next);
    });
    wanted_ = entries_;
    while (!wanted_.empty()) straight_run(*wanted_.begin());
    for (const Word* e : entries_) out_.entries.push_back({e, places_.at(e)});
    for (const auto& [at, label] : jumps_) writer_.set_distance(at, places_.at(label));
  }

 private:
  enum class End { kFallsThrough, kEnded };

  /// Where code goes on, with what is known there.
  struct Joint {
    std::uint32_t place;
    State state;
  };
  static constexpr std::uint32_t kNowhere = ~0u;

  /// Beside the straight way: written behind it.
  struct SideWay {
    std::uint32_t jump;  // the distance in the jump that leads there
    Bytes pc;
    bool leaves;
    State state;
    CurrentInstruction current;
    unsigned depth;
  };

  const CurrentInstruction& current() const { return evaluator_.current; }

  // ---- Registers and labels ---------------------------------------------------------------------

  /// From one instruction to the next nothing is in these.
  void forget_scratch(State& s) const {
    for (int r = 0; r < kRegisters; ++r)
      if (loop_.scratch[r]) s.registers[r].forget();
  }
  /// As at a label: the address alone is known.
  State fresh(const Word* at) const {
    State s;
    Register& r = s.registers[loop_.at];
    r.set(reinterpret_cast<Word>(at), true);
    r.holds_known = true;
    r.holds = r.value;
    return s;
  }
  void put_distance_to_label(const Word* at) {
    if (!places_.contains(at)) wanted_.insert(at);
    jumps_.emplace_back(writer_.put_distance(), at);
  }
  void jump_to_label(const Word* at) {
    writer_.put({0xE9});
    put_distance_to_label(at);
  }
  void jump_to_place(std::uint32_t place) {
    writer_.put({0xE9});
    writer_.set_distance(writer_.put_distance(), place);
  }

  /// Makes the registers what they are at the joint; false: that cannot be.
  bool joins(State& s, const State& joint) {
    for (int r = 0; r < kRegisters; ++r) {
      const Register &mine = s.registers[r], &there = joint.registers[r];
      const bool same_value = mine.kind == there.kind && mine.value == there.value;
      const bool same_held =
          mine.holds_known == there.holds_known && (!there.holds_known || mine.holds == there.holds);
      if (there.waits() ? !(same_value && same_held) : there.known() && !same_value) return false;
    }
    for (int r = 0; r < kRegisters; ++r)
      if (!joint.registers[r].waits()) writer_.settle(s, r);
    return true;
  }

  // ---- Ways through a case ----------------------------------------------------------------------

  /// Goes on in the loop's own code.
  void leave(Bytes pc, State& s) {
    if (s.flags.kind != Flags::Kind::kReal && !flags_are_dead(pc)) throw GiveUp{};
    writer_.settle_all(s);
    writer_.jump_to(pc);
  }

  /// What has been gone through on a way, with the number of jumps decided until then.
  using Seen = std::unordered_map<Bytes, unsigned>;

  /// The way comes to where it has been, and nothing that is known ends that.
  struct BeginAgain {};
  void begin_again_with_loop(Bytes head) {
    if (loops_.emplace(std::pair(current().at, head), Joint{kNowhere, {}}).second) throw BeginAgain{};
  }
  /// At a loop's head. True: its code is there already, and that is where the way ends.
  bool enter_loop(Joint& head, Bytes pc, State& s) {
    if (s.flags.kind != Flags::Kind::kReal && !flags_are_dead(pc)) throw GiveUp{};
    if (head.place != kNowhere) {
      if (joins(s, head.state)) jump_to_place(head.place);
      else leave(pc, s);
      return true;
    }
    writer_.settle_all(s);
    // Of what may be another value when it comes round nothing is known.
    for (int r = 0; r < kRegisters; ++r)
      if (r != loop_.at) s.registers[r].forget();
    s.flags = {};
    head = {writer_.here(), s};
    return false;
  }

  void branch(const Instruction& in, const State& s, const Seen& seen, unsigned decided) {
    const Bytes to = in.target();
    if (const auto it = seen.find(to); it != seen.end() && (it->second == decided || depth_ >= kDeepest))
      begin_again_with_loop(to);
    const bool is_loop = loops_.contains({current().at, to});
    const bool leaves = !is_loop && (depth_ >= kDeepest || !ways_.is_short(to));
    writer_.put({0x0F, 0x80u | in.condition()});
    if (leaves && !s.any_waits()) return writer_.put_distance_to(to);
    side_ways_.push_back({writer_.put_distance(), to, leaves, s, current(), depth_ + 1});
  }

  End way(Bytes pc, State& s, bool to_the_side) {
    Seen seen;
    unsigned decided = 0;
    for (unsigned n = 0; n < kMostInstructions; ++n) {
      if (writer_.here() > kMostBytes) throw GiveUp{};
      Instruction in;
      if (!decode(pc, &in)) throw GiveUp{};
      if (const auto it = loops_.find({current().at, pc}); it != loops_.end()) {
        if (enter_loop(it->second, pc, s)) return End::kEnded;
      } else if (const auto [known, first] = seen.try_emplace(pc, decided);
                 !first && std::exchange(known->second, decided) == decided) {
        begin_again_with_loop(pc);
      }
      if (in.is_conditional_jump()) {
        if (!in.reads_flags()) throw GiveUp{};
        if (s.flags.kind == Flags::Kind::kKnown) {
          pc = s.flags.hold(in.condition()) ? in.target() : in.next();
          decided += s.flags.of_operands;  // a count up to a number in the loop's code is a loop like others
          continue;
        }
        branch(in, s, seen, decided);
      } else if (in.is_jump()) {
        if (is_dispatch(loop_, in) || jumps_to_case(in, s)) return end_of_case(s, to_the_side);
        if (!in.is_direct()) break;
        pc = in.target();
        continue;
      } else if (in.is_call()) {
        writer_.call(in, s);
      } else if (!Ways::is_followed(in) || writes(in, loop_.table)) {  // the loop goes on with another table
        break;
      } else {
        writer_.perform(in, s);
      }
      pc = in.next();
    }
    leave(pc, s);
    return End::kEnded;
  }

  static bool jumps_to_case(const Instruction& in, const State& s) {
    if (!is_register(in.operands[0])) return false;
    const auto kind = s.registers[general(in.operands[0].reg.value)].kind;
    return kind == Register::Kind::kCase || kind == Register::Kind::kSomeCase;
  }

  // ---- From one instruction to the next ---------------------------------------------------------

  End end_of_case(State& s, bool to_the_side) {
    forget_scratch(s);
    const Register& at = s.registers[loop_.at];
    if (!at.known()) {
      if (!select(s)) dispatch(s, nullptr);
      return End::kEnded;
    }
    const auto* const to = reinterpret_cast<const Word*>(at.value);
    const bool inside = to >= begin_ && to < end_;
    // A call of the function, or what follows a built-in function: somebody may be watching there
    // now.
    const bool may_be_changed = to == entry_ || (to == current().next && current().next_is_entry());
    if (!inside || may_be_changed) {
      dispatch(s, inside ? to : nullptr);
      return End::kEnded;
    }
    if (to == current().next && !to_the_side) return End::kFallsThrough;
    if (const auto joint = joints_.find(to); joint != joints_.end() && joins(s, joint->second.state)) {
      jump_to_place(joint->second.place);
      return End::kEnded;
    }
    writer_.settle_all(s);
    jump_to_label(to);
    return End::kEnded;
  }

  /// The jump to the next instruction's case, or, when that begins hot code, to that: here, if it
  /// is known.
  void dispatch(State& s, const Word* known) {
    writer_.settle_all(s);
    writer_.encode(
        request(ZYDIS_MNEMONIC_MOVZX, {in_register(half_register(kRax)), in_memory(loop_.at, 0, 2)}));
    writer_.encode(request(ZYDIS_MNEMONIC_CMP, {in_register(half_register(kRax)), constant(op::hot)}));
    if (known) {
      writer_.put({0x0F, 0x84});  // je
      put_distance_to_label(known);
    } else {
      writer_.put({0x0F, 0x85});  // jne
      const std::uint32_t over = writer_.put_distance();
      writer_.encode(request(ZYDIS_MNEMONIC_JMP, {in_memory(loop_.at, -8, 8)}));
      writer_.set_distance(over, writer_.here());
    }
    writer_.encode(request(ZYDIS_MNEMONIC_JMP, {element(loop_.table, kRax)}));
  }

  /// Where the current instruction may go on, when it selects one of many places by a computed
  /// index.
  std::vector<const Word*> selected() const {
    const Word* const at = current().at;
    std::set<const Word*> places;
    const auto add = [&](const Word* distance) { places.insert(at + static_cast<SWord>(*distance)); };
    const Word* list = at + current().row->words;
    switch (operation_at(at)) {
      case op::select_hash_x:
      case op::select_hash_y:  // value, distance
        for (; list < current().next; list += 2)
          if (list[0]) add(list + 1);
        break;
      case op::select_dense_x:
      case op::select_dense_y:
        for (; list < current().next; ++list) add(list);
        break;
      default: break;
    }
    return {places.begin(), places.end()};
  }
  /// The address has been computed: goes on where it says.
  bool select(State& s) {
    const std::vector<const Word*> places = selected();
    if (places.empty()) return false;
    writer_.settle_all(s);
    s.registers[kRax].set(-reinterpret_cast<Word>(current().at), true);
    writer_.settle(s, kRax);
    const auto rcx = in_register(whole_register(kRcx));
    writer_.encode(request(ZYDIS_MNEMONIC_MOV, {rcx, in_register(whole_register(loop_.at))}));
    writer_.encode(request(ZYDIS_MNEMONIC_ADD, {rcx, in_register(whole_register(kRax))}));
    find_place(places);
    return true;
  }
  /// The distance is in rcx; the places are in order.
  void find_place(std::span<const Word* const> places) {
    if (places.size() == 1) return jump_to_label(places[0]);
    const std::size_t half = places.size() / 2;
    const auto distance =
        static_cast<SWord>(reinterpret_cast<Word>(places[half]) - reinterpret_cast<Word>(current().at));
    writer_.encode(request(ZYDIS_MNEMONIC_CMP, {in_register(whole_register(kRcx)), constant(distance)}));
    writer_.put({0x0F, 0x8D});  // jge
    const std::uint32_t upper = writer_.put_distance();
    find_place(places.first(half));
    writer_.set_distance(upper, writer_.here());
    find_place(places.subspan(half));
  }

  // ---- Instructions -----------------------------------------------------------------------------

  /// The instructions from there on, as long as one falls through to the next.
  void straight_run(const Word* at) {
    State s = fresh(at);
    for (bool at_label = true;; at_label = false) {
      if (!at_label && places_.contains(at)) {
        writer_.settle_all(s);
        jump_to_label(at);
        break;
      }
      if (!at_label && wanted_.contains(at)) {
        writer_.settle_all(s);
        s = fresh(at);
        at_label = true;
      }
      if (at_label) place_label(at);
      const InstructionRow& row = op::kInstructions[operation_at(at)];
      evaluator_.current = {at, next_instruction(at, row), &row};
      depth_ = 0;
      out_.places.push_back({at, writer_.here()});
      if (with_loops([&] { return instruction(s); }, s) == End::kEnded) break;
      at = current().next;
      if (at >= end_) throw GiveUp{};
      joints_[at] = {writer_.here(), s};
    }
    while (!side_ways_.empty()) {
      SideWay w = side_ways_.back();
      side_ways_.pop_back();
      writer_.set_distance(w.jump, writer_.here());
      evaluator_.current = w.current;
      depth_ = w.depth;
      out_.places.push_back({w.current.at, writer_.here()});
      if (w.leaves) leave(w.pc, w.state);
      else (void)with_loops([&] { return way(w.pc, w.state, true); }, w.state);
    }
  }

  /// In front of an entry stands the operation in whose place `hot` is (operation_as_it_was), in
  /// `nopl operation(%rax); nop` for who takes the code apart.
  void place_label(const Word* at) {
    if (entries_.contains(at)) {
      while (writer_.here() % 16 != 8) writer_.put({0xCC});
      const unsigned operation = operation_at(at);
      writer_.put({0x0F, 0x1F, 0x80, operation & 255, operation >> 8, 0, 0, 0x90});
    }
    wanted_.erase(at);
    places_[at] = writer_.here();
  }

  /// Does it, and again from the beginning as often as it finds a loop.
  template <class Do>
  End with_loops(Do go, State& s) {
    const State before = s;
    const Writer::Mark mark = writer_.mark();
    const std::size_t jumps = jumps_.size(), side_ways = side_ways_.size();
    for (;;) {
      try {
        return go();
      } catch (const BeginAgain&) {
        s = before;
        writer_.take_back(mark);
        jumps_.resize(jumps);
        side_ways_.erase(side_ways_.begin() + static_cast<std::ptrdiff_t>(side_ways), side_ways_.end());
        for (auto& [key, head] : loops_)
          if (head.place >= mark.code) head.place = kNowhere;
      }
    }
  }

  End instruction(State& s) {
    const auto* const code = static_cast<Bytes>(loop_.cases[operation_at(current().at)]);
    if (is_worth_it(code)) return way(code, s, false);
    forget_scratch(s);
    leave(code, s);
    return End::kEnded;
  }
  /// Not what leads elsewhere at once, and not what is there to raise an exception.
  bool is_worth_it(Bytes code) {
    using R = InstructionRow;
    Instruction in;
    if (!decode(code, &in) || (in.is_jump() && in.is_direct())) return false;
    const bool raises =
        current().at == begin_ ||
        (current().row->flags & (R::kEnds | R::kRaises | R::kEntry)) == (R::kEnds | R::kRaises);
    return ways_.reaches_end(code, !raises);
  }

  const LoopCode& loop_;
  const Word *const begin_, *const entry_, *const end_;
  HotFunction& out_;
  Ways ways_;
  Evaluator evaluator_;
  Writer writer_;
  std::map<const Word*, std::uint32_t> places_;  // of labels
  std::set<const Word*> entries_, wanted_;       // of those to come
  std::vector<std::pair<std::uint32_t, const Word*>> jumps_;
  std::unordered_map<const Word*, Joint> joints_;         // where a straight way went on
  std::map<std::pair<const Word*, Bytes>, Joint> loops_;  // by instruction and head
  std::vector<SideWay> side_ways_;
  unsigned depth_ = 0;
};

}  // namespace

bool specialise(const LoopCode& loop, const FunctionHeader& function, const Word* end, HotFunction* out) {
  try {
    Specialiser(loop, function, end, out).run();
    return true;
  } catch (const GiveUp&) {
    return false;
  }
}

}  // namespace vmrun
