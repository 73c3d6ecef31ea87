// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "vm/code/debugger.hpp"
#include "vm/code/instructions.hpp"
#include "vm/heap/copy.hpp"
#include "vm/term/bits.hpp"

// Module erts_debug: sizes and identity of terms, and what OTP tells about the inside of its
// machine.
namespace vmrun {

/// Returns the words that a copy without sharing takes.
Term bif_erts_debug_flat_size_1(Process& p, const Term* a) {
  const Word words = size_words(a[0]);
  charge(p, static_cast<SWord>(words));
  return Term::small(static_cast<SWord>(words));
}

/// Whether two terms are the same word: the same immediate or the same object.
Term bif_erts_debug_same_2(Process&, const Term* a) { return bool_term(a[0].raw() == a[1].raw()); }

/// (Bits, Offset): the same bits, at an offset of 1 to 7 bits in the bytes of a binary.
Term bif_erts_debug_unaligned_bitstring_2(Process& p, const Term* a) {
  SWord offset;
  if (!a[0].is_bitstring() || !small_in_range(a[1], 1, 7, &offset)) return raise_badarg(p);
  const BitView bits = bits_of(a[0]);
  const Word bytes = std::max<Word>((bits.size_bits + static_cast<Word>(offset) + 7) / 8, Word{65});
  std::vector<std::uint8_t> moved(bytes);
  copy_bits(moved.data(), static_cast<Word>(offset), bits.base, bits.offset_bits, bits.size_bits);
  charge(p, static_cast<SWord>(bytes / 8));
  return make_part(p.heap, make_binary(p.heap, moved.data(), bytes), static_cast<Word>(offset),
                   bits.size_bits);
}

/// Names of the machine's instructions.
Term bif_erts_debug_instructions_0(Process& p, const Term*) {
  ListBuilder list(p.heap);
  for (unsigned i = 0; i < op::kOpCount; ++i) list.add(text_list(p.heap, op::kInstructions[i].name));
  return list.finish();
}

/// ({M, F, A}, Bool): calls of the functions become calls of error_handler:breakpoint/3, or become
/// normal again. `_` stands for every F or A. Returns the number of functions.
Term bif_erts_debug_breakpoint_2(Process& p, const Term* a) {
  static const Term any = intern_atom("_");
  if (!a[0].is_tuple() || a[0].tuple_arity() != 3 || (a[1] != atoms::true_ && a[1] != atoms::false_))
    return raise_badarg(p);
  const Term module = a[0].element(0), function = a[0].element(1), arity = a[0].element(2);
  if (!module.is_atom() || !function.is_atom() ||
      !(arity == any || (arity.is_small() && arity.small_value() >= 0)) || (function == any && arity != any))
    return raise_badarg(p);
  const std::size_t count =
      set_debugged(module, function == any ? std::nullopt : std::optional(function),
                   arity == any ? std::nullopt : std::optional(static_cast<unsigned>(arity.small_value())),
                   a[1] == atoms::true_);
  return Term::small(static_cast<SWord>(count));
}

/// The distance between the interpreter's instructions; 0, as OTP's machine with native code
/// answers.
Term bif_erts_debug_interpreter_size_0(Process&, const Term*) { return Term::small(0); }

/// An emulator's instructions as text, one by one. Answers false like OTP's machine with native
/// code. (vmrun -loaded shows the instructions of this machine.)
Term bif_erts_debug_disassemble_1(Process&, const Term*) { return atoms::false_; }

// Locks are not counted: the answers are those of an OTP that was built without lock counting.
Term bif_erts_debug_lcnt_clear_0(Process&, const Term*) { return atoms::error; }
Term bif_erts_debug_lcnt_collect_0(Process&, const Term*) { return atoms::error; }
Term bif_erts_debug_lcnt_control_1(Process& p, const Term*) { return raise_badarg(p); }
Term bif_erts_debug_lcnt_control_2(Process& p, const Term*) { return raise_badarg(p); }

}  // namespace vmrun
