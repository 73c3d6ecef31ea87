#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probes/d/syntax/failure.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/program.hpp"

/// The instructions of one predicate or body after the other, with the constants and texts that
/// all of a program share. Registers are a stack: what an expression needs lies above what is in
/// use, its value is left in the lowest of them. Forward jumps only: there are no loops in D.
namespace vmrun::d::lang {

class Code {
 public:
  explicit Code(Program& program);

  /// What comes goes there; all registers are free.
  void start(std::vector<Instruction>& out);
  /// What comes is of this place: errors name it.
  void at(Place place) { place_ = place; }

  /// Returns where the instruction is, for here().
  std::size_t put(Operation operation, unsigned a = 0, unsigned b = 0, unsigned c = 0, std::int64_t imm = 0);
  /// That jump goes to the next instruction.
  void here(std::size_t jump) { (*out_)[jump].imm = static_cast<std::int32_t>(out_->size()); }
  void number(unsigned to, std::uint64_t value);
  void text(unsigned to, const std::string& value);

  /// The lowest free register, which is in use then; fails with D_NOREG when there is none.
  unsigned take();
  unsigned free() const { return free_; }
  /// r and those above it are free.
  void free_from(unsigned r) { free_ = r; }
  /// The same for the registers of terms.
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
