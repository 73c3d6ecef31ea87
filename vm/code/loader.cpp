#include "vm/code/loader.hpp"

#include <algorithm>
#include <cstring>

#include "vm/code/emitter.hpp"
#include "vm/code/limits.hpp"
#include "vm/code/opcodes_generated.hpp"
#include "vm/code/support.hpp"
#include "vm/heap/gc.hpp"
#include "vm/heap/literal.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/map.hpp"

// One pass over the generic instructions of a file, emitting the machine's own. What looks ahead (fused tests, neighbouring element fetches) looks at the
// next generic instructions only while no label lies between. Everything running code relies on is checked here or in beam_file.cpp.
namespace vmrun {
namespace {

using op::Family;

struct GuardBif { const char* name; unsigned arity; Family family; bool register_only; };
// Built-ins with an instruction of their own: operands are source(s), destination, failure label and the export for messages.
const GuardBif kInlineBifs[] = {
    {"hd", 1, Family::hd, true},                 {"tl", 1, Family::tl, true},
    {"tuple_size", 1, Family::tuple_size, true}, {"byte_size", 1, Family::byte_size, true},
    {"length", 1, Family::length, true},         {"map_size", 1, Family::map_size, true},
    {"not", 1, Family::bool_not, false},             {"map_get", 2, Family::map_get, false},
    {"is_map_key", 2, Family::is_map_key, false},
};

struct Comparison { const char* name; unsigned mask; };  // as compare_value's mask
const Comparison kComparisons[] = {{"<", 1}, {"=<", 3}, {"==", 2}, {"/=", 5}, {">=", 6}, {">", 4}};

struct Operator { const char* name; unsigned arity; ArithOp op; Family family; bool commutes; };
const Operator kOperators[] = {
    {"+", 2, ArithOp::kAdd, Family::plus, true},      {"-", 2, ArithOp::kSubtract, Family::minus, false}, {"*", 2, ArithOp::kMultiply, Family::times, true},
    {"div", 2, ArithOp::kDiv, Family::int_div, false}, {"rem", 2, ArithOp::kRem, Family::int_rem, false},  {"band", 2, ArithOp::kBand, Family::band, true},
    {"bor", 2, ArithOp::kBor, Family::bor, true},      {"bxor", 2, ArithOp::kBxor, Family::bxor, true},    {"bsl", 2, ArithOp::kBsl, Family::bsl, false},
    {"bsr", 2, ArithOp::kBsr, Family::bsr, false},     {"/", 2, ArithOp::kDivide, Family::arith, false},   {"-", 1, ArithOp::kNegate, Family::arith, false},
    {"+", 1, ArithOp::kPlus, Family::arith, false},    {"bnot", 1, ArithOp::kBnot, Family::arith, false},
};

struct TypeTest { std::uint8_t opcode; Family family; };
const TypeTest kTypeTests[] = {
    {generic::k_is_integer, Family::is_integer}, {generic::k_is_float, Family::is_float},     {generic::k_is_number, Family::is_number},
    {generic::k_is_atom, Family::is_atom},       {generic::k_is_pid, Family::is_pid},         {generic::k_is_reference, Family::is_reference},
    {generic::k_is_port, Family::is_port},       {generic::k_is_nil, Family::is_nil},         {generic::k_is_binary, Family::is_binary},
    {generic::k_is_list, Family::is_list},       {generic::k_is_nonempty_list, Family::is_nonempty_list}, {generic::k_is_tuple, Family::is_tuple},
    {generic::k_is_function, Family::is_function}, {generic::k_is_boolean, Family::is_boolean}, {generic::k_is_bitstr, Family::is_bitstr},
    {generic::k_is_map, Family::is_map},
};

constexpr Word kReserve = kStackReserveWords;
constexpr Word kScratch = kMaxXRegisters;  // x register behind those code may name

class Loader {
 public:
  Loader(const BeamFile& file, Module* module, BeamError* error)
      : f_(file), m_(*module), error_(error), e_(file.label_count), entries_(file.label_count, kNoEntry) {}

  bool load() {
    m_.name = f_.module;
    m_.strings.assign(reinterpret_cast<const char*>(f_.strings.data), f_.strings.size);
    return find_entries() && decode_literals() && make_funs() && translate() && finish();
  }

 private:
  static constexpr std::uint16_t kNoEntry = 0xFFFF;

  bool fail(const std::string& what) {
    if (error_->message.empty()) {
      error_->message = at_ < f_.code.size() ? std::string(generic::kOpcodes[f_.code[at_].opcode].name) + ": " + what : what;
      error_->offset = at_ < f_.code.size() ? f_.code[at_].offset : 0;
    }
    return false;
  }

  // ---- Before the code ----

  bool find_entries() {
    for (at_ = 0; at_ + 1 < f_.code.size(); at_++) {
      const GenericInstruction& i = f_.code[at_];
      if (i.opcode != generic::k_func_info) continue;
      const Arg* a = f_.args(i);
      if (a[0].term() != f_.module) return fail("a function of another module");
      if (a[2].value > 255) return fail("arity " + std::to_string(a[2].value));
      if (f_.code[at_ + 1].opcode != generic::k_label) return fail("no label follows");
      entries_[f_.args(f_.code[at_ + 1])->value] = static_cast<std::uint16_t>(a[2].value);
    }
    return true;
  }

  bool decode_literals() {
    at_ = f_.code.size();
    for (std::size_t i = 0; i < f_.literals.size(); i++) {
      Term t;
      if (!decode(f_.literals[i], &t)) return fail("literal " + std::to_string(i) + " is no external term");
      literals_.push_back(t);
    }
    Term nothing = Term::nil();
    m_.attributes = m_.compile_info = nothing;
    if (f_.attributes.size && !decode(f_.attributes, &m_.attributes)) return fail("chunk Attr is no external term");
    if (f_.compile_info.size && !decode(f_.compile_info, &m_.compile_info)) return fail("chunk CInf is no external term");
    return true;
  }

  bool decode(const BeamFile::Bytes& bytes, Term* out) {
    Arena arena;
    const Decoded d = decode_external(arena, bytes.data, bytes.size);
    if (!d.term.is_value()) return false;
    *out = make_literal(d.term);
    return true;
  }

