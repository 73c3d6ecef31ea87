// SPDX-License-Identifier: Apache-2.0
#include "vm/code/loading.hpp"

#include <algorithm>

#include "vm/code/instruction_support.hpp"
#include "vm/code/select_table.hpp"

/// Guards, tests and switches.
namespace vmrun {

struct Loader::Operator {
  const char* name;
  unsigned arity;
  ArithOp op;
  Family family;
  bool commutes;
};

namespace {

struct GuardBif {
  const char* name;
  unsigned arity;
  Family family;
  bool register_only;
};
// Built-ins with an instruction of their own. Their operands are source(s), destination, failure
// label, and the export for messages.
const GuardBif kInlineBifs[] = {
    {"hd", 1, Family::hd, true},
    {"tl", 1, Family::tl, true},
    {"tuple_size", 1, Family::tuple_size, true},
    {"byte_size", 1, Family::byte_size, true},
    {"map_size", 1, Family::map_size, true},
    {"not", 1, Family::bool_not, false},
    {"map_get", 2, Family::map_get, false},
    {"is_map_key", 2, Family::is_map_key, false},
};

struct Comparison {
  const char* name;
  unsigned mask;
};  // as compare_value's mask
/// length/1 of a constant list, which no instruction counts. It never goes to a dirty scheduler.
Term constant_length(Process& p, const Term* a) {
  SWord n = 0;
  Term list = a[0];
  for (; list.is_list(); list = list.tail()) ++n;
  return list.is_nil() ? Term::small(n) : raise_badarg(p);
}

const Comparison kComparisons[] = {{"<", 1}, {"=<", 3}, {"==", 2}, {"/=", 5}, {">=", 6}, {">", 4}};

const Loader::Operator kOperators[] = {
    {"+", 2, ArithOp::kAdd, Family::plus, true},       {"-", 2, ArithOp::kSubtract, Family::minus, false},
    {"*", 2, ArithOp::kMultiply, Family::times, true}, {"div", 2, ArithOp::kDiv, Family::int_div, false},
    {"rem", 2, ArithOp::kRem, Family::int_rem, false}, {"band", 2, ArithOp::kBand, Family::band, true},
    {"bor", 2, ArithOp::kBor, Family::bor, true},      {"bxor", 2, ArithOp::kBxor, Family::bxor, true},
    {"bsl", 2, ArithOp::kBsl, Family::bsl, false},     {"bsr", 2, ArithOp::kBsr, Family::bsr, false},
    {"/", 2, ArithOp::kDivide, Family::arith, false},  {"-", 1, ArithOp::kNegate, Family::arith, false},
    {"+", 1, ArithOp::kPlus, Family::arith, false},    {"bnot", 1, ArithOp::kBnot, Family::arith, false},
};

}  // namespace

bool Loader::bif(Word fail_label, bool collects, Word live, Word index, const Arg* a, unsigned count,
                 const Arg& dst) {
  Export* e = import(index);
  if (!e) return false;
  if (e->arity != count) return fail("arity differs from the import's");
  const Operand f = Operand::label(fail_label), d = operand(dst), target = Operand::pointer(e);
  const std::string_view name = atom_text(e->function);
  if (e->module == atoms::erlang) {
    for (const Operator& o : kOperators)
      if (o.arity == count && name == o.name) return arithmetic(o, a, d, live, f);
    if (count == 0 && name == "self") return e_.emit(Family::self, {d}), true;
    if (count == 1 && name == "abs" && collects && e->bif)
      return e_.emit(Family::abs, {in_register(a[0]), d, number(live), f, target}), true;
    if (count == 1 && name == "length" && collects && is_register(a[0]))
      return e_.emit(Family::length, {operand(a[0]), d, number(live), f, target}), true;
    if (count == 2 && name == "element") return element(a, d, f, target);
    if (count == 2 && (name == "=:=" || name == "=/=")) {
      e_.emit(Family::eq_exact_value, {operand(a[0]), operand(a[1]), d});
      if (name == "=/=") e_.emit(Family::bool_not, {d, d, Operand::label(0), target});
      return true;
    }
    if (count == 2 && (name == "min" || name == "max")) {
      e_.emit(name == "min" ? Family::minimum : Family::maximum, {operand(a[0]), operand(a[1]), d});
      return true;
    }
    for (const Comparison& c : kComparisons)
      if (count == 2 && name == c.name)
        return e_.emit(Family::compare_value, {number(c.mask), operand(a[0]), operand(a[1]), d}), true;
    for (const GuardBif& g : kInlineBifs) {
      if (g.arity != count || name != g.name) continue;
      if (count == 1) e_.emit(g.family, {g.register_only ? in_register(a[0]) : operand(a[0]), d, f, target});
      else e_.emit(g.family, {operand(a[0]), operand(a[1]), d, f, target});
      return true;
    }
  }
  BifFn fn = e->bif ? e->bif : undefined_guard_bif;
  if (e->module == atoms::erlang && name == "length" && count == 1 && e->bif) fn = constant_length;
  const Operand function = Operand::pointer(reinterpret_cast<const void*>(fn));
  if (collects) e_.emit(Family::gc_bif_check, {number(live)});
  switch (count) {
    case 0: e_.emit(Family::guard_bif0, {function, d, target}); break;
    case 1: e_.emit(Family::guard_bif1, {function, operand(a[0]), d, f, target}); break;
    case 2: e_.emit(Family::guard_bif2, {function, operand(a[0]), operand(a[1]), d, f, target}); break;
    default:
      e_.emit(Family::guard_bif3, {function, operand(a[0]), operand(a[1]), operand(a[2]), d, f, target});
  }
  return true;
}

ValueType Loader::type_of(const Arg& a) const {
  if (!a.is_const() || !a.term().is_small()) return f_.type(a);
  return {value_kind::kInteger, a.term().small_value(), a.term().small_value()};
}

/// When both operands and the result are small integers by their types, no tag is tested.
bool Loader::small_arithmetic(const Operator& o, const Arg* a, Operand x, Operand y, Operand d) {
  if (o.arity != 2) return false;
  const ValueType s = type_of(a[0]), t = type_of(a[1]);
  if (!s.is_small() || !t.is_small()) return false;
  Family family = Family::band_small;
  std::int64_t low = 0, high = 0;
  switch (o.op) {
    case ArithOp::kAdd:
      family = Family::plus_small;
      low = s.low + t.low;
      high = s.high + t.high;
      break;
    case ArithOp::kSubtract:
      family = Family::minus_small;
      low = s.low - t.high;
      high = s.high - t.low;
      break;
    case ArithOp::kBand: break;
    default: return false;
  }
  if (!Term::fits_small(low) || !Term::fits_small(high) || !e_.can_emit(family, {x, y, d})) return false;
  e_.emit(family, {x, y, d});
  return true;
}

bool Loader::arithmetic(const Operator& o, const Arg* a, Operand d, Word live, Operand f) {
  const Operand left = operand(a[0]),
                right = o.arity == 2 ? operand(a[1]) : Operand::constant(Term::small(0));
  // A constant can only be an instruction's second operand.
  const bool swapped = o.commutes && left.is_const();
  const Operand x = swapped ? right : left, y = swapped ? left : right;
  const Operand roots = number(swapped ? live | kOperandsSwapped : live);
  if (small_arithmetic(o, a, x, y, d)) return true;
  if (o.family != Family::arith && e_.can_emit(o.family, {x, y, d, roots, f}))
    e_.emit(o.family, {x, y, d, roots, f});
  else e_.emit(Family::arith, {number(arith_bit(o.op)), left, right, d, number(live), f});
  return true;
}

bool Loader::element(const Arg* a, Operand d, Operand f, Operand target) {
  const Operand index = operand(a[0]);
  const Term n = Term::from_raw(index.value);
  if (index.is_const() && n.is_small() && n.small_value() > 0 && n.small_value() <= 0xFFFF) {
    e_.emit(Family::element, {number(static_cast<Word>(n.small_value())), in_register(a[1]), d, f, target});
  } else {
    e_.emit(Family::element_var, {index, in_register(a[1]), d, f, target});
  }
  return true;
}

bool Loader::type_test(Family family, const Arg* a) {
  e_.emit(family, {in_register(a[1]), operand(a[0])});
  return true;
}

Word Loader::tuple_header(Word arity) { return Term::header(Term::Sub::kTuple, arity).raw(); }

bool Loader::comparison(Family family, const Arg* a) {
  const bool commutes = family == Family::is_eq_exact || family == Family::is_ne_exact;
  Operand x = operand(a[1]), y = operand(a[2]);
  if (commutes && x.is_const()) std::swap(x, y);
  e_.emit(family, {x, y, operand(a[0])});
  return true;
}

bool Loader::choices(const Arg& list, std::vector<Choice>* out, std::vector<Choice>* boxed) {
  const Arg* a = members(list);
  if (list.count % 2) return fail("odd list");
  for (Word i = 0; i < list.count; i += 2) {
    if (!is_source(a[i]) || is_register(a[i]) || a[i + 1].kind != Arg::Kind::kLabel || a[i + 1].value == 0)
      return fail("bad pair in the list");
    const Term t = constant(a[i]);
    (t.is_immed() ? out : boxed)->push_back({t.raw(), a[i + 1].value});
  }
  return true;
}

bool Loader::select_val(const Arg* a) {
  std::vector<Choice> c, boxed;
  if (!choices(a[2], &c, &boxed)) return false;
  const Operand src = in_register(a[0]), otherwise = operand(a[1]);
  for (const Choice& b : boxed) {  // big integers and the like, compared one by one
    e_.emit(Family::is_ne_exact, {src, Operand::constant(Term::from_raw(b.value)), Operand::label(b.label)});
  }
  if (c.empty()) return e_.emit(Family::jump, {otherwise}), true;
  std::sort(c.begin(), c.end(), [](const Choice& x, const Choice& y) { return x.value < y.value; });
  c.erase(
      std::unique(c.begin(), c.end(), [](const Choice& x, const Choice& y) { return x.value == y.value; }),
      c.end());
  const bool smalls =
      std::all_of(c.begin(), c.end(), [](const Choice& x) { return Term::from_raw(x.value).is_small(); });
  const bool atoms =
      std::all_of(c.begin(), c.end(), [](const Choice& x) { return Term::from_raw(x.value).is_atom(); });
  if (c.size() >= 4 && (smalls || atoms) && dense(c, smalls ? 4 : 6, src, otherwise, smalls)) return true;
  if (c.size() == 1) {
    e_.emit(Family::is_eq_exact, {src, Operand::constant(Term::from_raw(c[0].value)), otherwise});
    e_.emit(Family::jump, {Operand::label(c[0].label)});
    return true;
  }
  if (c.size() == 2) {
    const Operand a = Operand::constant(Term::from_raw(c[0].value)),
                  b = Operand::constant(Term::from_raw(c[1].value));
    const Operand a_to = Operand::label(c[0].label), b_to = Operand::label(c[1].label);
    if (e_.can_emit(Family::select_two, {src, a, a_to, b, b_to, otherwise}))
      return e_.emit(Family::select_two, {src, a, a_to, b, b_to, otherwise}), true;
  }
  if (c.size() > kMostInLine) return hashed(c, src, otherwise);
  std::vector<ListWord> list;
  for (const Choice& x : c) {
    list.push_back({x.value});
    list.push_back({x.label, true});
  }
  e_.emit(Family::select_linear, {src, otherwise}, list);
  return true;
}

bool Loader::hashed(const std::vector<Choice>& c, Operand src, Operand otherwise) {
  std::vector<Word> values;
  for (const Choice& x : c) values.push_back(x.value);
  const SelectTable table = select_table(values);
  std::vector<ListWord> list;
  for (const int i : table.places) {
    list.push_back({i == SelectTable::kFree ? 0 : c[static_cast<std::size_t>(i)].value});
    list.push_back(i == SelectTable::kFree ? ListWord{0}
                                           : ListWord{c[static_cast<std::size_t>(i)].label, true});
  }
  e_.emit(Family::select_hash, {src, number(table.shift), otherwise}, list);
  return true;
}

bool Loader::dense(std::vector<Choice>& c, unsigned step, Operand src, Operand otherwise, bool smalls) {
  if (smalls)  // negative numbers are the largest words
    std::sort(c.begin(), c.end(), [](const Choice& x, const Choice& y) {
      return static_cast<SWord>(x.value) < static_cast<SWord>(y.value);
    });
  const Word span = ((c.back().value - c.front().value) >> step) + 1;
  const bool good = span <= 2 * c.size() + 2;
  if (good) {
    std::vector<ListWord> table(span, ListWord{otherwise.value, true});
    for (const Choice& x : c) table[(x.value - c.front().value) >> step] = {x.label, true};
    e_.emit(Family::select_dense, {src, number(step), otherwise, number(c.front().value)}, table);
  }
  if (smalls)
    std::sort(c.begin(), c.end(), [](const Choice& x, const Choice& y) { return x.value < y.value; });
  return good;
}

bool Loader::select_tuple_arity(const Arg* a) {
  std::vector<ListWord> list;
  const Arg* m = members(a[2]);
  if (a[2].count % 2) return fail("odd list");
  for (Word i = 0; i < a[2].count; i += 2) {
    if (m[i].kind != Arg::Kind::kUnsigned || m[i + 1].kind != Arg::Kind::kLabel || m[i + 1].value == 0)
      return fail("bad pair in the list");
    list.push_back({tuple_header(m[i].value)});
    list.push_back({m[i + 1].value, true});
  }
  e_.emit(Family::select_tuple_arity, {in_register(a[0]), operand(a[1])}, list);
  return true;
}

bool Loader::nonempty_list(const Arg* a) {
  if (const Arg* g = next_args(generic::k_get_list); g && g[0] == a[1] && is_register(a[1])) {
    e_.emit(Family::match_list, {operand(a[1]), operand(g[1]), operand(g[2]), operand(a[0])});
    at_++;
    return true;
  }
  return type_test(Family::is_nonempty_list, a);
}

bool Loader::is_tuple(const Arg* a) {
  if (const Arg* t = next_args(generic::k_select_tuple_arity);
      t && t[0] == a[1] && t[1] == a[0] && is_register(a[1]))
    return true;  // select_tuple_arity tests that itself
  if (const Arg* t = next_args(generic::k_test_arity);
      t && t[1] == a[1] && t[0] == a[0] && is_register(a[1])) {
    e_.emit(Family::is_tuple_of_arity, {operand(a[1]), number(tuple_header(t[2].value)), operand(a[0])});
    at_++;
    return true;
  }
  return type_test(Family::is_tuple, a);
}

}  // namespace vmrun
