// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <unordered_set>

#include "vm/term/fun.hpp"

namespace vmrun::jit {

class FunctionCode;

/// What the compiler asks about a function's surroundings. One thread.
struct Surroundings {
  /// Instructions that have often left machine code since something was guessed.
  std::unordered_set<const Word*> wrong_guesses;
  /// Takes another function of the same module apart, to be inlined. nullptr: somebody watches it,
  /// or something else has taken its place, so it is not.
  std::function<std::shared_ptr<const FunctionCode>(const FunctionHeader&)> read_unchanged;
  /// The fun whose code the function is, or nullptr.
  const FunEntry* fun;
};

}  // namespace vmrun::jit