  bool make_funs() {
    for (const BeamFile::Lambda& l : f_.lambdas) {
      if (entries_[l.label] != l.arity) return fail("fun " + std::to_string(l.index) + " does not lead to a function of its arity");
      FunEntry* entry = fun_entry(f_.module, f_.md5, l.index, l.old_uniq, l.arity - l.free_count, l.free_count);
      entry->function = l.name;
      m_.funs.push_back(entry);
    }
    return true;
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
    return o.kind == Operand::Kind::kX ? encode_any_x(o.value) : o.kind == Operand::Kind::kY ? encode_any_y(o.value) : o.value;
  }
  static bool is_source(const Arg& a) { return a.is_x() || a.is_y() || a.is_const() || a.kind == Arg::Kind::kLiteral; }
  static bool is_register(const Arg& a) { return a.is_x() || a.is_y(); }

  /// A source that must be a register for the instruction: constants go through a scratch register.
  Operand in_register(const Arg& a) {
    if (is_register(a)) return operand(a);
    e_.emit(Family::move, {operand(a), Operand::x(kScratch)});
    return Operand::x(kScratch);
  }

  static Word heap_words(const Arg& a) {
    if (a.kind != Arg::Kind::kAlloc) return a.value;
    return a.value + 2 * (a.count >> 32) + 5 * (a.count & 0xFFFFFFFF);
  }
  static Operand need(Word words) {
    return Operand::number((words + kReserve) | (gc_modes.collect_always ? kNeedAlways : 0));
  }
  static Operand number(Word n) { return Operand::number(n); }

  const Arg* members(const Arg& list) const { return f_.extra.data() + list.value; }

  const Arg* next_args(std::uint8_t opcode) const {  // operands of the next instruction if it is that one
    if (at_ + 1 >= f_.code.size() || f_.code[at_ + 1].opcode != opcode) return nullptr;
    return f_.args(f_.code[at_ + 1]);
  }

  // ---- Functions and calls ----

  bool callee(const Arg& label, Word arity) {
    return entries_[label.value] == arity || fail("label " + std::to_string(label.value) + " is no function of arity " + std::to_string(arity));
  }

  Export* import(Word index) {
    if (index >= f_.imports.size()) {
      fail("import " + std::to_string(index) + " does not exist");
      return nullptr;
    }
    const BeamFile::Import& i = f_.imports[index];
    return export_entry(i.module, i.function, i.arity);
  }

  /// tail: 0 not; else the frame is dropped first (slots may be 0).
  bool call_external(const Arg* a, bool tail, Word slots) {
    Export* e = import(a[1].value);
    if (!e) return false;
    if (e->arity != a[0].value) return fail("arity differs from the import's");
    if (e->bif) {
      e_.emit(Family::call_bif, {Operand::pointer(e), number(e->arity), Operand::pointer(reinterpret_cast<const void*>(e->bif))});
      if (tail) {
        if (slots) e_.emit(Family::deallocate, {number(slots)});
        e_.emit(Family::return_, {});
      }
      return true;
    }
    if (!tail) {
      e_.emit(Family::call_ext, {Operand::pointer(e)});
      return true;
    }
    if (slots) e_.emit(Family::deallocate, {number(slots)});
    e_.emit(Family::call_ext_only, {Operand::pointer(e)});
    return true;
  }

  /// call_fun followed by deallocate and return is a tail call.
  bool call_fun(Word arity, Operand fun) {
    std::size_t k = at_ + 1;
    Word slots = 0;
    if (fun.kind != Operand::Kind::kY) {  // the frame may be dropped without losing the fun
      if (k < f_.code.size() && f_.code[k].opcode == generic::k_deallocate) slots = f_.args(f_.code[k++])->value;
      if (k < f_.code.size() && f_.code[k].opcode == generic::k_return) {
        e_.emit(Family::call_fun_last, {number(arity), fun, number(slots)});
        at_ = k;
        return true;
      }
    }
    e_.emit(Family::call_fun, {number(arity), fun});
    return true;
  }

  bool allocate(Word slots, Word heap, Word live) {
    e_.emit(Family::allocate, {number(slots), number(live), need(slots + heap)});
    return true;
  }

  // ---- Built-ins in guards and expressions ----

  bool bif(Word fail_label, bool collects, Word live, Word index, const Arg* a, unsigned count, const Arg& dst) {
    Export* e = import(index);
    if (!e) return false;
    if (e->arity != count) return fail("arity differs from the import's");
    const Operand f = Operand::label(fail_label), d = operand(dst), target = Operand::pointer(e);
    const std::string_view name = atom_text(e->function);
    if (e->module == atoms::erlang) {
      for (const Operator& o : kOperators)
        if (o.arity == count && name == o.name) return arithmetic(o, a, d, live, f);
      if (count == 0 && name == "self") return e_.emit(Family::self, {d}), true;
      if (count == 1 && name == "abs" && collects && e->bif) return e_.emit(Family::abs, {in_register(a[0]), d, number(live), f, target}), true;
      if (count == 2 && name == "element") return element(a, d, f, target);
      if (count == 2 && (name == "=:=" || name == "=/=")) {
        e_.emit(Family::eq_exact_value, {operand(a[0]), operand(a[1]), d});
        if (name == "=/=") e_.emit(Family::bool_not, {d, d, Operand::label(0), target});
        return true;
      }
      for (const Comparison& c : kComparisons)
        if (count == 2 && name == c.name) return e_.emit(Family::compare_value, {number(c.mask), operand(a[0]), operand(a[1]), d}), true;
      for (const GuardBif& g : kInlineBifs) {
        if (g.arity != count || name != g.name) continue;
        if (count == 1) e_.emit(g.family, {g.register_only ? in_register(a[0]) : operand(a[0]), d, f, target});
        else e_.emit(g.family, {operand(a[0]), operand(a[1]), d, f, target});
        return true;
      }
    }
    const BifFn fn = e->bif ? e->bif : undefined_guard_bif;
    const Operand function = Operand::pointer(reinterpret_cast<const void*>(fn));
    if (collects) e_.emit(Family::gc_bif_check, {number(live)});
    switch (count) {
      case 0: e_.emit(Family::guard_bif0, {function, d, target}); break;
      case 1: e_.emit(Family::guard_bif1, {function, operand(a[0]), d, f, target}); break;
      case 2: e_.emit(Family::guard_bif2, {function, operand(a[0]), operand(a[1]), d, f, target}); break;
      default: e_.emit(Family::guard_bif3, {function, operand(a[0]), operand(a[1]), operand(a[2]), d, f, target});
    }
    return true;
  }

