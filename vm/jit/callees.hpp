// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/word.hpp"

/// C++ functions that machine code calls in the middle of a function, while its values stay where
/// they are. So they never collect. The arguments are words, at most kMostArguments of them, and so
/// is the result. Scheduler threads.
namespace vmrun::jit {

struct Callee {
  const void* function;
  /// Its first argument is the process, whose heap it may use: the top is stored before and loaded
  /// again behind it. What has no room lies outside the heap's block then, and whoever calls it
  /// looks for that (Builder::collect_soon_if_left).
  bool takes_process = false;
};
inline constexpr unsigned kMostArguments = 5;  // besides the process

/// A result that is no term: the interpreter has to do it, since there is no room.
inline constexpr Word kLeave = 4;

namespace callees {
extern const Callee map_get;         // (map, key): the value, or 0
extern const Callee map_get_hashed;  // (map, key, hash): likewise
// These return 0 if the instruction itself has to do it (instruction_support.hpp).
extern const Callee arith;                // (an ArithOp, a, b)
extern const Callee put_key, update_key;  // (map, key, value)
extern const Callee put_keys;             // (exact, map, address of keys and values, number of them)

extern const Callee are_equal;               // (a, b): a =:= b
extern const Callee is_less;                 // (a, b): a < b
extern const Callee are_equal_numbers;       // (a, b): a == b, where 1 == 1.0
extern const Callee is_equal;                // (a, b): a =:= b, as an atom
extern const Callee compare;                 // (mask, a, b): as the instruction compare_value
extern const Callee minimum, maximum;        // (a, b)
extern const Callee length;                  // (list): its length, or 0 if the interpreter is to find it
extern const Callee bif0, bif1, bif2, bif3;  // (function, arguments…): calls a guard built-in
extern const Callee is_collection_due;       // (): whether too much lies outside the heap's block

// Bit strings. Those of contexts advance them, but for extract; 0: there is no match.
extern const Callee start_match;     // (bit string): a context. These words are there
extern const Callee extract;         // (context, bits): the next ones, which are there; likewise
extern const Callee top_bits;        // (base, position, bits): as the topmost ones of a word
extern const Callee get_field;       // (context, bits | flags << 16): up to 59 bits
extern const Callee get_integer;     // (context, size, unit | flags << 16). Or kLeave
extern const Callee get_float;       // (context, size, unit | flags << 16). These words are there
extern const Callee get_utf8;        // (context)
extern const Callee get_utf16;       // (context, flags)
extern const Callee get_utf32;       // likewise
extern const Callee same_bits;       // (base, position, bytes, bits): whether these are the bits
extern const Callee remainder;       // (a, b): of positive numbers
extern const Callee byte_size;       // (bit string)
extern const Callee bit_size;        // likewise
extern const Callee is_binary;       // (bit string): whether it has whole bytes
extern const Callee put_binary;      // (out, limit, bit string, size, unit | at << 16): out, or 0
extern const Callee put_utf8;        // (out, limit, at, character): likewise
extern const Callee create_binary;   // (x, segments, words of them, need): 0 if the interpreter has to
extern const Callee append_bits;     // (bit string, word, bits | is_private << 8); or 0. Words are there
extern const Callee begin_writable;  // (size): an empty one
extern const Callee applied;         // (module, function, arity): the export that apply calls, or 0
extern const Callee applied_last;    // likewise; 0 also for those that the interpreter has to look at

extern const Callee send;  // (to, message): whether it has been sent
inline constexpr Word kNoMessage = 0, kExiting = 1;
extern const Callee next_message;    // a term, or one of these
extern const Callee remove_message;  // whether there may be much to collect
extern const Callee time_is_up;
extern const Callee start_timer;  // (timeout): TimeoutState
extern const Callee reserve_marker;
extern const Callee bind_marker;   // (marker, reference)
extern const Callee clear_marker;  // (reference)
extern const Callee use_marker;    // (reference)
}  // namespace callees

}  // namespace vmrun::jit
