// SPDX-License-Identifier: Apache-2.0
#include "vm/lifecycle/inspect.hpp"

#include <span>
#include <vector>

#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/process_state.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/map.hpp"

namespace vmrun {
namespace {

/// A frame: the slots from `slots` on, and where its function goes on.
struct Frame {
  const Word* address;
  const Term* slots;
  Word count;
  bool is_innermost;  // `address` is the process's own; otherwise where a call returns to
};

/// Returns the frames, outermost first.
std::vector<Frame> frames_of(const Process& p) {
  std::vector<Frame> frames;
  const Term* end = p.heap.end;  // of the slots of the next frame
  for (const Term* s = p.heap.end; s-- > p.heap.stop;) {
    if (leads_to_ends_of_calls(*s)) end = s;
    if (!is_return_address(*s)) continue;
    frames.push_back({reinterpret_cast<const Word*>(s->raw()), s + 1, static_cast<Word>(end - s - 1), false});
    end = s;
  }
  if (frames.empty()) frames.push_back({nullptr, end, 0, false});  // it has not begun
  frames.push_back({p.ip, p.heap.stop, static_cast<Word>(end - p.heap.stop), true});
  return frames;
}

/// Whether the process has left its stack by erlang:hibernate/3. It goes on in the code of an
/// export that leads to the function.
bool is_hibernating(const Process& p, const FunctionHeader* f) {
  if (!f || p.wait_kind == WaitKind::kNone || p.heap.end - p.heap.stop != 1) return false;
  const Export* e = find_export(f->module, f->function, f->arity);
  return e && e->stub_code() == p.ip;
}

Term function_term(Heap& out, Term module, Term name, unsigned arity, Term line) {
  static const Term function_key = intern_atom("function"), line_key = intern_atom("line");
  Term pairs[] = {function_key, new_tuple(out, module, name, Term::small(arity)), line_key, line};
  return map_from_pairs(out, pairs, 2);
}

/// #{function, line} of an address in code, or the name of the machine's own code.
Term place_term(Heap& out, const Word* address) {
  static const Term at_end = intern_atom("<terminate process normally>"),
                    at_breakpoint = intern_atom("<breakpoint>");
  const FunctionHeader* f = address ? process_upcalls.header_at(address) : nullptr;
  if (!f) return address == line_breakpoint_end ? at_breakpoint : at_end;
  const Term place = process_upcalls.location(address, out);
  return function_term(out, f->module, f->function, f->arity, place.is_tuple() ? place.element(1) : place);
}

Term frame_place(const Process& p, Heap& out, const Frame& frame) {
  static const Term hibernate = intern_atom("hibernate");
  const Word* const address = frame.address;
  if (!frame.is_innermost)  // the call lies in front of the address
    return place_term(out, address && process_upcalls.header_at(address - 1) ? address - 1 : address);
  if (!address)
    return function_term(out, p.initial_module, p.initial_function, p.initial_arity, atoms::undefined);
  const FunctionHeader* const f = process_upcalls.header_at(address);
  if (is_hibernating(p, f)) return function_term(out, atoms::erlang, hibernate, 3, atoms::undefined);
  // At its entry a function is in front of its first line: it has the line of its head.
  const bool is_at_entry = f && f->entry() == address && process_upcalls.header_at(address - 1) == f;
  return place_term(out, is_at_entry ? address - 1 : address);
}

/// {value, Value}, or {too_large, Words}.
Term value_term(Heap& out, Term value, Word most) {
  static const Term value_tag = intern_atom("value"), too_large = intern_atom("too_large");
  const Term settled_value = settled(out, value);
  const Word words = size_words(settled_value);
  return words <= most ? new_tuple(out, value_tag, settled_value)
                       : new_tuple(out, too_large, Term::small(static_cast<SWord>(words)));
}

Term slot_term(Heap& out, Term slot, Word most) {
  static const Term catch_tag = intern_atom("catch");
  if (slot.is_catch())
    return new_tuple(out, catch_tag, place_term(out, static_cast<const Word*>(slot.catch_address())));
  return value_term(out, slot.is_header() ? Term::nil() : slot, most);  // a header: nothing is stored yet
}

/// [{Number, Place, #{slots, code}}], innermost first.
Term frames_term(const Process& p, Heap& out, Word most) {
  static const Term slots_key = intern_atom("slots"), code_key = intern_atom("code");
  Term list = Term::nil();
  SWord number = 0;
  for (const Frame& frame : frames_of(p)) {
    ListBuilder slots(out);
    for (Word i = 0; i < frame.count; ++i) slots.add(slot_term(out, frame.slots[i], most));
    const Term code = make_unsigned(out, reinterpret_cast<Word>(frame.address));
    Term pairs[] = {slots_key, slots.finish(), code_key, code};
    const Term entry =
        new_tuple(out, Term::small(number++), frame_place(p, out, frame), map_from_pairs(out, pairs, 2));
    Term* hp = out.alloc(2);
    list = make_cons(hp, entry, list);
  }
  return list;
}

Term frame_slot(const Process& p, Heap& out, Word frame, Word slot, Word most) {
  const std::vector<Frame> frames = frames_of(p);
  if (frame >= frames.size() || slot >= frames[frame].count) return atoms::undefined;
  return slot_term(out, frames[frame].slots[slot], most);
}

/// Returns the x registers. A process that hibernates has the arguments of erlang:hibernate/3.
std::vector<Term> registers(const Process& p, Heap& out) {
  const std::span<const Term> saved(p.saved_regs, p.live_saved);
  const FunctionHeader* const f = p.ip ? process_upcalls.header_at(p.ip) : nullptr;
  if (is_hibernating(p, f)) return {f->module, f->function, new_list(out, saved)};
  return {saved.begin(), saved.end()};
}

Term register_term(const Process& p, Heap& out, Word x, Word most) {
  const std::vector<Term> all = registers(p, out);
  return x < all.size() ? value_term(out, all[x], most) : atoms::undefined;
}

}  // namespace

Term inspect(Process& p, Term question, Heap& out) {
  static const Term running = intern_atom("running");
  if (!p.suspend_count) return running;
  const auto number = [&](unsigned n) { return static_cast<Word>(question.element(n).small_value()); };
  switch (static_cast<Inspected>(number(0))) {
    case Inspected::kFrames: return frames_term(p, out, number(3));
    case Inspected::kSlot: return frame_slot(p, out, number(1), number(2), number(3));
    case Inspected::kRegisterCount: return Term::small(static_cast<SWord>(registers(p, out).size()));
    case Inspected::kRegister: return register_term(p, out, number(2), number(3));
  }
  return atoms::undefined;
}

}  // namespace vmrun
