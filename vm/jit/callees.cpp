// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/callees.hpp"

#include "vm/code/instruction_support.hpp"
#include "vm/message/receive.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/long_compare.hpp"
#include "vm/term/map.hpp"

namespace vmrun::jit {
namespace {

/// Longer lists are counted by the interpreter, which leaves it to another thread.
constexpr SWord kMostCells = 100'000;

Word get_of_map(Term map, Term key) { return map_get(map, key).raw(); }
Word get_hashed_of_map(Term map, Term key, Word hash) { return map_get(map, key, hash).raw(); }
Word arith_of(Process& p, Word op, Term a, Term b) {
  return arith_in_room(p, static_cast<ArithOp>(op), a, b).raw();
}
Word put_in_map(Process& p, Term map, Term key, Term value) {
  const Term pair[] = {key, value};
  return put_map_in_room(p, false, map, pair, 1).raw();
}
Word update_in_map(Process& p, Term map, Term key, Term value) {
  const Term pair[] = {key, value};
  return put_map_in_room(p, true, map, pair, 1).raw();
}
Word put_all_in_map(Process& p, Word exact, Term map, const Term* pairs, Word n) {
  return put_map_in_room(p, exact, map, pairs, n).raw();
}
Word terms_equal(Term a, Term b) { return equal_exact_of_any_size(a, b); }
Word numbers_equal(Term a, Term b) { return equal_of_any_size(a, b); }
Word truth(bool b) { return (b ? atoms::true_ : atoms::false_).raw(); }
Word equal_value(Term a, Term b) { return truth(equal_exact_of_any_size(a, b)); }
Word compare_value(Word mask, Term a, Term b) {
  const int n = compare_of_any_size(a, b);
  return truth(mask & (n < 0 ? 1 : n == 0 ? 2 : 4));
}
Word least_of(Term a, Term b) { return (compare_of_any_size(a, b) > 0 ? b : a).raw(); }
Word greatest_of(Term a, Term b) { return (compare_of_any_size(a, b) < 0 ? b : a).raw(); }
Word length_of(Process& p, Term list) {
  SWord n = 0;
  for (; list.is_list(); list = list.tail())
    if (++n > kMostCells) return 0;
  if (!list.is_nil()) return 0;
  p.reductions -= static_cast<std::int32_t>(n >> 6);
  return Term::small(n).raw();
}
Word call_bif0(Process& p, BifFn f) {
  Term none;
  return f(p, &none).raw();
}
Word call_bif1(Process& p, BifFn f, Term a) { return f(p, &a).raw(); }
Word call_bif2(Process& p, BifFn f, Term a, Term b) {
  Term args[] = {a, b};
  return f(p, args).raw();
}
Word call_bif3(Process& p, BifFn f, Term a, Term b, Term c) {
  Term args[] = {a, b, c};
  return f(p, args).raw();
}
Word collection_due(Process& p) { return vmrun::is_collection_due(p); }
Word term_less(Term a, Term b) { return compare_of_any_size(a, b) < 0; }

Word target_of_apply(Term module, Term function, Word arity) {
  return reinterpret_cast<Word>(apply_target(module, function, static_cast<unsigned>(arity)));
}
/// A built-in function that raises has to be called with a return address (apply_last).
Word target_of_last_apply(Term module, Term function, Word arity) {
  const Export* const e = apply_target(module, function, static_cast<unsigned>(arity));
  return e && (e->bif || is_apply(*e)) ? 0 : reinterpret_cast<Word>(e);
}

Word send_to(Process& p, Term to, Term message) { return send_message(p, to, message); }
Word look_for_message(Process& p) {
  Term message;
  switch (receive_peek(p, &message)) {
    case Peek::kMessage: return message.raw();
    case Peek::kExiting: return callees::kExiting;
    default: return callees::kNoMessage;
  }
}
Word take_message(Process& p) {
  receive_remove(p);
  return p.heap.gc_desired();
}
Word timer_of_receive(Process& p, Term timeout) { return static_cast<Word>(receive_start_timer(p, timeout)); }

template <class F>
const void* address(F* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

namespace callees {
const Callee map_get{address(&get_of_map)};
const Callee map_get_hashed{address(&get_hashed_of_map)};
const Callee arith{address(&arith_of), true};
const Callee put_key{address(&put_in_map), true};
const Callee update_key{address(&update_in_map), true};
const Callee put_keys{address(&put_all_in_map), true};
const Callee are_equal{address(&terms_equal)};
const Callee is_less{address(&term_less)};
const Callee are_equal_numbers{address(&numbers_equal)};
const Callee is_equal{address(&equal_value)};
const Callee compare{address(&compare_value)};
const Callee minimum{address(&least_of)};
const Callee maximum{address(&greatest_of)};
const Callee length{address(&length_of), true};
const Callee bif0{address(&call_bif0), true};
const Callee bif1{address(&call_bif1), true};
const Callee bif2{address(&call_bif2), true};
const Callee bif3{address(&call_bif3), true};
const Callee is_collection_due{address(&collection_due), true};
const Callee applied{address(&target_of_apply)};
const Callee applied_last{address(&target_of_last_apply)};

const Callee send{address(&send_to), true};
const Callee next_message{address(&look_for_message), true};
const Callee remove_message{address(&take_message), true};
const Callee time_is_up{address(&receive_timeout), true};
const Callee start_timer{address(&timer_of_receive), true};
const Callee reserve_marker{address(&receive_marker_reserve), true};
const Callee bind_marker{address(&receive_marker_bind), true};
const Callee clear_marker{address(&receive_marker_clear), true};
const Callee use_marker{address(&receive_marker_use), true};
}  // namespace callees

}  // namespace vmrun::jit
