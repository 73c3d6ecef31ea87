// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "probes/d/emit/code.hpp"
#include "probes/d/syntax/c_types.hpp"

/// Operators on integers in registers, which are 64 bits wide. Results are cut to their C type
/// where they are stored, recorded or cast.
namespace vmrun::d::lang {

class Arithmetic {
 public:
  Arithmetic(Code& code, const Types& types) : code_(code), types_(types) {}

  /// Cuts a register to a type of less than 64 bits.
  void fit(unsigned r, TypeId type);
  /// Converts a register. is_cut: the register's value lies within its type.
  void convert(unsigned r, TypeId from, TypeId to, bool is_cut);
  /// r := r != 0
  void truth(unsigned r);
  /// r := r * bytes
  void scale(unsigned r, std::uint64_t bytes);
  /// a := a op b, for operands of one type.
  void binary(Op op, TypeId type, unsigned a, unsigned b);
  /// a := a op b, for a pointer a and an integer b. It changes b.
  void move_pointer(Op op, TypeId pointer, unsigned a, unsigned b);
  /// a := a - b, in elements, for two pointers. It changes b.
  void distance(TypeId pointer, unsigned a, unsigned b);
  /// r := a op b
  void compare(Op op, bool is_signed, unsigned r, unsigned a, unsigned b);
  std::uint64_t pointed_bytes(TypeId pointer) const;

 private:
  Code& code_;
  const Types& types_;
};

}  // namespace vmrun::d::lang
