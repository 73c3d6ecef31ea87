// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vm/base/word.hpp"
#include "vm/code/made_code.hpp"
#include "vm/jit/processor.hpp"

/// Machine code for one processor, behind one small interface: what emit_code.cpp needs of it, and
/// no more. Code is position-independent but for addresses of the machine's own, which are
/// constants. assembler_x86.cpp is for x86-64, assembler_arm.cpp for 64-bit ARM.
namespace vmrun::jit {

struct Label {
  std::uint32_t id;
};

/// Above and below are of numbers without a sign, less and greater of those with one.
enum class Comparison : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kNotLess,
  kAbove,
  kNotAbove,
  kOverflow,
  kBelow,
  kNotBelow,
  kNotGreater,
  kNotOverflow,
};

class Assembler {
 public:
  Assembler();
  ~Assembler();

  std::uint32_t here() const;
  Label label();
  void bind(Label l);
  /// Aligns what follows so that `size` bytes of data end where code that is jumped to begins.
  void align_behind(unsigned size);
  void data(const void* bytes, unsigned size);

  void move(Register to, Register from);
  void move(Register to, Word constant);
  void load(Register to, Register base, SWord displacement);
  void load(Register to, Register base, Register index, SWord displacement);
  /// index: of words
  void load_indexed(Register to, Register base, Register index, SWord displacement);
  void store(Register base, SWord displacement, Register from);
  /// Copies two words. Uses a float register that nobody else does.
  void copy_two(Register to, SWord displacement, Register from, SWord from_displacement);
  /// By way of the scratch register, if the constant is large.
  void store(Register base, SWord displacement, Word constant);
  void address(Register to, Register base, SWord displacement);
  void add(Register to, Register other);
  void add(Register to, SWord constant);
  void subtract(Register to, Register other);
  void subtract_one(Register from);  // kBelow: it was zero
  void multiply(Register to, Register other);
  void and_(Register to, Register other);
  void or_(Register to, Register other);
  void xor_(Register to, Register other);
  void and_(Register to, SWord constant);
  void or_(Register to, SWord constant);
  void shift_left(Register to, unsigned bits);
  void shift_right(Register to, unsigned bits);  // with the sign
  void shift_right_unsigned(Register to, unsigned bits);
  /// By as many bits as the lowest six bits of kScratch say.
  void shift_left(Register to);
  /// Turns the order of the lowest bytes round: 2, 4 or 8 of them. What is above 4 is zero then,
  /// and above 2 if it was zero before.
  void swap_bytes(Register to, unsigned bytes);
  /// 1, 2, 4 or 8 bytes. Others are zero.
  void load_bytes(Register to, Register base, SWord displacement, unsigned bytes);
  void store_bytes(Register base, SWord displacement, Register from, unsigned bytes);
  /// By way of the scratch register, if eight bytes do not fit 32 bits with a sign.
  void store_bytes(Register base, SWord displacement, Word constant, unsigned bytes);
  void shift_right(Register to);  // with the sign
  /// Quotient and remainder of dividend by divisor go to kQuotient and kRemainder (which these may
  /// be). May use kScratch2, if the dividend is not there.
  void divide(Register dividend, Register divisor);

  void compare(Register a, Register b);
  /// Uses kScratch, or kScratch2 if a is kScratch, if the constant is large.
  void compare(Register a, Word constant);
  /// Compares a - value, masked, with zero. Uses kScratch.
  void test_difference(Register a, Word value, SWord mask);
  void jump(Label to);
  void jump_if(Comparison c, Label to);
  void compare_memory_32(Register base, SWord displacement, std::int32_t constant);
  void compare_memory_64(Register base, SWord displacement, std::int32_t constant);
  /// index: of words
  void compare_memory_64(Register base, Register index, SWord displacement, std::int32_t constant);
  void compare_memory_64(Register base, Register index, SWord displacement, Register r);
  /// Compares the bits of a number of 32 bits in memory with zero.
  void test_bits(Register base, SWord displacement, std::uint32_t mask);
  /// Whether so much is the number of a bit that is set; compare with kBelow.
  void test_bit(Register bits, Register number);
  /// Compares with zero.
  void test_zero(Register r);
  /// Compares the bits of a register with zero. Uses kScratch if the mask has more than 31 bits.
  void test_bits(Register r, Word mask);
  /// Subtracts from a number of 32 bits in memory.
  void subtract_32(Register base, SWord displacement, Register by);
  /// Counts a number of 32 bits in memory down by one; compare with jump_if_not_positive.
  void count_down(Register base, SWord displacement);
  void jump_if_not_positive(Label to);
  /// Goes to what the word there says.
  void jump_through(Register base, SWord displacement);

  void move(FloatRegister to, FloatRegister from);
  void load(FloatRegister to, Register base, SWord displacement);
  void store(Register base, SWord displacement, FloatRegister from);
  void constant(FloatRegister to, Word bits);
  void to_float(FloatRegister to, Register integer);
  enum class FloatOperation : std::uint8_t { kAdd, kSubtract, kMultiply, kDivide };
  /// to may be a or b. Uses kFloatScratch if it is b alone.
  void operate(FloatOperation op, FloatRegister to, FloatRegister a, FloatRegister b);
  /// Goes there if the number is infinite or none. Uses kScratch and kFloatScratch.
  void jump_if_not_finite(FloatRegister f, Label to);
  void compare(FloatRegister a, FloatRegister b);  // then kAbove, kNotAbove, kEqual

  /// Jumps out of the code: the distances are to be filled in (lead_outward).
  void jump_outward(const void* target);
  void jump_if_outward(Comparison c, const void* target);
  void call_outward(const void* target);
  /// Calls a C++ function, which may be farther away.
  void call_function(const void* function);
  const std::vector<HotFunction::Fixup>& outward() const;

  // What the interpreter calls to run code; made once. See native_frame.hpp.
  /// Begins a function of a process, x registers, float registers and an address of code: makes the
  /// frame and the frame's record, and puts these into kProcess, kXRegisters, the frame, and the
  /// register that it returns.
  Register enter_code();
  void jump_to(Register address);
  /// Ends it: the function returns the register and the number.
  void leave_code(Register first, Word second);
  /// A function that call_outward calls. It calls a C++ function with the process and the x
  /// registers in memory, the address of which is in kAddress; the result goes to register 0, and
  /// has been compared with zero. `before` is stored, and loaded again.
  void call_of_process(SWord top, SWord stop);

  /// Where those have changed the size of the frame, or code behind them begins with another one.
  const std::vector<HotFunction::FrameSize>& frame_sizes() const;

  /// Empty: a jump does not reach its label.
  std::vector<std::uint8_t> finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vmrun::jit
