// SPDX-License-Identifier: Apache-2.0
#include <asmjit/arm.h>
#include <asmjit/arm/a64assembler.h>

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstring>

#include "vm/jit/allocation.hpp"
#include "vm/jit/assembler.hpp"
#include "vm/jit/compile_function.hpp"
#include "vm/jit/native_frame.hpp"

namespace vmrun::jit {
namespace {

namespace a64 = asmjit::a64;
using asmjit::arm::CondCode;

/// The assembler uses these itself: one for addresses and what is in memory, one for constants.
constexpr Register kTemp{28}, kTemp2{29};

/// What the processor calls registers, as processor_arm.hpp has it.
constexpr std::uint32_t id_of(Register r) {
  constexpr std::uint32_t kOthers[] = {14, 15, 19, 20, 21, 29, 31, 16, 17};
  if (r.number < 14) return r.number;
  return r.number < kGeneral ? r.number + 8 : kOthers[r.number - kGeneral];
}
static_assert(id_of(kStack) == kStackNumber && id_of({kGeneral - 1}) == 28);

a64::Gp x(Register r) { return r == kFrame ? a64::Gp(a64::sp) : a64::Gp(a64::x(id_of(r))); }
a64::Gp w(Register r) { return a64::w(id_of(r)); }
a64::Vec d(FloatRegister r) { return a64::d(r.number < 8 ? r.number : r.number + 8u); }

/// Whether add, sub and cmp have room for it.
bool fits_12(SWord v) { return v >= 0 && (v < 4096 || (v % 4096 == 0 && v < 1 << 24)); }
/// Whether and, orr and tst have room for it: its ones are side by side, with the last bit next to
/// the first. (They have for other patterns as well.)
bool is_run(Word v) { return std::popcount(v ^ std::rotl(v, 1)) == 2; }

constexpr CondCode kCodes[] = {CondCode::kEQ, CondCode::kNE, CondCode::kLT, CondCode::kGE,
                               CondCode::kHI, CondCode::kLS, CondCode::kVS, CondCode::kLO,
                               CondCode::kHS, CondCode::kLE, CondCode::kVC};
CondCode code(Comparison c) { return kCodes[static_cast<unsigned>(c)]; }

/// Instructions whose distance is filled in.
constexpr std::uint32_t kJump = 0x14000000, kCall = 0x94000000;

}  // namespace

/// Labels may be too far away; an instruction that the processor does not have is asked for by
/// nobody.
struct TooFar : asmjit::ErrorHandler {
  bool happened = false;
  void handleError(asmjit::Error e, const char*, asmjit::BaseEmitter*) override {
    assert(e == asmjit::kErrorInvalidDisplacement || e == asmjit::kErrorRelocOffsetOutOfRange);
    (void)e;
    happened = true;
  }
};

struct Assembler::Impl {
  TooFar too_far;
  asmjit::CodeHolder holder;
  a64::Assembler a;
  std::vector<HotFunction::Fixup> outward;
  std::vector<HotFunction::FrameSize> frame_sizes;
  void frame_size(unsigned words, unsigned registers) {
    frame_sizes.push_back({static_cast<std::uint32_t>(a.offset()), words, registers});
  }
  void usual_frame() { frame_size(kFrameSize, std::size(kSavedInDwarf)); }
  Impl() {
    holder.init(asmjit::Environment(asmjit::Arch::kAArch64));
    holder.setErrorHandler(&too_far);
    holder.attach(&a);
  }