  bool arithmetic(const Operator& o, const Arg* a, Operand d, Word live, Operand f) {
    Operand x = operand(a[0]), y = o.arity == 2 ? operand(a[1]) : Operand::constant(Term::small(0));
    if (o.commutes && x.is_const()) std::swap(x, y);
    if (o.family != Family::arith && e_.can_emit(o.family, {x, y, d, number(live), f})) e_.emit(o.family, {x, y, d, number(live), f});
    else e_.emit(Family::arith, {number(static_cast<Word>(o.op)), x, y, d, number(live), f});
    return true;
  }

  bool element(const Arg* a, Operand d, Operand f, Operand target) {
    const Operand index = operand(a[0]);
    const Term n = Term::from_raw(index.value);
    if (index.is_const() && n.is_small() && n.small_value() > 0 && n.small_value() <= 0xFFFF) {
      e_.emit(Family::element, {number(static_cast<Word>(n.small_value())), in_register(a[1]), d, f, target});
    } else if (index.is_const() && !is_register(a[1])) {
      return fail("element of two constants");
    } else {
      const Operand tuple = is_register(a[1]) ? operand(a[1]) : in_register(a[1]);
      e_.emit(Family::element_var, {index.is_const() ? in_register(a[0]) : index, tuple, d, f, target});
    }
    return true;
  }

  // ---- Tests and switches ----

  bool type_test(Family family, const Arg* a) {
    e_.emit(family, {in_register(a[1]), operand(a[0])});
    return true;
  }

  static Word tuple_header(Word arity) { return Term::header(Term::Sub::kTuple, arity).raw(); }

  bool comparison(Family family, const Arg* a) {
    const bool commutes = family == Family::is_eq_exact || family == Family::is_ne_exact;
    Operand x = operand(a[1]), y = operand(a[2]);
    if (commutes && x.is_const()) std::swap(x, y);
    e_.emit(family, {x, y, operand(a[0])});
    return true;
  }

  struct Choice { Word value; Word label; };

  bool choices(const Arg& list, std::vector<Choice>* out, std::vector<Choice>* boxed) {
    const Arg* a = members(list);
    if (list.count % 2) return fail("odd list");
    for (Word i = 0; i < list.count; i += 2) {
      if (!is_source(a[i]) || is_register(a[i]) || a[i + 1].kind != Arg::Kind::kLabel || a[i + 1].value == 0) return fail("bad pair in the list");
      const Term t = constant(a[i]);
      (t.is_immed() ? out : boxed)->push_back({t.raw(), a[i + 1].value});
    }
    return true;
  }

  bool select_val(const Arg* a) {
    std::vector<Choice> c, boxed;
    if (!choices(a[2], &c, &boxed)) return false;
    const Operand src = in_register(a[0]), otherwise = operand(a[1]);
    for (const Choice& b : boxed) {  // big integers and the like, compared one by one
      e_.emit(Family::is_ne_exact, {src, Operand::constant(Term::from_raw(b.value)), Operand::label(b.label)});
    }
    if (c.empty()) return e_.emit(Family::jump, {otherwise}), true;
    std::sort(c.begin(), c.end(), [](const Choice& x, const Choice& y) { return x.value < y.value; });
    c.erase(std::unique(c.begin(), c.end(), [](const Choice& x, const Choice& y) { return x.value == y.value; }), c.end());
    const bool smalls = std::all_of(c.begin(), c.end(), [](const Choice& x) { return Term::from_raw(x.value).is_small(); });
    const bool atoms = std::all_of(c.begin(), c.end(), [](const Choice& x) { return Term::from_raw(x.value).is_atom(); });
    if (c.size() >= 4 && (smalls || atoms) && dense(c, smalls ? 4 : 6, src, otherwise, smalls)) return true;
    if (c.size() == 1) {
      e_.emit(Family::is_eq_exact, {src, Operand::constant(Term::from_raw(c[0].value)), otherwise});
      e_.emit(Family::jump, {Operand::label(c[0].label)});
      return true;
    }
    std::vector<ListWord> list;
    for (const Choice& x : c) {
      list.push_back({x.value});
      list.push_back({x.label, true});
    }
    e_.emit(c.size() <= 8 ? Family::select_linear : Family::select_binary, {src, otherwise}, list);
    return true;
  }

  bool dense(std::vector<Choice>& c, unsigned step, Operand src, Operand otherwise, bool smalls) {
    if (smalls)  // negative numbers are the largest words
      std::sort(c.begin(), c.end(), [](const Choice& x, const Choice& y) { return static_cast<SWord>(x.value) < static_cast<SWord>(y.value); });
    const Word span = ((c.back().value - c.front().value) >> step) + 1;
    const bool good = span <= 2 * c.size() + 2;
    if (good) {
      std::vector<ListWord> table(span, ListWord{otherwise.value, true});
      for (const Choice& x : c) table[(x.value - c.front().value) >> step] = {x.label, true};
      e_.emit(Family::select_dense, {src, number(step), otherwise, number(c.front().value)}, table);
    }
    if (smalls) std::sort(c.begin(), c.end(), [](const Choice& x, const Choice& y) { return x.value < y.value; });
    return good;
  }

  bool select_tuple_arity(const Arg* a) {
    std::vector<ListWord> list;
    const Arg* m = members(a[2]);
    if (a[2].count % 2) return fail("odd list");
    for (Word i = 0; i < a[2].count; i += 2) {
      if (m[i].kind != Arg::Kind::kUnsigned || m[i + 1].kind != Arg::Kind::kLabel || m[i + 1].value == 0) return fail("bad pair in the list");
      list.push_back({tuple_header(m[i].value)});
      list.push_back({m[i + 1].value, true});
    }
    e_.emit(Family::select_tuple_arity, {in_register(a[0]), operand(a[1])}, list);
    return true;
  }

  // ---- Building ----

  bool tuple(const Arg& dst, const Arg& list) {
    const Arg* m = members(list);
    for (Word i = 0; i < list.count; i++)
      if (!is_source(m[i])) return fail("bad element");
    const Operand d = operand(dst);
    switch (list.count) {
      case 0: e_.emit(Family::move, {Operand::constant(empty_tuple()), d}); return true;
      case 1: e_.emit(Family::put_tuple1, {operand(m[0]), d}); return true;
      case 2: e_.emit(Family::put_tuple2, {operand(m[0]), operand(m[1]), d}); return true;
      case 3:
        if (e_.can_emit(Family::put_tuple3, {operand(m[0]), operand(m[1]), operand(m[2]), d})) {
          e_.emit(Family::put_tuple3, {operand(m[0]), operand(m[1]), operand(m[2]), d});
          return true;
        }
    }
    std::vector<ListWord> words;
    for (Word i = 0; i < list.count; i++) words.push_back({any(m[i])});
    e_.emit(Family::put_tuple, {d}, words);
    return true;
  }

