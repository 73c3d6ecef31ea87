// SPDX-License-Identifier: Apache-2.0
#include "vm/code/loading.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "vm/heap/literal.hpp"
#include "vm/term/external.hpp"

/// The loader's frame: what comes before and after the code, functions and calls, and the pass over
/// the instructions.
namespace vmrun {
namespace {

std::vector<Term>& native_modules() {
  static auto& all = *new std::vector<Term>;
  return all;
}

/// Returns the start of on_load/0 of a module with native functions. nullptr: it has no such
/// function, or is not such a module.
const Word* native_on_load(const Module& m) {
  const auto& known = native_modules();
  if (std::find(known.begin(), known.end(), m.name) == known.end()) return nullptr;
  static const Term on_load = intern_atom("on_load");
  for (const auto& [entry, address] : m.exports)
    if (entry->function == on_load && entry->arity == 0) return address;
  return nullptr;
}

struct TypeTest {
  std::uint8_t opcode;
  Family family;
  std::uint16_t passes = 0;  // every value of these kinds passes; 0: the kind alone does not decide
};
constexpr TypeTest kTypeTests[] = {
    {generic::k_is_integer, Family::is_integer, value_kind::kInteger},
    {generic::k_is_float, Family::is_float, value_kind::kFloat},
    {generic::k_is_number, Family::is_number, value_kind::kInteger | value_kind::kFloat},
    {generic::k_is_atom, Family::is_atom, value_kind::kAtom},
    {generic::k_is_pid, Family::is_pid, value_kind::kPid},
    {generic::k_is_reference, Family::is_reference, value_kind::kReference},
    {generic::k_is_port, Family::is_port, value_kind::kPort},
    {generic::k_is_nil, Family::is_nil, value_kind::kNil},
    {generic::k_is_binary, Family::is_binary},
    {generic::k_is_list, Family::is_list, value_kind::kCons | value_kind::kNil},
    {generic::k_is_nonempty_list, Family::is_nonempty_list, value_kind::kCons},
    {generic::k_is_tuple, Family::is_tuple, value_kind::kTuple},
    {generic::k_is_function, Family::is_function, value_kind::kFun},
    {generic::k_is_boolean, Family::is_boolean},
    {generic::k_is_bitstr, Family::is_bitstr, value_kind::kBitstring},
    {generic::k_is_map, Family::is_map, value_kind::kMap},
};

/// Instructions that are translated one to one. `from`: for each operand, the index of the operand
/// in the file's instruction.
struct Plain {
  std::uint8_t opcode;
  Family family;
  std::uint8_t count;
  std::uint8_t from[3];
};
constexpr Plain kPlain[] = {
    {generic::k_int_code_end, Family::process_end, 0, {}},
    {generic::k_return, Family::return_, 0, {}},
    {generic::k_init, Family::init, 1, {0}},
    {generic::k_is_function2, Family::is_function2, 3, {1, 2, 0}},
    {generic::k_jump, Family::jump, 1, {0}},
    {generic::k_move, Family::move, 2, {0, 1}},
    {generic::k_swap, Family::swap, 2, {0, 1}},
    {generic::k_put_list, Family::put_list, 3, {0, 1, 2}},
    {generic::k_fconv, Family::fconv, 2, {0, 1}},
    {generic::k_fadd, Family::fadd, 3, {1, 2, 3}},
    {generic::k_fsub, Family::fsub, 3, {1, 2, 3}},
    {generic::k_fmul, Family::fmul, 3, {1, 2, 3}},
    {generic::k_fdiv, Family::fdiv, 3, {1, 2, 3}},
    {generic::k_fnegate, Family::fnegate, 2, {1, 2}},
    {generic::k_catch, Family::begin_catch, 2, {0, 1}},
    {generic::k_try, Family::begin_catch, 2, {0, 1}},
    {generic::k_catch_end, Family::catch_end, 1, {0}},
    {generic::k_try_end, Family::try_end, 1, {0}},
    {generic::k_try_case, Family::try_case, 1, {0}},
    {generic::k_badmatch, Family::badmatch, 1, {0}},
    {generic::k_case_end, Family::case_end, 1, {0}},
    {generic::k_try_case_end, Family::try_case_end, 1, {0}},
    {generic::k_badrecord, Family::badrecord, 1, {0}},
    {generic::k_if_end, Family::if_end, 0, {}},
    {generic::k_raise, Family::raise, 2, {0, 1}},
    {generic::k_raw_raise, Family::raw_raise, 0, {}},
    {generic::k_build_stacktrace, Family::build_stacktrace, 0, {}},
    {generic::k_send, Family::send, 0, {}},
    {generic::k_remove_message, Family::remove_message, 0, {}},
    {generic::k_timeout, Family::timeout, 0, {}},
    {generic::k_loop_rec, Family::loop_rec, 2, {1, 0}},
    {generic::k_loop_rec_end, Family::loop_rec_end, 1, {0}},
    {generic::k_recv_marker_reserve, Family::recv_marker_reserve, 1, {0}},
    {generic::k_recv_marker_bind, Family::recv_marker_bind, 2, {0, 1}},
    {generic::k_recv_marker_clear, Family::recv_marker_clear, 1, {0}},
    {generic::k_recv_marker_use, Family::recv_marker_use, 1, {0}},
};

/// By opcode: the index of a table's row plus one; 0: the table has no row.
using Rows = std::array<std::uint8_t, 256>;
template <class Row, std::size_t n>
constexpr Rows rows_of(const Row (&table)[n]) {
  Rows rows{};
  for (std::size_t i = 0; i < n; i++) rows[table[i].opcode] = static_cast<std::uint8_t>(i + 1);
  return rows;
}
constexpr Rows kTypeTestRows = rows_of(kTypeTests), kPlainRows = rows_of(kPlain);

}  // namespace

bool Loader::find_entries() {
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

bool Loader::decode_literals() {
  at_ = f_.code.size();
  Arena arena;
  for (std::size_t i = 0; i < f_.literals.size(); i++) {
    Term t;
    if (!decode(arena, f_.literals[i], &t))
      return fail("literal " + std::to_string(i) + " is no external term");
    literals_.push_back(t);
  }
  m_.attributes = m_.compile_info = Term::nil();
  if (f_.attributes.size && !decode(arena, f_.attributes, &m_.attributes))
    return fail("chunk Attr is no external term");
  if (f_.compile_info.size && !decode(arena, f_.compile_info, &m_.compile_info))
    return fail("chunk CInf is no external term");
  if (!debug_info(arena, &m_.debug_info) || !make_records(arena)) return false;
  const std::size_t first_record = literals_.size(), after_records = first_record + m_.records.size();
  literals_.insert(literals_.end(), m_.records.begin(), m_.records.end());
  literals_.push_back(m_.attributes);
  literals_.push_back(m_.compile_info);
  literals_.push_back(m_.debug_info);
  if (!make_literals(literals_.data(), literals_.size(), &m_.literals))
    return fail("there is no room for literals");
  for (std::size_t i = first_record; i < after_records; i++) m_.records[i - first_record] = literals_[i];
  m_.attributes = literals_[after_records];
  m_.compile_info = literals_[after_records + 1];
  m_.debug_info = literals_[after_records + 2];
  return true;
}

bool Loader::decode(Heap& heap, const BeamFile::Bytes& bytes, Term* out) {
  const Decoded d = decode_external(heap, bytes.data, bytes.size);
  *out = d.term;
  return d.term.is_value();
}

bool Loader::make_funs() {
  for (const BeamFile::Lambda& l : f_.lambdas) {
    if (entries_[l.label] != l.arity)
      return fail("fun " + std::to_string(l.index) + " does not lead to a function of its arity");
    FunEntry* entry = fun_entry(f_.module, f_.md5, l.index, l.old_uniq, l.arity - l.free_count, l.free_count);
    // Other versions of the module may have this entry as well, under the same name.
    entry->function.store(l.name, std::memory_order_relaxed);
    m_.funs.push_back(entry);
  }
  return true;
}

bool Loader::callee(const Arg& label, Word arity) {
  return entries_[label.value] == arity ||
         fail("label " + std::to_string(label.value) + " is no function of arity " + std::to_string(arity));
}

Export* Loader::import(Word index) {
  if (index >= f_.imports.size()) {
    fail("import " + std::to_string(index) + " does not exist");
    return nullptr;
  }
  const BeamFile::Import& i = f_.imports[index];
  return export_entry(i.module, i.function, i.arity);
}

bool Loader::call_external(const Arg* a, bool tail, Word slots) {
  Export* e = import(a[1].value);
  if (!e) return false;
  if (e->arity != a[0].value) return fail("arity differs from the import's");
  if (e->bif) {
    e_.emit(e->bif_flags & BifRow::kLocated ? Family::call_located_bif : Family::call_bif,
            {Operand::pointer(e), number(e->arity), Operand::pointer(reinterpret_cast<const void*>(e->bif))});
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
  if (is_apply(*e)) {
    e_.emit(e->arity == 2 ? Family::apply_fun_last : Family::apply_mfa_last, {number(slots)});
    return true;
  }
  if (slots) e_.emit(Family::deallocate, {number(slots)});
  e_.emit(Family::call_ext_only, {Operand::pointer(e)});
  return true;
}

bool Loader::call_fun(Word arity, Operand fun) {
  std::size_t k = at_ + 1;
  Word slots = 0;
  if (fun.kind != Operand::Kind::kY) {  // the frame may be dropped without losing the fun
    if (k < f_.code.size() && f_.code[k].opcode == generic::k_deallocate)
      slots = f_.args(f_.code[k++])->value;
    if (k < f_.code.size() && f_.code[k].opcode == generic::k_return) {
      e_.emit(Family::call_fun_last, {number(arity), fun, number(slots)});
      at_ = k;
      return true;
    }
  }
  e_.emit(Family::call_fun, {number(arity), fun});
  return true;
}

bool Loader::allocate(Word slots, Word heap, Word live) {
  e_.emit(Family::allocate, {number(slots), number(live), need(slots + heap)});
  return true;
}

bool Loader::translate() {
  for (at_ = 0; at_ < f_.code.size(); at_++) {
    if (!instruction(f_.code[at_].opcode, f_.args(f_.code[at_]))) return fail("cannot be loaded");
    if (!e_.error().empty()) return fail(e_.error());
  }
  return true;
}

bool Loader::instruction(std::uint8_t opcode, const Arg* a) {
  if (const unsigned row = kTypeTestRows[opcode]) {
    const TypeTest& t = kTypeTests[row - 1];
    if (f_.type(a[1]).is(t.passes)) return true;  // known: the test is left out
    if (opcode == generic::k_is_nonempty_list) return nonempty_list(a);
    if (opcode == generic::k_is_tuple) return is_tuple(a);
    return type_test(t.family, a);
  }
  if (const unsigned row = kPlainRows[opcode]) {
    const Plain& plain = kPlain[row - 1];
    std::array<Operand, 3> operands;
    for (int i = 0; i < plain.count; i++) operands[i] = operand(a[plain.from[i]]);
    e_.emit(plain.family, std::span(operands.data(), plain.count));
    return true;
  }
  return function_instruction(opcode, a);
}

/// At the entry of a function that is also a built-in function: makes it the built-in wherever it
/// is called from. The code that the module has for it is never reached.
void Loader::lead_to_built_in() {
  const Arg* info = f_.args(f_.code[at_ - 1]);
  const Export* e = find_export(f_.module, info[1].term(), static_cast<unsigned>(info[2].value));
  if (e && e->bif) e_.emit(Family::call_ext_only, {Operand::pointer(e)});
}

void Loader::count_execution() {
  m_.coverage->counters.push_back(0);
  e_.emit(Family::count_execution, {Operand::pointer(&m_.coverage->counters.back())});
}

/// executable_line: the place, and a number that the compiler has given the line.
bool Loader::count_line(const Arg* a) {
  if (a[0].value >= f_.lines.size())
    return fail("line " + std::to_string(a[0].value) + " is not in the table");
  if (a[0].value == 0 || functions_.empty()) return true;
  const auto function = static_cast<std::uint32_t>(functions_.size() - 1);
  m_.coverage->lines.push_back({function, f_.lines[a[0].value].line, static_cast<std::uint32_t>(a[1].value)});
  count_execution();
  return true;
}

/// Instructions that say where functions and lines begin, and calls.
bool Loader::function_instruction(std::uint8_t opcode, const Arg* a) {
  switch (opcode) {
    case generic::k_label:
      if (is_entered()) e_.emit(Family::enterable, {});
      e_.place_label(a->value);
      if (!functions_.empty() && functions_.back() == a->value) {
        lead_to_built_in();
        if (m_.coverage && !m_.coverage->counts_lines()) count_execution();
      }
      return true;
    case generic::k_func_info:
      e_.emit(Family::func_info, {number(a[2].value), operand(a[0]), operand(a[1])});
      functions_.push_back(f_.args(f_.code[at_ + 1])->value);
      return true;
    case generic::k_line:
      if (a->value >= f_.lines.size())
        return fail("line " + std::to_string(a->value) + " is not in the table");
      if (a->value) e_.set_line(static_cast<std::uint32_t>(a->value));
      return true;
    case generic::k_executable_line: return !m_.coverage || !m_.coverage->counts_lines() || count_line(a);
    case generic::k_debug_line: return !m_.takes_line_breakpoints || debug_line(a);
    case generic::k_fclearerror:
    case generic::k_fcheckerror: return true;
    case generic::k_nif_start: native_.push_back(functions_.empty() ? 0 : functions_.back()); return true;
    case generic::k_on_load: on_load_ = functions_.empty() ? 0 : functions_.back(); return true;

    case generic::k_call: return callee(a[1], a[0].value) && (e_.emit(Family::call, {operand(a[1])}), true);
    case generic::k_call_only:
      return callee(a[1], a[0].value) && (e_.emit(Family::call_only, {operand(a[1])}), true);
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
    case generic::k_apply_last:
      e_.emit(Family::apply_last, {number(a[0].value), number(a[1].value)});
      return true;

    case generic::k_bif0: return bif(0, false, 0, a[0].value, nullptr, 0, a[1]);
    case generic::k_bif1: return bif(a[0].value, false, 0, a[1].value, a + 2, 1, a[3]);
    case generic::k_bif2: return bif(a[0].value, false, 0, a[1].value, a + 2, 2, a[4]);
    case generic::k_bif3: return bif(a[0].value, false, 0, a[1].value, a + 2, 3, a[5]);
    case generic::k_gc_bif1: return bif(a[0].value, true, a[1].value, a[2].value, a + 3, 1, a[4]);
    case generic::k_gc_bif2: return bif(a[0].value, true, a[1].value, a[2].value, a + 3, 2, a[5]);
    case generic::k_gc_bif3: return bif(a[0].value, true, a[1].value, a[2].value, a + 3, 3, a[6]);
    default: return data_instruction(opcode, a);
  }
}

/// Frames, tests, terms.
bool Loader::data_instruction(std::uint8_t opcode, const Arg* a) {
  switch (opcode) {
    case generic::k_allocate: return allocate(a[0].value, 0, a[1].value);
    case generic::k_allocate_heap: return allocate(a[0].value, heap_words(a[1]), a[2].value);
    case generic::k_allocate_zero: return allocate(a[0].value, 0, a[1].value) && clear_slots(a[0].value);
    case generic::k_allocate_heap_zero:
      return allocate(a[0].value, heap_words(a[1]), a[2].value) && clear_slots(a[0].value);
    case generic::k_test_heap:
      e_.emit(Family::test_heap, {number(a[1].value), need(heap_words(a[0]))});
      return true;
    case generic::k_init_yregs: return init_yregs(a[0]);
    case generic::k_deallocate:
    case generic::k_trim:
      if (a->value) e_.emit(Family::deallocate, {number(a->value)});
      return true;

    case generic::k_is_lt: return comparison(Family::is_lt, a);
    case generic::k_is_ge: return comparison(Family::is_ge, a);
    case generic::k_is_eq: return comparison(Family::is_eq, a);
    case generic::k_is_ne: return comparison(Family::is_ne, a);
    case generic::k_is_eq_exact: return comparison(Family::is_eq_exact, a);
    case generic::k_is_ne_exact: return comparison(Family::is_ne_exact, a);
    case generic::k_test_arity:
      e_.emit(Family::test_arity, {in_register(a[1]), number(tuple_header(a[2].value)), operand(a[0])});
      return true;
    case generic::k_is_tagged_tuple:
      e_.emit(Family::is_tagged_tuple,
              {in_register(a[1]), number(tuple_header(a[2].value)), operand(a[3]), operand(a[0])});
      return true;
    case generic::k_select_val: return select_val(a);
    case generic::k_select_tuple_arity: return select_tuple_arity(a);

    case generic::k_get_list:
      e_.emit(Family::get_list, {in_register(a[0]), operand(a[1]), operand(a[2])});
      return true;
    case generic::k_get_hd: e_.emit(Family::get_hd, {in_register(a[0]), operand(a[1])}); return true;
    case generic::k_get_tl: e_.emit(Family::get_tl, {in_register(a[0]), operand(a[1])}); return true;
    case generic::k_get_tuple_element: return copied_tuple(a) || tuple_elements(a);
    case generic::k_set_tuple_element:
      e_.emit(Family::set_tuple_element, {operand(a[0]), operand(a[1]), number(a[2].value + 1)});
      return true;
    case generic::k_put_tuple2: return tuple(a[0], a[1]);
    case generic::k_update_record: return update_record(a);
    case generic::k_make_fun3: return make_fun(a[0].value, a[1], a[2]);

    case generic::k_get_map_elements: return map_elements(a);
    case generic::k_has_map_fields: return map_fields(a);
    case generic::k_put_map_assoc: return put_map(a, false);
    case generic::k_put_map_exact: return put_map(a, true);
    case generic::k_fmove: return move_float(a);
    case generic::k_wait:
      e_.emit(begins_here(*a) ? Family::wait_for_ever : Family::wait, {operand(*a)});
      return true;
    case generic::k_wait_timeout: return wait_timeout(a[0], a[1]);
    default: return record_instruction(opcode, a);
  }
}

/// Whether a receive or a handler of exceptions begins at the label.
bool Loader::is_entered() const {
  const std::uint8_t next = f_.code[at_ + 1].opcode;
  return next == generic::k_loop_rec || next == generic::k_try_case;
}

bool Loader::begins_here(const Arg& label) const {
  for (std::size_t i = at_; i-- > 0;) {
    const auto& before = f_.code[i];
    if (before.opcode == generic::k_label && f_.args(before)->value == label.value) return true;
    if (before.opcode != generic::k_label && before.opcode != generic::k_line) return false;
  }
  return false;
}

/// Registers other than y are lost while a process waits. When the wait jumps to itself, no
/// instruction loads the timeout again.
bool Loader::wait_timeout(const Arg& label, const Arg& timeout) {
  const Operand value = operand(timeout);
  if (value.kind != Operand::Kind::kX || !begins_here(label)) {
    e_.emit(Family::wait_timeout, {operand(label), value});
    return true;
  }
  if (value != Operand::x(0)) e_.emit(Family::move, {value, Operand::x(0)});
  e_.emit(Family::wait_timeout_here, {});
  return true;
}

bool Loader::move_float(const Arg* a) {
  if (a[0].kind == Arg::Kind::kFloatReg && a[1].kind == Arg::Kind::kFloatReg)
    return fail("both are float registers");
  if (a[0].kind != Arg::Kind::kFloatReg && a[1].kind != Arg::Kind::kFloatReg)
    return fail("none is a float register");
  e_.emit(a[0].kind == Arg::Kind::kFloatReg ? Family::fstore : Family::fload, {operand(a[0]), operand(a[1])});
  return a[0].kind == Arg::Kind::kFloatReg || is_register(a[0]) || constant(a[0]).is_float() ||
         fail("no float");
}

bool Loader::clear_slots(Word slots) {
  std::vector<ListWord> words;
  for (Word i = 0; i < slots; i++) words.push_back({i});
  e_.emit(Family::init_list, {}, words);
  return true;
}

bool Loader::init_yregs(const Arg& list) {
  std::vector<ListWord> words;
  for (Word i = 0; i < list.count; i++) {
    if (!members(list)[i].is_y()) return fail("no y register");
    words.push_back({members(list)[i].value});
  }
  if (words.size() == 1) e_.emit(Family::init, {Operand::y(words[0].value)});
  else if (!words.empty()) e_.emit(Family::init_list, {}, words);
  return true;
}

bool Loader::finish() {
  at_ = f_.code.size();
  if (!e_.finish(&m_.code)) return fail(e_.error());
  // The compiler has not been asked for lines: nothing is counted.
  if (m_.coverage && m_.coverage->counts_lines() && m_.coverage->lines.empty()) m_.coverage = nullptr;
  for (Word label : functions_) {
    if (!e_.label_placed(label)) return fail("a function has no body");
    m_.functions.push_back(static_cast<std::uint32_t>(e_.label_word(label) - sizeof(FunctionHeader) / 8));
  }
  for (const BeamFile::Function& x : f_.exports) {
    if (entries_[x.label] != x.arity)
      return fail("export " + std::string(atom_text(x.name)) + " does not lead to a function of its arity");
    m_.exports.push_back({export_entry(f_.module, x.name, x.arity), m_.begin() + e_.label_word(x.label)});
  }
  for (const BeamFile::Lambda& l : f_.lambdas)
    m_.fun_addresses.push_back(m_.begin() + e_.label_word(l.label));
  for (Word label : native_)
    if (label)
      m_.native.push_back(static_cast<std::uint32_t>(e_.label_word(label) - sizeof(FunctionHeader) / 8));
  m_.on_load = on_load_ ? m_.begin() + e_.label_word(on_load_) : native_on_load(m_);
  for (const Emitter::LineMark& mark : e_.lines()) {
    const BeamFile::Line& line = f_.lines[mark.line];
    m_.lines.push_back({mark.word, line.file, line.line});
  }
  for (const Module::LineBreakpoint& b : breakpoints_)
    m_.line_breakpoints.push_back({static_cast<std::uint32_t>(e_.word_of(b.word)), b.line});
  m_.files = f_.line_files;
  std::memcpy(m_.md5, f_.md5, sizeof m_.md5);
  return true;
}

void add_native_module(Term name) { native_modules().push_back(name); }
void forget_native_modules() { native_modules().clear(); }

Module* build_module(const BeamFile& file, BeamError* error) {
  auto* module = new Module;
  if (Loader(file, module, error).load()) return module;
  delete_module_code(module);
  return nullptr;
}

}  // namespace vmrun
