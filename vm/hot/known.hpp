// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "vm/base/word.hpp"
#include "vm/hot/x86.hpp"

/// What is known of the processor's registers and flags at a place in the code that is gone
/// through. Plain values.
namespace vmrun::x86 {

/// Somewhere the code cannot be followed.
struct GiveUp {};

struct Register {
  enum class Kind : std::uint8_t {
    kUnknown,
    kValue,      // `value`
    kOperation,  // the operation of our instruction at `value`: may change at any time
    kCase,       // the loop's code for that operation
    kSomeCase    // the same of an instruction whose address is not known; the processor has it
  };
  Kind kind = Kind::kUnknown;
  bool holds_known = false;  // the processor's register holds `holds`
  bool of_operands = false;  // the value comes from where our instruction is, or from its operands
  Word value = 0, holds = 0;

  bool known() const { return kind == Kind::kValue; }
  /// The processor's register does not hold it yet.
  bool waits() const {
    switch (kind) {
      case Kind::kValue: return !(holds_known && holds == value);
      case Kind::kOperation:
      case Kind::kCase: return true;
      default: return false;
    }
  }
  void set(Word v, bool of) { kind = Kind::kValue, value = v, of_operands = of; }
  void forget() { *this = {}; }
};

struct Flags {
  enum class Kind : std::uint8_t {
    kReal,  // the processor has them
    kKnown  // these
  };
  Kind kind = Kind::kReal;
  bool of_operands = false;
  bool carry = false, zero = false, sign = false, overflow = false;

  /// Of known ones: whether the condition holds, by its number in the machine's encoding.
  bool hold(unsigned condition) const {
    bool result = false;
    switch (condition >> 1) {
      case 0: result = overflow; break;
      case 1: result = carry; break;
      case 2: result = zero; break;
      case 3: result = carry || zero; break;
      case 4: result = sign; break;
      case 5: throw GiveUp{};  // parity
      case 6: result = sign != overflow; break;
      case 7: result = zero || sign != overflow; break;
    }
    return result != (condition & 1);
  }
};

struct State {
  Register registers[kRegisters];
  Flags flags;

  bool any_waits() const {
    return std::any_of(registers, registers + kRegisters, [](const Register& r) { return r.waits(); });
  }
};

}  // namespace vmrun::x86