  bool tuple_elements(const Arg* a) {
    // Neighbouring elements of one tuple in one instruction, as long as the tuple's register stays.
    Word n = 1;
    const Arg* next[2] = {};
    while (n < 3 && at_ + n < f_.code.size() && f_.code[at_ + n].opcode == generic::k_get_tuple_element) {
      const Arg* b = f_.args(f_.code[at_ + n]);
      const Arg* before = n == 1 ? a : next[0];
      if (!(b[0] == a[0]) || b[1].value != a[1].value + n || before[2] == a[0]) break;
      next[n - 1] = b;
      n++;
    }
    const Operand src = in_register(a[0]), index = number(a[1].value + 1);
    if (n == 3) e_.emit(Family::get_three_elements, {src, index, operand(a[2]), operand(next[0][2]), operand(next[1][2])});
    else if (n == 2) e_.emit(Family::get_two_elements, {src, index, operand(a[2]), operand(next[0][2])});
    else e_.emit(Family::get_tuple_element, {src, index, operand(a[2])});
    at_ += n - 1;
    return true;
  }

  bool make_fun(Word index, const Arg& dst, const Arg& list) {
    if (index >= f_.lambdas.size()) return fail("fun " + std::to_string(index) + " does not exist");
    if (list.count != f_.lambdas[index].free_count) return fail("wrong number of free variables");
    std::vector<ListWord> words;
    for (Word i = 0; i < list.count; i++) {
      if (!is_source(members(list)[i])) return fail("bad free variable");
      words.push_back({any(members(list)[i])});
    }
    e_.emit(Family::make_fun, {Operand::pointer(m_.funs[index]), operand(dst)}, words);
    return true;
  }

  bool update_record(const Arg* a) {
    std::vector<ListWord> words;
    const Arg* m = members(a[4]);
    if (a[4].count % 2) return fail("odd list");
    for (Word i = 0; i < a[4].count; i += 2) {
      if (m[i].kind != Arg::Kind::kUnsigned || m[i].value == 0 || m[i].value > a[1].value || !is_source(m[i + 1])) return fail("bad element");
      words.push_back({m[i].value});
      words.push_back({any(m[i + 1])});
    }
    e_.emit(Family::update_record, {operand(a[3]), operand(a[2])}, words);
    return true;
  }

  // ---- Maps ----

  bool map_elements(const Arg* a) {
    const Arg* m = members(a[2]);
    const Word n = a[2].count;
    if (n % 2 || n == 0) return fail("odd list");
    for (Word i = 0; i < n; i += 2)
      if (!is_source(m[i]) || !is_register(m[i + 1])) return fail("bad pair in the list");
    const Operand src = operand(a[1]), otherwise = operand(a[0]);
    if (n == 2) {
      const Operand key = operand(m[0]), dst = operand(m[1]);
      const bool immediate = key.is_const() && Term::from_raw(key.value).is_immed();
      const Word hash = immediate ? map_hash(Term::from_raw(key.value)) : 0;
      if (immediate && e_.can_emit(Family::get_map_element, {src, key, number(hash), dst, otherwise}))
        e_.emit(Family::get_map_element, {src, key, number(hash), dst, otherwise});
      else
        e_.emit(Family::get_map_element_slow, {src, key, dst, otherwise});
      return true;
    }
    bool constant_keys = true;
    for (Word i = 0; i < n; i += 2) constant_keys = constant_keys && !is_register(m[i]);
    if (!constant_keys) {
      // The source must survive until the last fetch.
      Operand from = src;
      for (Word i = 0; i + 2 < n; i += 2)
        if (m[i + 1] == a[1]) {
          e_.emit(Family::move, {src, Operand::x(kScratch)});
          from = Operand::x(kScratch);
        }
      for (Word i = 0; i < n; i += 2) e_.emit(Family::get_map_element_slow, {from, operand(m[i]), operand(m[i + 1]), otherwise});
      return true;
    }
    std::vector<ListWord> words;
    for (Word i = 0; i < n; i += 2) {
      words.push_back({any(m[i])});
      words.push_back({map_hash(constant(m[i]))});
      const Operand d = operand(m[i + 1]);
      words.push_back({d.kind == Operand::Kind::kY ? d.value | kDestinationY : d.value});
    }
    e_.emit(Family::get_map_elements, {src, otherwise}, words);
    return true;
  }

  bool map_fields(const Arg* a) {
    const Arg* m = members(a[2]);
    std::vector<ListWord> words;
    for (Word i = 0; i < a[2].count; i++) {
      if (!is_source(m[i])) return fail("bad key");
      if (is_register(m[i])) {
        // Fetched for its failure alone.
        e_.emit(Family::get_map_element_slow, {operand(a[1]), operand(m[i]), Operand::x(kScratch), operand(a[0])});
        continue;
      }
      words.push_back({any(m[i])});
      words.push_back({map_hash(constant(m[i]))});
    }
    if (!words.empty()) e_.emit(Family::has_map_fields, {operand(a[1]), operand(a[0])}, words);
    return true;
  }

  bool put_map(const Arg* a, bool exact) {
    const Arg* m = members(a[4]);
    std::vector<ListWord> words;
    if (a[4].count % 2) return fail("odd list");
    for (Word i = 0; i < a[4].count; i++) {
      if (!is_source(m[i])) return fail("bad key or value");
      words.push_back({any(m[i])});
    }
    e_.emit(Family::put_map, {number(exact), operand(a[1]), number(a[3].value), operand(a[2]), operand(a[0])}, words);
    return true;
  }

  // ---- Bit strings ----

  static constexpr Word kContextWords = 5;

  bool string_at(Word offset, Word bytes, const char** out) {
    if (offset > m_.strings.size() || bytes > m_.strings.size() - offset) return fail("string outside chunk StrT");
    *out = m_.strings.data() + offset;
    return true;
  }

  static bool constant_bits(const Operand& size, Word unit, Word* bits) {
    if (!size.is_const()) return false;
    const Term t = Term::from_raw(size.value);
    if (!t.is_small() || t.small_value() < 0 || t.small_value() > (1 << 20)) return false;
    *bits = static_cast<Word>(t.small_value()) * unit;
    return *bits < (1u << 30);
  }

