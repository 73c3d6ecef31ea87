// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vm/term/fun.hpp"

namespace vmrun::jit {

class FunctionCode;

/// What is taken for granted of numbers whose kind is not known, until it turns out to be wrong:
/// that they are small integers, that they are floats, or nothing.
enum class Guess : std::uint8_t { kSmall, kFloat, kNothing };

/// By instruction, where it was wrong to take them for small integers. By a function's header:
/// floats are usual in that function.
using Guesses = std::unordered_map<const Word*, Guess>;

/// The functions of the funs that an instruction has been seen to call, taken apart, to be inlined.
struct CalledFuns {
  std::vector<std::shared_ptr<const FunctionCode>> functions;
  /// It calls others as well. Else another one means that the guess was wrong.
  bool others = false;
};

/// What the compiler asks about a function's surroundings. One thread.
struct Surroundings {
  Guesses guesses;
  /// By instruction. What is not there has not been seen to call any.
  std::unordered_map<const Word*, CalledFuns> called_funs;
  /// Takes another function of the same module apart, to be inlined. nullptr: somebody watches it,
  /// or something else has taken its place, so it is not.
  std::function<std::shared_ptr<const FunctionCode>(const FunctionHeader&)> read_unchanged;
  /// The fun whose code the function is, or nullptr.
  const FunEntry* fun;
};

}  // namespace vmrun::jit
