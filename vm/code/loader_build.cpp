// SPDX-License-Identifier: Apache-2.0
#include "vm/code/loading.hpp"

#include "vm/code/instruction_support.hpp"
#include "vm/term/map.hpp"

/// Instructions that build terms: tuples, funs, records, maps.
namespace vmrun {

bool Loader::tuple(const Arg& dst, const Arg& list) {
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

bool Loader::tuple_elements(const Arg* a) {
  // Fetches of neighbouring elements of one tuple become one instruction, as long as the tuple's
  // register is not overwritten.
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
  if (n == 3)
    e_.emit(Family::get_three_elements,
            {src, index, operand(a[2]), operand(next[0][2]), operand(next[1][2])});
  else if (n == 2) e_.emit(Family::get_two_elements, {src, index, operand(a[2]), operand(next[0][2])});
  else e_.emit(Family::get_tuple_element, {src, index, operand(a[2])});
  at_ += n - 1;
  return true;
}

bool Loader::make_fun(Word index, const Arg& dst, const Arg& list) {
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

bool Loader::update_record(const Arg* a) {
  std::vector<ListWord> words;
  const Arg* m = members(a[4]);
  if (a[4].count % 2) return fail("odd list");
  for (Word i = 0; i < a[4].count; i += 2) {
    if (m[i].kind != Arg::Kind::kUnsigned || m[i].value == 0 || m[i].value > a[1].value ||
        !is_source(m[i + 1]))
      return fail("bad element");
    words.push_back({m[i].value});
    words.push_back({any(m[i + 1])});
  }
  e_.emit(Family::update_tuple,
          {operand(a[3]), operand(a[2]), number(tuple_header(a[1].value)), number(a[1].value)}, words);
  return true;
}

void Loader::map_element(Operand map, Operand key, Operand dst, Operand otherwise) {
  if (key.is_const())
    e_.emit(Family::get_map_element, {map, key, number(map_hash(Term::from_raw(key.value))), dst, otherwise});
  else e_.emit(Family::get_map_element_slow, {map, key, dst, otherwise});
}

bool Loader::map_elements(const Arg* a) {
  const Arg* m = members(a[2]);
  const Word n = a[2].count;
  if (n % 2 || n == 0) return fail("odd list");
  for (Word i = 0; i < n; i += 2)
    if (!is_source(m[i]) || !is_register(m[i + 1])) return fail("bad pair in the list");
  Operand map = operand(a[1]);
  for (Word i = 0; i + 2 < n; i += 2)
    if (m[i + 1] == a[1]) {  // it is needed until the last fetch
      e_.emit(Family::move, {map, Operand::x(kScratch)});
      map = Operand::x(kScratch);
      break;
    }
  for (Word i = 0; i < n; i += 2) map_element(map, operand(m[i]), operand(m[i + 1]), operand(a[0]));
  return true;
}

bool Loader::map_fields(const Arg* a) {
  const Arg* m = members(a[2]);
  for (Word i = 0; i < a[2].count; i++) {
    if (!is_source(m[i])) return fail("bad key");
    map_element(operand(a[1]), operand(m[i]), Operand::x(kScratch), operand(a[0]));
  }
  return true;
}

bool Loader::put_map(const Arg* a, bool exact) {
  const Arg* m = members(a[4]);
  std::vector<ListWord> words;
  if (a[4].count % 2) return fail("odd list");
  for (Word i = 0; i < a[4].count; i++) {
    if (!is_source(m[i])) return fail("bad key or value");
    words.push_back({any(m[i])});
  }
  e_.emit(Family::put_map, {number(exact), operand(a[1]), number(a[3].value), operand(a[2]), operand(a[0])},
          words);
  return true;
}

}  // namespace vmrun
