// SPDX-License-Identifier: Apache-2.0
#include "vm/code/loading.hpp"
#include "vm/heap/build.hpp"
#include "vm/term/map.hpp"

/// What code has for a debugger: breakpoints on lines, and where variables are at these lines. Only
/// modules that were compiled with +beam_debug_info have it.
namespace vmrun {

namespace {

/// debug_line Kind Location Index Live. At the entry of a function nothing can stop.
bool is_breakpoint(const Arg* a) {
  static const Term entry = intern_atom("entry");
  return a[0].is_const() && a[0].term() != entry && a[1].kind == Arg::Kind::kUnsigned &&
         a[2].kind == Arg::Kind::kUnsigned && a[3].kind == Arg::Kind::kUnsigned;
}

}  // namespace

bool Loader::debug_line(const Arg* a) {
  if (!is_breakpoint(a)) return true;
  const Word location = a[1].value, live = a[3].value;
  if (location >= f_.lines.size()) return fail("line " + std::to_string(location) + " is not in the table");
  if (a[2].value == 0 || a[2].value > f_.debug_items.size())
    return fail("item " + std::to_string(a[2].value) + " is not in the table");
  if (live >= kMaxXRegisters) return fail("too many registers");
  if (location) {
    e_.set_line(static_cast<std::uint32_t>(location));
    breakpoints_.push_back({static_cast<std::uint32_t>(e_.count()), f_.lines[location].line});
  }
  // On the stack: the live registers, and two return addresses.
  e_.emit(Family::line_breakpoint_off, {number(live), need(live + 2)});
  return true;
}

/// [{Name, {x, Number} | {y, Number} | {value, Value}}]
bool Loader::debug_variables(Heap& heap, const Arg& list, Term* out) {
  static const Term x = intern_atom("x"), y = intern_atom("y"), value = intern_atom("value");
  ListBuilder all(heap);
  for (std::uint32_t i = 0; i + 1 < list.count; i += 2) {
    const Arg &name = members(list)[i], &place = members(list)[i + 1];
    if (!is_source(place) || !is_source(name) || is_register(name)) return fail("bad debug information");
    const Term where = is_register(place) ? new_tuple(heap, place.is_x() ? x : y,
                                                      Term::small(static_cast<SWord>(place.value)))
                                          : new_tuple(heap, value, constant(place));
    all.add(new_tuple(heap, constant(name), where));
  }
  *out = all.finish();
  return true;
}

/// [{Module, Function, Arity} | {Function, Arity} | Name]
bool Loader::debug_calls(Heap& heap, const Arg& list, Term* out) {
  constexpr Word kLocal = 256;
  ListBuilder all(heap);
  for (std::uint32_t i = 0; i < list.count;) {
    const Arg* a = members(list) + i;
    const bool is_function = a->kind == Arg::Kind::kUnsigned;
    const unsigned names = !is_function ? 0 : a->value < kLocal ? 2 : 1;
    if (list.count - i <= names || (is_function && a->value >= 2 * kLocal))
      return fail("bad debug information");
    for (const Arg* name = a + (is_function ? 1 : 0); name <= a + names; ++name)
      if (!is_source(*name) || is_register(*name)) return fail("bad debug information");
    const Term arity = Term::small(static_cast<SWord>(a->value % kLocal));
    if (!is_function) all.add(constant(*a));
    else if (names == 1) all.add(new_tuple(heap, constant(a[1]), arity));
    else all.add(new_tuple(heap, constant(a[1]), constant(a[2]), arity));
    i += names + 1;
  }
  *out = all.finish();
  return true;
}

/// [{Line, #{frame_size, vars, calls}}] of the items whose lines have a breakpoint; none: the file
/// has no such information.
bool Loader::debug_info(Heap& heap, Term* out) {
  static const Term frame_size = intern_atom("frame_size"), vars = intern_atom("vars"),
                    calls = intern_atom("calls");
  *out = f_.debug_items.empty() ? atoms::none : Term::nil();
  if (f_.debug_items.empty() || !m_.takes_line_breakpoints) return true;
  std::vector<Word> locations(f_.debug_items.size());
  for (const GenericInstruction& i : f_.code) {
    const Arg* a = f_.args(i);
    if (i.opcode != generic::k_debug_line || !is_breakpoint(a)) continue;
    if (a[2].value - 1 < locations.size() && a[1].value < f_.lines.size())
      locations[a[2].value - 1] = a[1].value;
  }
  ListBuilder all(heap);
  for (std::size_t i = 0; i < locations.size(); ++i) {
    if (!locations[i]) continue;
    const BeamFile::DebugItem& item = f_.debug_items[i];
    Term pairs[6] = {frame_size, atoms::none, vars, Term::nil(), calls, Term::nil()};
    if (item.frame.kind == Arg::Kind::kUnsigned) pairs[1] = Term::small(static_cast<SWord>(item.frame.value));
    else if (item.frame.is_const() && item.frame.term().is_atom()) pairs[1] = item.frame.term();
    if (!debug_variables(heap, item.variables, &pairs[3]) || !debug_calls(heap, item.calls, &pairs[5]))
      return false;
    const Term line = Term::small(f_.lines[locations[i]].line);
    all.add(new_tuple(heap, line, map_from_pairs(heap, pairs, 3)));
  }
  *out = all.finish();
  return true;
}

}  // namespace vmrun