  void get_integer(Operand ctx, Operand size, Word unit, Word flags, Operand dst, Word live, Operand otherwise) {
    flags = resolve_bit_flags(static_cast<unsigned>(flags)) & (kBitsLittle | kBitsSigned);
    Word bits;
    if (constant_bits(size, unit, &bits) && ctx.is_reg()) {
      if (bits == 8 && !(flags & kBitsSigned)) return e_.emit(Family::bs_get_byte, {ctx, dst, otherwise});
      if (bits <= 59 && bits > 0) return e_.emit(Family::bs_get_integer_small, {ctx, dst, number(bits), number(flags), otherwise});
    }
    e_.emit(Family::bs_get_integer, {ctx, dst, size, number(unit), number(flags), number(live), otherwise});
  }

  void get_binary(Operand ctx, Operand size, Word unit, Operand dst, Word live, Operand otherwise) {
    if (size.is_const() && Term::from_raw(size.value).is_atom())
      return e_.emit(Family::bs_get_all, {ctx, dst, number(unit), number(live), need(kExtractWords), otherwise});
    e_.emit(Family::bs_get_bits, {ctx, dst, size, number(unit), number(live), need(kExtractWords), otherwise});
  }

  void skip(Operand ctx, Operand size, Word unit, Operand otherwise) {
    Word bits;
    if (constant_bits(size, unit, &bits)) e_.emit(Family::bs_skip, {ctx, number(bits), otherwise});
    else e_.emit(Family::bs_skip_var, {ctx, size, number(unit), otherwise});
  }

  bool bs_match(const Arg* a) {
    const Operand otherwise = operand(a[0]), ctx = in_register(a[1]);
    const Arg* m = members(a[2]);
    const Word n = a[2].count;
    auto unsigned_at = [&](Word i) { return i < n && (m[i].kind == Arg::Kind::kUnsigned || (m[i].is_const() && m[i].term().is_small())); };
    auto value_at = [&](Word i) { return m[i].kind == Arg::Kind::kUnsigned ? m[i].value : static_cast<Word>(m[i].term().small_value()); };
    for (Word i = 0; i < n;) {
      if (!m[i].is_const() || !m[i].term().is_atom()) return fail("bad match command");
      const std::string_view command = atom_text(m[i].term());
      if (command == "ensure_at_least" && unsigned_at(i + 1) && unsigned_at(i + 2) && value_at(i + 2)) {
        e_.emit(Family::bs_ensure, {ctx, number(value_at(i + 1)), number(value_at(i + 2)), otherwise});
        i += 3;
      } else if (command == "ensure_exactly" && unsigned_at(i + 1)) {
        e_.emit(Family::bs_test_tail, {ctx, number(value_at(i + 1)), otherwise});
        i += 2;
      } else if ((command == "integer" || command == "binary") && i + 5 < n && unsigned_at(i + 1) && value_at(i + 1) <= kMaxXRegisters &&
                 unsigned_at(i + 3) && unsigned_at(i + 4) && is_register(m[i + 5])) {
        Word flags = 0;
        if (!flag_list(m[i + 2], &flags)) return false;
        const Operand size = Operand::constant(Term::small(static_cast<SWord>(value_at(i + 3))));
        if (command == "integer") get_integer(ctx, size, value_at(i + 4), flags, operand(m[i + 5]), value_at(i + 1), otherwise);
        else get_binary(ctx, size, value_at(i + 4), operand(m[i + 5]), value_at(i + 1), otherwise);
        i += 6;
      } else if (command == "skip" && unsigned_at(i + 1)) {
        e_.emit(Family::bs_skip, {ctx, number(value_at(i + 1)), otherwise});
        i += 2;
      } else if (command == "get_tail" && i + 3 < n && unsigned_at(i + 1) && value_at(i + 1) <= kMaxXRegisters && is_register(m[i + 3])) {
        e_.emit(Family::bs_get_tail, {ctx, operand(m[i + 3]), number(value_at(i + 1)), need(kExtractWords)});
        i += 4;
      } else if (command == "=:=" && i + 3 < n && unsigned_at(i + 2) && is_source(m[i + 3])) {
        const Operand size = Operand::constant(Term::small(static_cast<SWord>(value_at(i + 2))));
        get_integer(ctx, size, 1, 0, Operand::x(kScratch), kNoCollect, otherwise);
        e_.emit(Family::is_eq_exact, {Operand::x(kScratch), operand(m[i + 3]), otherwise});
        i += 4;
      } else {
        return fail("unknown match command " + std::string(command));
      }
    }
    return true;
  }

  bool flag_list(const Arg& a, Word* flags) {
    *flags = 0;
    if (a.kind == Arg::Kind::kUnsigned) return *flags = a.value, true;
    if (!is_source(a) || is_register(a)) return fail("bad flags");
    Term l = constant(a);
    for (; l.is_list(); l = l.tail()) {
      if (!l.head().is_atom()) continue;
      const std::string_view name = atom_text(l.head());
      *flags |= name == "little" ? kBitsLittle : name == "signed" ? kBitsSigned : name == "native" ? kBitsNative : 0;
    }
    return l.is_nil() || fail("bad flags");
  }

  bool create_bin(const Arg* a) {
    static const struct { const char* name; BinarySegment segment; } kSegments[] = {
        {"integer", BinarySegment::kInteger}, {"float", BinarySegment::kFloat},   {"binary", BinarySegment::kBinary},
        {"string", BinarySegment::kString},   {"utf8", BinarySegment::kUtf8},     {"utf16", BinarySegment::kUtf16},
        {"utf32", BinarySegment::kUtf32},     {"append", BinarySegment::kAppend}, {"private_append", BinarySegment::kPrivateAppend}};
    const Arg* m = members(a[5]);
    std::vector<ListWord> words;
    if (a[5].count % 6) return fail("bad segment list");
    for (Word i = 0; i < a[5].count; i += 6, m += 6) {
      if (!m[0].is_const() || !m[0].term().is_atom() || m[2].kind != Arg::Kind::kUnsigned || m[2].value > 256) return fail("bad segment");
      const auto* s = std::find_if(std::begin(kSegments), std::end(kSegments), [&](auto& row) { return atom_text(m[0].term()) == row.name; });
      if (s == std::end(kSegments)) return fail("unknown segment type " + std::string(atom_text(m[0].term())));
      const bool append = s->segment == BinarySegment::kAppend || s->segment == BinarySegment::kPrivateAppend;
      if (append && i) return fail("append is not the first segment");
      Word flags = 0, source, size;
      if (!flag_list(m[3], &flags)) return false;
      if (s->segment == BinarySegment::kString) {
        const char* text = nullptr;
        if (m[4].kind != Arg::Kind::kUnsigned || !m[5].is_const() || !m[5].term().is_small()) return fail("bad string segment");
        const auto bytes = m[5].term().small_value();
        if (bytes < 0 || !string_at(m[4].value, static_cast<Word>(bytes), &text)) return fail("bad string segment");
        source = reinterpret_cast<Word>(text);
        size = static_cast<Word>(bytes);
      } else {
        if (!is_source(m[4]) || !is_source(m[5])) return fail("bad segment");
        source = any(m[4]);
        size = any(m[5]);
      }
      words.push_back({static_cast<Word>(s->segment) | (resolve_bit_flags(static_cast<unsigned>(flags)) & 7) << 8 | m[2].value << 16});
      words.push_back({source});
      words.push_back({size});
    }
    e_.emit(Family::bs_create_bin, {operand(a[4]), number(a[2].value), need(heap_words(a[1])), operand(a[0])}, words);
    return true;
  }

