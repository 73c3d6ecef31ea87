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

namespace callees {
extern const Callee map_get;         // (map, key): the value, or 0
extern const Callee map_get_hashed;  // (map, key, hash): likewise
// These return 0 if the instruction itself has to do it (instruction_support.hpp).
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
}  // namespace callees

}  // namespace vmrun::jit