  /// A place in memory, for an instruction that loads or stores so many bytes. Uses kTemp, or
  /// kTemp2 if the base is kTemp, if the displacement is large.
  a64::Mem at(Register base, SWord displacement, unsigned bytes) {
    const auto size = static_cast<SWord>(bytes);
    if ((displacement >= -256 && displacement < 256) ||
        (displacement >= 0 && displacement % size == 0 && displacement / size < 4096))
      return a64::ptr(x(base), static_cast<std::int32_t>(displacement));
    const Register r = base == kTemp ? kTemp2 : kTemp;
    a.mov(x(r), displacement);
    return a64::ptr(x(base), x(r));
  }
  a64::Mem at(Register base, SWord displacement) { return at(base, displacement, sizeof(Word)); }
  /// index: of words
  a64::Mem at(Register base, Register index, SWord displacement) {
    a.add(x(kTemp), x(base), x(index), asmjit::arm::lsl(3));
    return at(kTemp, displacement);
  }
  /// Uses kTemp2, if the constant is large.
  void compare(a64::Gp r, SWord constant) {
    if (fits_12(constant)) {
      a.cmp(r, constant);
    } else if (constant > -(SWord{1} << 24) && fits_12(-constant)) {
      a.cmn(r, -constant);
    } else {
      const a64::Gp other = r.isGpW() ? w(kTemp2) : x(kTemp2);
      a.mov(other, r.isGpW() ? static_cast<std::uint32_t>(constant) : constant);
      a.cmp(r, other);
    }
  }
  void test(a64::Gp r, Word mask) {
    if (is_run(mask)) {
      a.tst(r, mask);
    } else {
      a.mov(x(kTemp2), mask);
      a.tst(r, x(kTemp2));
    }
  }
  void outward_by(std::uint32_t instruction, const void* target) {
    outward.push_back({static_cast<std::uint32_t>(a.offset()), target});
    a.embed(&instruction, sizeof instruction);
  }
};

Assembler::Assembler() : impl_(std::make_unique<Impl>()) {}
Assembler::~Assembler() = default;

#define A impl_->a

std::uint32_t Assembler::here() const { return static_cast<std::uint32_t>(A.offset()); }
Label Assembler::label() { return {A.newLabel().id()}; }
void Assembler::bind(Label l) { A.bind(asmjit::Label(l.id)); }
void Assembler::align_behind(unsigned size) {
  while ((here() + size) % 16) A.udf(0);
}
void Assembler::data(const void* bytes, unsigned size) { A.embed(bytes, size); }

void Assembler::move(Register to, Register from) {
  if (!(to == from)) A.mov(x(to), x(from));
}
void Assembler::move(Register to, Word constant) { A.mov(x(to), constant); }
void Assembler::load(Register to, Register base, SWord displacement) {
  A.ldr(x(to), impl_->at(base, displacement));
}
void Assembler::store(Register base, SWord displacement, Register from) {
  A.str(x(from), impl_->at(base, displacement));
}
void Assembler::store(Register base, SWord displacement, Word constant) {
  store_bytes(base, displacement, constant, sizeof(Word));
}
void Assembler::load(Register to, Register base, Register index, SWord displacement) {
  A.add(x(kTemp), x(base), x(index));
  A.ldr(x(to), impl_->at(kTemp, displacement));
}
void Assembler::load_indexed(Register to, Register base, Register index, SWord displacement) {
  A.ldr(x(to), impl_->at(base, index, displacement));
}
void Assembler::copy_two(Register to, SWord displacement, Register from, SWord from_displacement) {
  const a64::Vec both = d(kFloatScratch2).q();
  A.ldr(both, impl_->at(from, from_displacement, 16));
  A.str(both, impl_->at(to, displacement, 16));
}
void Assembler::address(Register to, Register base, SWord displacement) {
  if (displacement == 0 && to == base) return;
  if (fits_12(displacement)) {
    A.add(x(to), x(base), displacement);
  } else if (fits_12(-displacement)) {
    A.sub(x(to), x(base), -displacement);
  } else {
    A.mov(x(kTemp), displacement);
    A.add(x(to), x(base), x(kTemp));
  }
}
void Assembler::add(Register to, Register other) { A.adds(x(to), x(to), x(other)); }
void Assembler::add(Register to, SWord constant) {
  if (fits_12(constant)) {
    A.adds(x(to), x(to), constant);
  } else if (constant > -(SWord{1} << 24) && fits_12(-constant)) {
    A.subs(x(to), x(to), -constant);
  } else {
    A.mov(x(kTemp2), constant);
    A.adds(x(to), x(to), x(kTemp2));
  }
}
void Assembler::subtract(Register to, Register other) { A.subs(x(to), x(to), x(other)); }
void Assembler::subtract_one(Register from) { A.subs(x(from), x(from), 1); }
void Assembler::multiply(Register to, Register other) {
  // It fits if the upper half is nothing but the sign of the lower one. If so, what is compared
  // then are zeros, which do not overflow; else the flags are set as if something did.
  A.smulh(x(kTemp), x(to), x(other));
  A.mul(x(to), x(to), x(other));
  A.cmp(x(kTemp), x(to), asmjit::arm::asr(63));
  A.ccmp(a64::xzr, a64::xzr, 1, CondCode::kEQ);
}
void Assembler::and_(Register to, Register other) { A.and_(x(to), x(to), x(other)); }
void Assembler::or_(Register to, Register other) { A.orr(x(to), x(to), x(other)); }
void Assembler::xor_(Register to, Register other) { A.eor(x(to), x(to), x(other)); }
void Assembler::and_(Register to, SWord constant) {
  if (is_run(static_cast<Word>(constant))) {
    A.and_(x(to), x(to), constant);
  } else {
    A.mov(x(kTemp2), constant);
    and_(to, kTemp2);
  }
}
void Assembler::or_(Register to, SWord constant) {
  if (is_run(static_cast<Word>(constant))) {
    A.orr(x(to), x(to), constant);
  } else {
    A.mov(x(kTemp2), constant);
    or_(to, kTemp2);
  }
}
void Assembler::shift_left(Register to, unsigned bits) { A.lsl(x(to), x(to), bits); }
void Assembler::shift_right(Register to, unsigned bits) { A.asr(x(to), x(to), bits); }
void Assembler::shift_right_unsigned(Register to, unsigned bits) { A.lsr(x(to), x(to), bits); }
void Assembler::shift_left(Register to) { A.lsl(x(to), x(to), x(kScratch)); }
void Assembler::shift_right(Register to) { A.asr(x(to), x(to), x(kScratch)); }
void Assembler::swap_bytes(Register to, unsigned bytes) {
  if (bytes == 8) A.rev(x(to), x(to));
  else if (bytes == 4) A.rev(w(to), w(to));
  else A.rev16(w(to), w(to));
}
void Assembler::load_bytes(Register to, Register base, SWord displacement, unsigned bytes) {
  const a64::Mem from = impl_->at(base, displacement, bytes);
  if (bytes == 8) A.ldr(x(to), from);
  else if (bytes == 4) A.ldr(w(to), from);
  else if (bytes == 2) A.ldrh(w(to), from);
  else A.ldrb(w(to), from);
}
void Assembler::store_bytes(Register base, SWord displacement, Register from, unsigned bytes) {
  const a64::Mem to = impl_->at(base, displacement, bytes);
  if (bytes == 8) A.str(x(from), to);
  else if (bytes == 4) A.str(w(from), to);
  else if (bytes == 2) A.strh(w(from), to);
  else A.strb(w(from), to);
}
void Assembler::store_bytes(Register base, SWord displacement, Word constant, unsigned bytes) {
  const a64::Mem to = impl_->at(base, displacement, bytes);
  const Word value = constant << (64 - 8 * bytes) >> (64 - 8 * bytes);
  if (value) A.mov(x(kTemp2), value);
  const a64::Gp from = value ? x(kTemp2) : a64::Gp(a64::xzr);
  if (bytes == 8) A.str(from, to);
  else if (bytes == 4) A.str(from.w(), to);
  else if (bytes == 2) A.strh(from.w(), to);
  else A.strb(from.w(), to);
}
void Assembler::divide(Register dividend, Register divisor) {
  A.sdiv(x(kQuotient), x(dividend), x(divisor));
  A.msub(x(kRemainder), x(kQuotient), x(divisor), x(dividend));
}

void Assembler::compare(Register a, Register b) { A.cmp(x(a), x(b)); }
void Assembler::compare(Register a, Word constant) { impl_->compare(x(a), static_cast<SWord>(constant)); }
void Assembler::test_difference(Register a, Word value, SWord mask) {
  address(kTemp, a, -static_cast<SWord>(value));
  impl_->test(x(kTemp), static_cast<Word>(mask));
}
void Assembler::jump(Label to) { A.b(asmjit::Label(to.id)); }
void Assembler::jump_if(Comparison c, Label to) { A.b(code(c), asmjit::Label(to.id)); }
void Assembler::compare_memory_32(Register base, SWord displacement, std::int32_t constant) {
  A.ldr(w(kTemp), impl_->at(base, displacement, 4));
  impl_->compare(w(kTemp), constant);
}
void Assembler::compare_memory_64(Register base, SWord displacement, std::int32_t constant) {
  A.ldr(x(kTemp), impl_->at(base, displacement));
  impl_->compare(x(kTemp), constant);
}
void Assembler::compare_memory_64(Register base, Register index, SWord displacement, std::int32_t constant) {
  A.ldr(x(kTemp), impl_->at(base, index, displacement));
  impl_->compare(x(kTemp), constant);
}
void Assembler::compare_memory_64(Register base, Register index, SWord displacement, Register r) {
  A.ldr(x(kTemp), impl_->at(base, index, displacement));
  A.cmp(x(kTemp), x(r));
}
void Assembler::test_bits(Register base, SWord displacement, std::uint32_t mask) {
  A.ldr(w(kTemp), impl_->at(base, displacement, 4));
  impl_->test(x(kTemp), mask);
}
void Assembler::test_bit(Register bits, Register number) {
  A.lsr(w(kTemp), w(bits), w(number));
  A.and_(w(kTemp), w(kTemp), 1);
  A.cmp(a64::wzr, w(kTemp));
}
void Assembler::test_zero(Register r) { A.cmp(x(r), 0); }
void Assembler::test_bits(Register r, Word mask) { impl_->test(x(r), mask); }
void Assembler::subtract_32(Register base, SWord displacement, Register by) {
  A.ldr(w(kTemp2), impl_->at(base, displacement, 4));
  A.sub(w(kTemp2), w(kTemp2), w(by));
  A.str(w(kTemp2), impl_->at(base, displacement, 4));
}
void Assembler::count_down(Register base, SWord displacement) {
  A.ldr(w(kTemp2), impl_->at(base, displacement, 4));
  A.subs(w(kTemp2), w(kTemp2), 1);
  A.str(w(kTemp2), impl_->at(base, displacement, 4));
}
void Assembler::jump_if_not_positive(Label to) { A.b(CondCode::kLE, asmjit::Label(to.id)); }
void Assembler::jump_through(Register base, SWord displacement) {
  A.ldr(x(kTemp), impl_->at(base, displacement));
  A.br(x(kTemp));
}

void Assembler::move(FloatRegister to, FloatRegister from) {
  if (!(to == from)) A.fmov(d(to), d(from));
}
void Assembler::load(FloatRegister to, Register base, SWord displacement) {
  A.ldr(d(to), impl_->at(base, displacement));
}
void Assembler::store(Register base, SWord displacement, FloatRegister from) {
  A.str(d(from), impl_->at(base, displacement));
}
void Assembler::constant(FloatRegister to, Word bits) {
  if (bits) A.mov(x(kTemp), bits);
  A.fmov(d(to), bits ? x(kTemp) : a64::Gp(a64::xzr));
}
void Assembler::to_float(FloatRegister to, Register integer) { A.scvtf(d(to), x(integer)); }
void Assembler::operate(FloatOperation op, FloatRegister to, FloatRegister a, FloatRegister b) {
  switch (op) {
    case FloatOperation::kAdd: A.fadd(d(to), d(a), d(b)); break;
    case FloatOperation::kSubtract: A.fsub(d(to), d(a), d(b)); break;
    case FloatOperation::kMultiply: A.fmul(d(to), d(a), d(b)); break;
    case FloatOperation::kDivide: A.fdiv(d(to), d(a), d(b)); break;
  }
}
void Assembler::jump_if_not_finite(FloatRegister r, Label to) {
  // x - x is zero, or no number.
  A.fsub(d(kFloatScratch), d(r), d(r));
  A.fcmp(d(kFloatScratch), d(kFloatScratch));
  A.b(CondCode::kVS, asmjit::Label(to.id));
}
void Assembler::compare(FloatRegister a, FloatRegister b) { A.fcmp(d(a), d(b)); }

void Assembler::jump_outward(const void* target) { impl_->outward_by(kJump, target); }
void Assembler::jump_if_outward(Comparison c, const void* target) {
  // Only jumps without a condition reach as far.
  const asmjit::Label next = A.newLabel();
  A.b(asmjit::arm::negateCond(code(c)), next);
  jump_outward(target);
  A.bind(next);
}
void Assembler::call_outward(const void* target) { impl_->outward_by(kCall, target); }
void Assembler::call_function(const void* function) {
  A.mov(x(kTemp), reinterpret_cast<Word>(function));
  A.blr(x(kTemp));
}
const std::vector<HotFunction::Fixup>& Assembler::outward() const { return impl_->outward; }
const std::vector<HotFunction::FrameSize>& Assembler::frame_sizes() const { return impl_->frame_sizes; }

namespace {
constexpr unsigned kSavedFirst = 19, kSavedLast = 28, kSavedBytes = (2 + kSavedLast - kSavedFirst + 1) * 8;
constexpr unsigned kFrameBytes = (kFrameWords * 8 + 15) / 16 * 16;
static_assert(kSavedBytes % 16 == 0);
constexpr unsigned kSavedWords = kSavedBytes / 8;
static_assert(kSavedWords == std::size(kSavedInDwarf) && kFrameSize == kFrameBytes / 8 + kSavedWords);
}  // namespace

Register Assembler::enter_code() {
  impl_->frame_size(0, 0);  // the caller's registers are as they were
  A.stp(a64::x29, a64::x30, a64::ptr_pre(a64::sp, -static_cast<int>(kSavedBytes)));
  impl_->frame_size(kSavedWords, 0);
  for (unsigned n = kSavedFirst; n < kSavedLast; n += 2)
    A.stp(a64::x(n), a64::x(n + 1), a64::ptr(a64::sp, static_cast<int>(16 + (n - kSavedFirst) * 8)));
  A.sub(a64::sp, a64::sp, kFrameBytes);
  impl_->usual_frame();
  A.mov(x(kProcess), a64::x0);
  A.sub(x(kXRegisters), a64::x1, kFirstX);
  A.str(a64::x30, impl_->at(kXRegisters, offsetof(FrameRecord, return_address)));
  A.str(a64::x2, impl_->at(kFrame, kFloatsSlot * sizeof(Word)));
  A.mov(x(kAddress), a64::x3);
  return kAddress;
}
void Assembler::jump_to(Register address) { A.br(x(address)); }
void Assembler::leave_code(Register first, Word second) {
  move(Register{0}, first);
  move(Register{1}, second);
  A.add(a64::sp, a64::sp, kFrameBytes);
  impl_->frame_size(kSavedWords, kSavedWords);
  for (unsigned n = kSavedFirst; n < kSavedLast; n += 2)
    A.ldp(a64::x(n), a64::x(n + 1), a64::ptr(a64::sp, static_cast<int>(16 + (n - kSavedFirst) * 8)));
  A.ldp(a64::x29, a64::x30, a64::ptr_post(a64::sp, static_cast<int>(kSavedBytes)));
  impl_->frame_size(0, 0);
  A.ret(a64::x30);
  impl_->usual_frame();
}

void Assembler::call_of_process(SWord top, SWord stop) {
  store(kProcess, top, kHeap);
  store(kProcess, stop, kStack);
  A.mov(a64::x0, x(kProcess));
  A.add(a64::x1, x(kXRegisters), kFirstX);
  // A frame record of its own, since the call changes x30.
  A.stp(a64::x29, a64::x30, a64::ptr_pre(a64::sp, -16));
  impl_->frame_size(kFrameSize + 2, std::size(kSavedInDwarf));  // as a part of machine code's frame
  A.mov(a64::x29, a64::sp);
  A.blr(x(kAddress));
  A.ldp(a64::x29, a64::x30, a64::ptr_post(a64::sp, 16));
  impl_->usual_frame();
  load(kHeap, kProcess, top);
  load(kStack, kProcess, stop);
  test_zero(kResult);
  A.ret(a64::x30);
}

std::vector<std::uint8_t> Assembler::finish() {
  impl_->holder.flatten();
  impl_->holder.resolveUnresolvedLinks();
  const asmjit::CodeBuffer& code = impl_->holder.sectionById(0)->buffer();
  if (impl_->too_far.happened) return {};
  return {code.data(), code.data() + code.size()};
}

void lead_outward(HotFunction* code, const std::uint8_t* place) {
  for (const HotFunction::Fixup& f : code->fixups) {
    const SWord distance = static_cast<const std::uint8_t*>(f.target) - (place + f.at);
    assert(distance >= -(SWord{1} << 27) && distance < SWord{1} << 27);
    std::uint32_t instruction;
    std::memcpy(&instruction, code->code.data() + f.at, sizeof instruction);
    instruction |= static_cast<std::uint32_t>(distance >> 2) & 0x3FFFFFF;
    std::memcpy(code->code.data() + f.at, &instruction, sizeof instruction);
  }
}

}  // namespace vmrun::jit
