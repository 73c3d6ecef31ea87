// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probes/d/syntax/failure.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/program.hpp"

/// Builds the instructions of one predicate or body after the other, with the constants and texts
/// that a whole program shares. Registers are a stack: an expression uses registers above those in
/// use, and leaves its value in the lowest of them. Jumps go forward only, because D has no loops.
namespace vmrun::d::lang {

class Code {
 public:
  explicit Code(Program& program);

  /// What follows is put into `out`, and all registers are free.
  void start(std::vector<Instruction>& out);
  /// What follows belongs to this place, which errors name.
  void at(Place place) { place_ = place; }

  /// Returns where the instruction is, for here().
  std::size_t put(Operation operation, unsigned a = 0, unsigned b = 0, unsigned c = 0, std::int64_t imm = 0);
  /// Makes that jump go to the next instruction.
  void here(std::size_t jump) { (*out_)[jump].imm = static_cast<std::int32_t>(out_->size()); }
  void number(unsigned to, std::uint64_t value);
  void text(unsigned to, const std::string& value);

  /// Takes the lowest free register. Fails with D_NOREG when there is none.
  unsigned take();
  unsigned free() const { return free_; }
  /// Frees r and the registers above it.
  void free_from(unsigned r) { free_ = r; }
  /// Takes the lowest free register of terms.
  unsigned take_term();
  unsigned free_term() const { return free_term_; }
  void free_terms_from(unsigned t) { free_term_ = t; }

 private:
  Program& program_;
  std::vector<Instruction>* out_ = nullptr;
  std::map<std::uint64_t, std::size_t> constants_;
  std::map<std::string, std::size_t> texts_;
  unsigned free_ = 0, free_term_ = 0;
  Place place_;
};

}  // namespace vmrun::d::lang