  // ---- The pass ----

  bool translate() {
    for (at_ = 0; at_ < f_.code.size(); at_++) {
      if (!instruction(f_.code[at_].opcode, f_.args(f_.code[at_]))) return fail("cannot be loaded");
      if (!e_.error().empty()) return fail(e_.error());
    }
    return true;
  }

  bool instruction(std::uint8_t opcode, const Arg* a) {
    for (const TypeTest& t : kTypeTests)
      if (t.opcode == opcode) {
        if (opcode == generic::k_is_nonempty_list) return nonempty_list(a);
        if (opcode == generic::k_is_tuple) return is_tuple(a);
        return type_test(t.family, a);
      }
    switch (opcode) {
      case generic::k_label: e_.place_label(a->value); return true;
      case generic::k_func_info:
        e_.emit(Family::func_info, {number(a[2].value), operand(a[0]), operand(a[1])});
        functions_.push_back(f_.args(f_.code[at_ + 1])->value);
        return true;
      case generic::k_int_code_end:
        e_.emit(Family::process_end, {});
        return true;
      case generic::k_line:
        if (a->value >= f_.lines.size()) return fail("line " + std::to_string(a->value) + " is not in the table");
        if (a->value) e_.set_line(static_cast<std::uint32_t>(a->value));
        return true;
      case generic::k_executable_line: case generic::k_debug_line: case generic::k_nif_start: case generic::k_fclearerror: case generic::k_fcheckerror:
        return true;
      case generic::k_on_load: on_load_ = functions_.empty() ? 0 : functions_.back(); return true;

      case generic::k_call: return callee(a[1], a[0].value) && (e_.emit(Family::call, {operand(a[1])}), true);
      case generic::k_call_only: return callee(a[1], a[0].value) && (e_.emit(Family::call_only, {operand(a[1])}), true);
      case generic::k_call_last:
        if (!callee(a[1], a[0].value)) return false;
        e_.emit(Family::deallocate, {number(a[2].value)});
        e_.emit(Family::call_only, {operand(a[1])});
        return true;
      case generic::k_call_ext: return call_external(a, false, 0);
      case generic::k_call_ext_last: return call_external(a, true, a[2].value);
      case generic::k_call_ext_only: return call_external(a, true, 0);
      case generic::k_call_fun: return call_fun(a->value, Operand::x(a->value));
      case generic::k_call_fun2: return call_fun(a[1].value, operand(a[2]));
      case generic::k_apply: e_.emit(Family::apply, {number(a->value)}); return true;
      case generic::k_apply_last: e_.emit(Family::apply_last, {number(a[0].value), number(a[1].value)}); return true;
      case generic::k_return: e_.emit(Family::return_, {}); return true;

      case generic::k_bif0: return bif(0, false, 0, a[0].value, nullptr, 0, a[1]);
      case generic::k_bif1: return bif(a[0].value, false, 0, a[1].value, a + 2, 1, a[3]);
      case generic::k_bif2: return bif(a[0].value, false, 0, a[1].value, a + 2, 2, a[4]);
      case generic::k_gc_bif1: return bif(a[0].value, true, a[1].value, a[2].value, a + 3, 1, a[4]);
      case generic::k_gc_bif2: return bif(a[0].value, true, a[1].value, a[2].value, a + 3, 2, a[5]);
      case generic::k_gc_bif3: return bif(a[0].value, true, a[1].value, a[2].value, a + 3, 3, a[6]);

      case generic::k_allocate: return allocate(a[0].value, 0, a[1].value);
      case generic::k_allocate_heap: return allocate(a[0].value, heap_words(a[1]), a[2].value);
      case generic::k_allocate_zero: return allocate(a[0].value, 0, a[1].value) && clear_slots(a[0].value);
      case generic::k_allocate_heap_zero: return allocate(a[0].value, heap_words(a[1]), a[2].value) && clear_slots(a[0].value);
      case generic::k_test_heap: e_.emit(Family::test_heap, {number(a[1].value), need(heap_words(a[0]))}); return true;
      case generic::k_init: e_.emit(Family::init, {operand(a[0])}); return true;
      case generic::k_init_yregs: return init_yregs(a[0]);
      case generic::k_deallocate: case generic::k_trim:
        if (a->value) e_.emit(Family::deallocate, {number(a->value)});
        return true;

      case generic::k_is_lt: return comparison(Family::is_lt, a);
      case generic::k_is_ge: return comparison(Family::is_ge, a);
      case generic::k_is_eq: return comparison(Family::is_eq, a);
      case generic::k_is_ne: return comparison(Family::is_ne, a);
      case generic::k_is_eq_exact: return comparison(Family::is_eq_exact, a);
      case generic::k_is_ne_exact: return comparison(Family::is_ne_exact, a);
      case generic::k_is_function2: e_.emit(Family::is_function2, {operand(a[1]), operand(a[2]), operand(a[0])}); return true;
      case generic::k_test_arity: e_.emit(Family::test_arity, {in_register(a[1]), number(tuple_header(a[2].value)), operand(a[0])}); return true;
      case generic::k_is_tagged_tuple:
        e_.emit(Family::is_tagged_tuple, {in_register(a[1]), number(tuple_header(a[2].value)), operand(a[3]), operand(a[0])});
        return true;
      case generic::k_select_val: return select_val(a);
      case generic::k_select_tuple_arity: return select_tuple_arity(a);
      case generic::k_jump: e_.emit(Family::jump, {operand(a[0])}); return true;

      case generic::k_move: e_.emit(Family::move, {operand(a[0]), operand(a[1])}); return true;
      case generic::k_swap: e_.emit(Family::swap, {operand(a[0]), operand(a[1])}); return true;
      case generic::k_get_list: e_.emit(Family::get_list, {in_register(a[0]), operand(a[1]), operand(a[2])}); return true;
      case generic::k_get_hd: e_.emit(Family::get_hd, {in_register(a[0]), operand(a[1])}); return true;
      case generic::k_get_tl: e_.emit(Family::get_tl, {in_register(a[0]), operand(a[1])}); return true;
      case generic::k_get_tuple_element: return tuple_elements(a);
      case generic::k_set_tuple_element: e_.emit(Family::set_tuple_element, {operand(a[0]), operand(a[1]), number(a[2].value + 1)}); return true;
      case generic::k_put_list: e_.emit(Family::put_list, {operand(a[0]), operand(a[1]), operand(a[2])}); return true;
      case generic::k_put_tuple2: return tuple(a[0], a[1]);
      case generic::k_update_record: return update_record(a);
      case generic::k_make_fun3: return make_fun(a[0].value, a[1], a[2]);

      case generic::k_get_map_elements: return map_elements(a);
      case generic::k_has_map_fields: return map_fields(a);
      case generic::k_put_map_assoc: return put_map(a, false);
      case generic::k_put_map_exact: return put_map(a, true);

      case generic::k_fmove:
        if (a[0].kind == Arg::Kind::kFloatReg && a[1].kind == Arg::Kind::kFloatReg) return fail("both are float registers");
        if (a[0].kind != Arg::Kind::kFloatReg && a[1].kind != Arg::Kind::kFloatReg) return fail("none is a float register");
        e_.emit(a[0].kind == Arg::Kind::kFloatReg ? Family::fstore : Family::fload, {operand(a[0]), operand(a[1])});
        return a[0].kind == Arg::Kind::kFloatReg || is_register(a[0]) || constant(a[0]).is_float() || fail("no float");
      case generic::k_fconv: e_.emit(Family::fconv, {operand(a[0]), operand(a[1])}); return true;
      case generic::k_fadd: e_.emit(Family::fadd, {operand(a[1]), operand(a[2]), operand(a[3])}); return true;
      case generic::k_fsub: e_.emit(Family::fsub, {operand(a[1]), operand(a[2]), operand(a[3])}); return true;
      case generic::k_fmul: e_.emit(Family::fmul, {operand(a[1]), operand(a[2]), operand(a[3])}); return true;
      case generic::k_fdiv: e_.emit(Family::fdiv, {operand(a[1]), operand(a[2]), operand(a[3])}); return true;
      case generic::k_fnegate: e_.emit(Family::fnegate, {operand(a[1]), operand(a[2])}); return true;

      case generic::k_catch: case generic::k_try: e_.emit(Family::begin_catch, {operand(a[0]), operand(a[1])}); return true;
      case generic::k_catch_end: e_.emit(Family::catch_end, {operand(a[0])}); return true;
      case generic::k_try_end: e_.emit(Family::try_end, {operand(a[0])}); return true;
      case generic::k_try_case: e_.emit(Family::try_case, {operand(a[0])}); return true;
      case generic::k_badmatch: e_.emit(Family::badmatch, {operand(a[0])}); return true;
      case generic::k_case_end: e_.emit(Family::case_end, {operand(a[0])}); return true;
      case generic::k_try_case_end: e_.emit(Family::try_case_end, {operand(a[0])}); return true;
      case generic::k_badrecord: e_.emit(Family::badrecord, {operand(a[0])}); return true;
      case generic::k_if_end: e_.emit(Family::if_end, {}); return true;
      case generic::k_raise: e_.emit(Family::raise, {operand(a[0]), operand(a[1])}); return true;
      case generic::k_raw_raise: e_.emit(Family::raw_raise, {}); return true;
      case generic::k_build_stacktrace: e_.emit(Family::build_stacktrace, {}); return true;

      case generic::k_send: e_.emit(Family::send, {}); return true;
      case generic::k_remove_message: e_.emit(Family::remove_message, {}); return true;
      case generic::k_timeout: e_.emit(Family::timeout, {}); return true;
      case generic::k_loop_rec: e_.emit(Family::loop_rec, {operand(a[1]), operand(a[0])}); return true;
      case generic::k_loop_rec_end: e_.emit(Family::loop_rec_end, {operand(a[0])}); return true;
      case generic::k_wait: e_.emit(Family::wait, {operand(a[0])}); return true;
      case generic::k_wait_timeout: e_.emit(Family::wait_timeout, {operand(a[0]), operand(a[1])}); return true;
      case generic::k_recv_marker_reserve: e_.emit(Family::recv_marker_reserve, {operand(a[0])}); return true;
      case generic::k_recv_marker_bind: e_.emit(Family::recv_marker_bind, {operand(a[0]), operand(a[1])}); return true;
      case generic::k_recv_marker_clear: e_.emit(Family::recv_marker_clear, {operand(a[0])}); return true;
      case generic::k_recv_marker_use: e_.emit(Family::recv_marker_use, {operand(a[0])}); return true;
      default: return bits_instruction(opcode, a);
    }
  }

