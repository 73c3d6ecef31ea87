// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"

/// Return addresses on the stack of a process: the words with a header's tag.
namespace vmrun {

/// Code of the machine's own, where watched calls return to first (trace/calls_under_way.hpp), with
/// their return address behind it on the stack. connect_machine() fills it in.
inline Word ends_of_calls_words[2];
inline Word* const ends_of_calls = ends_of_calls_words + 1;

/// Code of the machine's own, where the call of a process that has met a breakpoint on a line
/// returns to (code/line_breakpoints.hpp). connect_machine() fills it in.
inline Word line_breakpoint_end_words[2];
inline Word* const line_breakpoint_end = line_breakpoint_end_words + 1;

/// Code of the machine's own, where the first function of a process returns to. connect_machine()
/// fills it in.
inline Word end_of_process_words[2];
inline Word* const end_of_process = end_of_process_words + 1;

inline bool leads_to_ends_of_calls(Term on_stack) {
  return on_stack.raw() == reinterpret_cast<Word>(ends_of_calls);
}
/// Whether a word on a stack is the return address of a call in some function. (Return addresses
/// have a header's tag. A slot where nothing has been stored yet is zero.)
inline bool is_return_address(Term on_stack) {
  return on_stack.is_header() && on_stack.raw() != 0 && !leads_to_ends_of_calls(on_stack);
}
/// Returns the address to which a function returns that has no frame (any more): the word on top of
/// the stack.
inline const Word* return_address_at(const Term* stack) {
  return reinterpret_cast<const Word*>(stack[leads_to_ends_of_calls(*stack)].raw());
}
/// Returns the depth of such a stack at the call.
inline Word call_depth(const Process& p, const Term* stack) {
  return static_cast<Word>(p.heap.end - stack) - leads_to_ends_of_calls(*stack);
}

}  // namespace vmrun
