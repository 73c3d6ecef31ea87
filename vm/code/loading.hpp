// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "vm/code/emitter.hpp"
#include "vm/code/limits.hpp"
#include "vm/code/line_breakpoints.hpp"
#include "vm/code/loader.hpp"
#include "vm/code/opcodes_generated.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/term/arith.hpp"

/// The inside of the loader: one pass over the generic instructions of a file that emits the
/// machine's own. Fused tests and neighbouring element fetches look ahead at the next generic
/// instructions, only while no label lies between. Everything that running code relies on is
/// checked here or in beam_file.cpp. Used by one thread, once for each module.
namespace vmrun {

using op::Family;

inline constexpr Word kReserve = kStackReserveWords;
inline constexpr Word kScratch = kMaxXRegisters;  // an x register behind those that code may name

class Loader {
 public:
  struct Operator;  // loader_tests.cpp

  Loader(const BeamFile& file, Module* module, BeamError* error)
      : f_(file),
        m_(*module),
        error_(error),
        e_(file.label_count, file.code.size()),
        entries_(file.label_count, kNoEntry) {}

  bool load() {
    m_.name = f_.module;
    if (const CoverageMode mode = mode_of_coverage(); mode != CoverageMode::kNone) {
      m_.coverage = std::make_unique<Coverage>();
      m_.coverage->mode = mode;
    }
    m_.takes_line_breakpoints = wants_line_breakpoints();
    m_.strings.assign(reinterpret_cast<const char*>(f_.strings.data), f_.strings.size);
    return find_entries() && loops_are_counted() && decode_literals() && make_funs() && translate() &&
           finish();
  }

 private:
  static constexpr std::uint16_t kNoEntry = 0xFFFF;

  /// OTP's cover has its modules count lines whatever the mode of the machine is. Lines cannot be
  /// counted where the compiler marked none.
  CoverageMode mode_of_coverage() const {
    if (f_.forces_line_counters) return CoverageMode::kLineCounters;
    const CoverageMode mode = coverage_mode.load(std::memory_order_relaxed);
    return mode >= CoverageMode::kLine && !f_.has_executable_lines ? CoverageMode::kNone : mode;
  }

  bool fail(const std::string& what) {
    if (error_->message.empty()) {
      error_->message = at_ < f_.code.size()
                            ? std::string(generic::kOpcodes[f_.code[at_].opcode].name) + ": " + what
                            : what;
      error_->offset = at_ < f_.code.size() ? f_.code[at_].offset : 0;
    }
    return false;
  }

  // ---- Operands ----

  Term constant(const Arg& a) const { return a.kind == Arg::Kind::kLiteral ? literals_[a.value] : a.term(); }
  Operand operand(const Arg& a) const {
    switch (a.kind) {
      case Arg::Kind::kX: return Operand::x(a.value);
      case Arg::Kind::kY: return Operand::y(a.value);
      case Arg::Kind::kFloatReg: return {Operand::Kind::kFloat, a.value};
      case Arg::Kind::kLabel: return Operand::label(a.value);
      case Arg::Kind::kUnsigned: return Operand::number(a.value);
      default: return Operand::constant(constant(a));
    }
  }
  Word any(const Arg& a) const {
    const Operand o = operand(a);
    return o.kind == Operand::Kind::kX   ? encode_any_x(o.value)
           : o.kind == Operand::Kind::kY ? encode_any_y(o.value)
                                         : o.value;
  }
  static bool is_source(const Arg& a) {
    return a.is_x() || a.is_y() || a.is_const() || a.kind == Arg::Kind::kLiteral;
  }
  static bool is_register(const Arg& a) { return a.is_x() || a.is_y(); }

  /// Puts a source into a register where the instruction needs one: constants go through a scratch
  /// register.
  Operand in_register(const Arg& a) {
    if (is_register(a)) return operand(a);
    e_.emit(Family::move, {operand(a), Operand::x(kScratch)});
    return Operand::x(kScratch);
  }

  static Word heap_words(const Arg& a) {
    if (a.kind != Arg::Kind::kAlloc) return a.value;
    return (a.value & 0xFFFFFFFF) + 2 * (a.value >> 32) + 5 * Word{a.count};
  }
  static Operand need(Word words) {
    return Operand::number((words + kReserve) | (gc_modes.collect_always ? kNeedAlways : 0));
  }
  static Operand number(Word n) { return Operand::number(n); }

  const Arg* members(const Arg& list) const { return f_.extra.data() + list.value; }

  const Arg* next_args(std::uint8_t opcode) const {  // the next instruction's operands, if it is that one
    if (at_ + 1 >= f_.code.size() || f_.code[at_ + 1].opcode != opcode) return nullptr;
    return f_.args(f_.code[at_ + 1]);
  }

  // ---- Before the code (loader.cpp) ----

  bool find_entries();
  bool loops_are_counted();  // loader_loops.cpp
  bool decode_literals();
  static bool decode(Heap& heap, const BeamFile::Bytes& bytes, Term* out);
  bool debug_info(Heap& heap, Term* out);  // loader_debug.cpp
  bool make_funs();
  bool make_records(Heap& heap);

  // ---- For a debugger (loader_debug.cpp) ----

  bool debug_variables(Heap& heap, const Arg& list, Term* out);
  bool debug_calls(Heap& heap, const Arg& list, Term* out);

  // ---- Functions and calls (loader.cpp) ----

  bool callee(const Arg& label, Word arity);
  Export* import(Word index);
  /// tail: whether it is a tail call, for which the frame is dropped first (slots may be 0).
  bool call_external(const Arg* a, bool tail, Word slots);
  /// call_fun followed by deallocate and return is a tail call.
  bool call_fun(Word arity, Operand fun);
  bool allocate(Word slots, Word heap, Word live);

