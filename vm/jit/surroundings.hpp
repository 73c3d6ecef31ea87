// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <unordered_set>

#include "vm/term/fun.hpp"

namespace vmrun::jit {

/// What the compiler asks about a function's surroundings. One thread.
struct Surroundings {
  /// Instructions that have often left machine code since something was guessed.
  const std::unordered_set<const Word*>& wrong_guesses;
  /// Returns where the instructions of another function of the same module end, or nullptr if
  /// somebody watches it or something else has taken its place: it is not inlined then.
  std::function<const Word*(const FunctionHeader&)> end_of_unchanged;
  /// The fun whose code the function is, or nullptr.
  const FunEntry* fun;
};

}  // namespace vmrun::jit