  bool bits_instruction(std::uint8_t opcode, const Arg* a) {
    switch (opcode) {
      case generic::k_bs_start_match3: case generic::k_bs_start_match4: {
        const Operand otherwise = a[0].kind == Arg::Kind::kLabel ? operand(a[0]) : Operand::label(0);
        const Arg& live = opcode == generic::k_bs_start_match3 ? a[2] : a[1];
        const Arg& src = opcode == generic::k_bs_start_match3 ? a[1] : a[2];
        e_.emit(Family::bs_start_match, {in_register(src), operand(a[3]), number(live.value), need(kContextWords), otherwise});
        return true;
      }
      case generic::k_bs_get_integer2:
        get_integer(operand(a[1]), operand(a[3]), a[4].value, a[5].value, operand(a[6]), a[2].value, operand(a[0]));
        return true;
      case generic::k_bs_get_float2:
        e_.emit(Family::bs_get_float, {operand(a[1]), operand(a[6]), operand(a[3]), number(a[4].value), number(resolve_bit_flags(static_cast<unsigned>(a[5].value)) & 7),
                                       number(a[2].value), need(2), operand(a[0])});
        return true;
      case generic::k_bs_get_binary2: get_binary(operand(a[1]), operand(a[3]), a[4].value, operand(a[6]), a[2].value, operand(a[0])); return true;
      case generic::k_bs_skip_bits2:
        if (operand(a[2]).is_const() && constant(a[2]).is_atom()) {  // everything, if whole units
          if (a[3].value == 0) return fail("unit 0");
          e_.emit(Family::bs_test_unit, {operand(a[1]), number(a[3].value), operand(a[0])});
          return true;
        }
        skip(operand(a[1]), operand(a[2]), a[3].value, operand(a[0]));
        return true;
      case generic::k_bs_test_tail2: e_.emit(Family::bs_test_tail, {operand(a[1]), number(a[2].value), operand(a[0])}); return true;
      case generic::k_bs_test_unit:
        if (a[2].value == 0) return fail("unit 0");
        if (a[2].value == 8) e_.emit(Family::bs_test_unit8, {operand(a[1]), operand(a[0])});
        else if (a[2].value != 1) e_.emit(Family::bs_test_unit, {operand(a[1]), number(a[2].value), operand(a[0])});
        return true;
      case generic::k_bs_match_string: {
        const char* text = nullptr;
        if (!string_at(a[3].value, (a[2].value + 7) / 8, &text)) return false;
        e_.emit(Family::bs_match_string, {operand(a[1]), number(a[2].value), Operand::pointer(text), operand(a[0])});
        return true;
      }
      case generic::k_bs_get_utf8: e_.emit(Family::bs_get_utf8, {operand(a[1]), operand(a[4]), operand(a[0])}); return true;
      case generic::k_bs_skip_utf8: e_.emit(Family::bs_get_utf8, {operand(a[1]), Operand::x(kScratch), operand(a[0])}); return true;
      case generic::k_bs_get_utf16: case generic::k_bs_get_utf32:
        e_.emit(opcode == generic::k_bs_get_utf16 ? Family::bs_get_utf16 : Family::bs_get_utf32,
                {operand(a[1]), operand(a[4]), number(resolve_bit_flags(static_cast<unsigned>(a[3].value)) & 7), operand(a[0])});
        return true;
      case generic::k_bs_skip_utf16: case generic::k_bs_skip_utf32:
        e_.emit(opcode == generic::k_bs_skip_utf16 ? Family::bs_get_utf16 : Family::bs_get_utf32,
                {operand(a[1]), Operand::x(kScratch), number(resolve_bit_flags(static_cast<unsigned>(a[3].value)) & 7), operand(a[0])});
        return true;
      case generic::k_bs_get_tail: e_.emit(Family::bs_get_tail, {in_register(a[0]), operand(a[1]), number(a[2].value), need(kExtractWords)}); return true;
      case generic::k_bs_get_position: e_.emit(Family::bs_get_position, {operand(a[0]), operand(a[1])}); return true;
      case generic::k_bs_set_position: e_.emit(Family::bs_set_position, {operand(a[0]), operand(a[1])}); return true;
      case generic::k_bs_match: return bs_match(a);
      case generic::k_bs_init_writable: e_.emit(Family::bs_init_writable, {}); return true;
      case generic::k_bs_create_bin: return create_bin(a);
      default: return fail("this machine has no such instruction");
    }
  }