  // ---- Guards, tests and switches (loader_tests.cpp) ----

  bool bif(Word fail_label, bool collects, Word live, Word index, const Arg* a, unsigned count,
           const Arg& dst);
  ValueType type_of(const Arg& a) const;
  bool small_arithmetic(const Operator& o, const Arg* a, Operand x, Operand y, Operand d);
  bool arithmetic(const Operator& o, const Arg* a, Operand d, Word live, Operand f);
  bool element(const Arg* a, Operand d, Operand f, Operand target);
  bool type_test(Family family, const Arg* a);
  static Word tuple_header(Word arity);
  bool comparison(Family family, const Arg* a);
  struct Choice {
    Word value;
    Word label;
  };
  bool choices(const Arg& list, std::vector<Choice>* out, std::vector<Choice>* boxed);
  static constexpr std::size_t kMostInLine = 4;
  bool select_val(const Arg* a);
  bool hashed(const std::vector<Choice>& c, Operand src, Operand otherwise);
  bool dense(std::vector<Choice>& c, unsigned step, Operand src, Operand otherwise, bool smalls);
  bool select_tuple_arity(const Arg* a);
  bool nonempty_list(const Arg* a);
  bool is_tuple(const Arg* a);

  // ---- Building (loader_build.cpp) ----

  bool tuple(const Arg& dst, const Arg& list);
  bool tuple_elements(const Arg* a);
  bool make_fun(Word index, const Arg& dst, const Arg& list);
  bool update_record(const Arg* a);
  void map_element(Operand map, Operand key, Operand dst, Operand otherwise);
  bool map_elements(const Arg* a);
  bool map_fields(const Arg* a);
  bool put_map(const Arg* a, bool exact);

  // ---- Native records (loader_records.cpp) ----

  bool record_instruction(std::uint8_t opcode, const Arg* a);
  Term record_entry(Term name) const;
  bool record_pairs(const Arg& list, bool are_sources, std::vector<ListWord>* words);
  bool get_record_elements(const Arg* a);
  bool put_record(const Arg* a);
  bool make_record(Term entry, const Arg* a);

  // ---- Tuples copied but for some elements (loader_update.cpp) ----

  struct Fetches;
  bool needed(Word x, std::size_t from) const;
  bool copied_tuple(const Arg* a);

  // ---- Bit strings (loader_bits.cpp) ----

  static constexpr Word kContextWords = 5;
  /// For an instruction that does not collect: the match context in an x register.
  Operand context(Operand ctx) {
    if (ctx.kind != Operand::Kind::kY) return ctx;
    e_.emit(Family::move, {ctx, Operand::x(kScratch)});
    return Operand::x(kScratch);
  }
  bool string_at(Word offset, Word bytes, const char** out);
  static bool constant_bits(const Operand& size, Word unit, Word* bits);
  void get_integer(Operand ctx, Operand size, Word unit, Word flags, Operand dst, Word live,
                   Operand otherwise);
  void get_binary(Operand ctx, Operand size, Word unit, Operand dst, Word live, Operand otherwise);
  void skip(Operand ctx, Operand size, Word unit, Operand otherwise);
  void test_unit(Operand ctx, Word unit, Operand otherwise);
  bool bs_match(const Arg* a);
  bool flag_list(const Arg& a, Word* flags);
  static void add_segment(std::vector<ListWord>* segments, BinarySegment type, Word flags, Word unit,
                          Word position, Word source, Word size);
  bool create_bin(const Arg* a);

  // ---- Construction by segments (loader_construct.cpp) ----

  class Construction;
  void construct(Operand dst, Word live, Word words, Operand otherwise,
                 const std::vector<ListWord>& segments);

  // ---- Instructions of older compilers (loader_old.cpp) ----

  bool old_instruction(std::uint8_t opcode, const Arg* a);
  bool old_segment(std::uint8_t opcode, const Arg* a, std::vector<ListWord>* segments);
  bool old_construction(const Arg& fail_label, Word words, Word live, const Arg& dst,
                        std::vector<ListWord> segments);
  bool old_fun(Word index);

  bool bits_instruction(std::uint8_t opcode, const Arg* a);

  // ---- The pass (loader.cpp) ----

  bool translate();
  // Each of these passes on what it does not know; old_instruction is the last.
  bool instruction(std::uint8_t opcode, const Arg* a);
  bool function_instruction(std::uint8_t opcode, const Arg* a);
  void lead_to_built_in();
  void count_execution();
  bool count_line(const Arg* a);
  bool debug_line(const Arg* a);  // loader_debug.cpp
  bool data_instruction(std::uint8_t opcode, const Arg* a);
  bool is_entered() const;
  /// Whether no instruction stands between that label and this one.
  bool begins_here(const Arg& label) const;
  bool wait_timeout(const Arg& label, const Arg& timeout);
  bool move_float(const Arg* a);
  bool clear_slots(Word slots);
  bool init_yregs(const Arg& list);
  bool finish();

  const BeamFile& f_;
  Module& m_;
  BeamError* error_;
  Emitter e_;
  std::vector<std::uint16_t> entries_;  // by label: arity of the function that begins there
  std::vector<Word> functions_;         // labels of entries, in order
  std::vector<Term> literals_;
  std::size_t at_ = 0;
  Word on_load_ = 0;
  std::vector<Module::LineBreakpoint> breakpoints_;  // word: number of the instruction
  std::vector<Word> native_;                         // labels of functions that begin with nif_start
};

}  // namespace vmrun