  bool nonempty_list(const Arg* a) {
    if (const Arg* g = next_args(generic::k_get_list); g && g[0] == a[1] && is_register(a[1])) {
      e_.emit(Family::match_list, {operand(a[1]), operand(g[1]), operand(g[2]), operand(a[0])});
      at_++;
      return true;
    }
    return type_test(Family::is_nonempty_list, a);
  }

  bool is_tuple(const Arg* a) {
    if (const Arg* t = next_args(generic::k_test_arity); t && t[1] == a[1] && t[0] == a[0] && is_register(a[1])) {
      e_.emit(Family::is_tuple_of_arity, {operand(a[1]), number(tuple_header(t[2].value)), operand(a[0])});
      at_++;
      return true;
    }
    return type_test(Family::is_tuple, a);
  }

  bool clear_slots(Word slots) {
    std::vector<ListWord> words;
    for (Word i = 0; i < slots; i++) words.push_back({i});
    e_.emit(Family::init_list, {}, words);
    return true;
  }

  bool init_yregs(const Arg& list) {
    std::vector<ListWord> words;
    for (Word i = 0; i < list.count; i++) {
      if (!members(list)[i].is_y()) return fail("no y register");
      words.push_back({members(list)[i].value});
    }
    if (words.size() == 1) e_.emit(Family::init, {Operand::y(words[0].value)});
    else if (!words.empty()) e_.emit(Family::init_list, {}, words);
    return true;
  }

  // ---- After the code ----

  bool finish() {
    at_ = f_.code.size();
    if (!e_.finish(&m_.code)) return fail(e_.error());
    for (Word label : functions_) {
      if (!e_.label_placed(label)) return fail("a function has no body");
      m_.functions.push_back(static_cast<std::uint32_t>(e_.label_word(label) - sizeof(FunctionHeader) / 8));
    }
    for (const BeamFile::Function& x : f_.exports) {
      if (entries_[x.label] != x.arity) return fail("export " + std::string(atom_text(x.name)) + " does not lead to a function of its arity");
      m_.exports.push_back({export_entry(f_.module, x.name, x.arity), m_.begin() + e_.label_word(x.label)});
    }
    for (const BeamFile::Lambda& l : f_.lambdas) m_.fun_addresses.push_back(m_.begin() + e_.label_word(l.label));
    if (on_load_) m_.on_load = m_.begin() + e_.label_word(on_load_);
    for (const Emitter::LineMark& mark : e_.lines()) {
      const BeamFile::Line& line = f_.lines[mark.line];
      m_.lines.push_back({mark.word, line.file, line.line});
    }
    m_.files = f_.line_files;
    std::memcpy(m_.md5, f_.md5, sizeof m_.md5);
    return true;
  }

  const BeamFile& f_;
  Module& m_;
  BeamError* error_;
  Emitter e_;
  std::vector<std::uint16_t> entries_;  // by label: arity of the function that begins there
  std::vector<Word> functions_;         // labels of entries, in order
  std::vector<Term> literals_;
  std::size_t at_ = 0;
  Word on_load_ = 0;
};

}  // namespace

Module* build_module(const BeamFile& file, BeamError* error) {
  auto* module = new Module;
  if (Loader(file, module, error).load()) return module;
  delete module;
  return nullptr;
}

}  // namespace vmrun
