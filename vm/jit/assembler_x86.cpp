// SPDX-License-Identifier: Apache-2.0
#include <asmjit/x86.h>

#include <cassert>
#include <cstddef>
#include <cstring>

#include "vm/jit/allocation.hpp"
#include "vm/jit/assembler.hpp"
#include "vm/jit/compile_function.hpp"
#include "vm/jit/native_frame.hpp"

namespace vmrun::jit {
namespace {

namespace x86 = asmjit::x86;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#pragma GCC diagnostic pop

/// In the order of Register::number.
constexpr std::uint32_t kGeneralIds[] = {x86::Gp::kIdAx,  x86::Gp::kIdSi,  x86::Gp::kIdDi,  x86::Gp::kIdR8,
                                         x86::Gp::kIdR9,  x86::Gp::kIdR10, x86::Gp::kIdDx,  x86::Gp::kIdR15,
                                         x86::Gp::kIdR14, x86::Gp::kIdCx,  x86::Gp::kIdR11, x86::Gp::kIdBx,
                                         x86::Gp::kIdR12, x86::Gp::kIdR13, x86::Gp::kIdBp,  x86::Gp::kIdSp};

static_assert(kGeneralIds[kStack.number] == kStackNumber);

x86::Gp q(Register r) { return x86::gpq(kGeneralIds[r.number]); }
x86::Gp d(Register r) { return x86::gpd(kGeneralIds[r.number]); }
x86::Xmm f(FloatRegister r) { return x86::xmm(r.number); }
x86::Mem at(Register base, SWord displacement) {
  return x86::qword_ptr(q(base), static_cast<std::int32_t>(displacement));
}
bool fits_32(SWord v) { return v == static_cast<std::int32_t>(v); }

constexpr x86::CondCode kCodes[] = {x86::CondCode::kE,  x86::CondCode::kNE, x86::CondCode::kL,
                                    x86::CondCode::kGE, x86::CondCode::kA,  x86::CondCode::kBE,
                                    x86::CondCode::kO,  x86::CondCode::kB,  x86::CondCode::kAE,
                                    x86::CondCode::kLE, x86::CondCode::kNO};

}  // namespace

/// An instruction that the processor does not have is not written; nobody asks for one.
struct NoErrors : asmjit::ErrorHandler {
  void handleError(asmjit::Error, const char*, asmjit::BaseEmitter*) override { assert(false); }
};

struct Assembler::Impl {
  NoErrors no_errors;
  asmjit::CodeHolder holder;
  x86::Assembler a;
  std::vector<HotFunction::Fixup> outward;
  std::vector<HotFunction::FrameSize> frame_sizes;
  void frame_size(unsigned words, unsigned registers) {
    frame_sizes.push_back({static_cast<std::uint32_t>(a.offset()), words, registers});
  }
  void usual_frame() { frame_size(kFrameSize, std::size(kSavedInDwarf)); }
  Impl() {
    holder.init(asmjit::Environment::host());
    holder.setErrorHandler(&no_errors);
    holder.attach(&a);
  }
};

Assembler::Assembler() : impl_(std::make_unique<Impl>()) {}
Assembler::~Assembler() = default;

#define A impl_->a

std::uint32_t Assembler::here() const { return static_cast<std::uint32_t>(A.offset()); }
Label Assembler::label() { return {A.newLabel().id()}; }
void Assembler::bind(Label l) { A.bind(asmjit::Label(l.id)); }
void Assembler::align_behind(unsigned size) {
  while ((here() + size) % 16) A.int3();
}
void Assembler::data(const void* bytes, unsigned size) { A.embed(bytes, size); }

void Assembler::move(Register to, Register from) {
  if (!(to == from)) A.mov(q(to), q(from));
}
void Assembler::move(Register to, Word constant) {
  if (constant <= 0xFFFFFFFF) A.mov(d(to), static_cast<std::uint32_t>(constant));
  else A.mov(q(to), constant);
}
void Assembler::load(Register to, Register base, SWord displacement) { A.mov(q(to), at(base, displacement)); }
void Assembler::store(Register base, SWord displacement, Register from) {
  A.mov(at(base, displacement), q(from));
}
void Assembler::store(Register base, SWord displacement, Word constant) {
  if (fits_32(static_cast<SWord>(constant))) {
    A.mov(at(base, displacement), static_cast<std::int32_t>(constant));
    return;
  }
  move(kScratch, constant);
  store(base, displacement, kScratch);
}
void Assembler::load(Register to, Register base, Register index, SWord displacement) {
  A.mov(q(to), x86::qword_ptr(q(base), q(index), 0, static_cast<std::int32_t>(displacement)));
}
void Assembler::load_indexed(Register to, Register base, Register index, SWord displacement) {
  A.mov(q(to), x86::qword_ptr(q(base), q(index), 3, static_cast<std::int32_t>(displacement)));
}
void Assembler::copy_two(Register to, SWord displacement, Register from, SWord from_displacement) {
  A.movups(x86::xmm15, x86::xmmword_ptr(q(from), static_cast<std::int32_t>(from_displacement)));
  A.movups(x86::xmmword_ptr(q(to), static_cast<std::int32_t>(displacement)), x86::xmm15);
}
void Assembler::address(Register to, Register base, SWord displacement) {
  A.lea(q(to), at(base, displacement));
}
void Assembler::add(Register to, Register other) { A.add(q(to), q(other)); }
void Assembler::add(Register to, SWord constant) { A.add(q(to), constant); }
void Assembler::subtract(Register to, Register other) { A.sub(q(to), q(other)); }
void Assembler::subtract_one(Register from) { A.sub(q(from), 1); }
void Assembler::multiply(Register to, Register other) { A.imul(q(to), q(other)); }
void Assembler::and_(Register to, Register other) { A.and_(q(to), q(other)); }
void Assembler::or_(Register to, Register other) { A.or_(q(to), q(other)); }
void Assembler::xor_(Register to, Register other) { A.xor_(q(to), q(other)); }
void Assembler::and_(Register to, SWord constant) { A.and_(q(to), constant); }
void Assembler::or_(Register to, SWord constant) { A.or_(q(to), constant); }
void Assembler::shift_left(Register to, unsigned bits) { A.shl(q(to), bits); }
void Assembler::shift_right(Register to, unsigned bits) { A.sar(q(to), bits); }
void Assembler::shift_right_unsigned(Register to, unsigned bits) { A.shr(q(to), bits); }
void Assembler::shift_left(Register to) {
  static_assert(kGeneralIds[kScratch.number] == x86::Gp::kIdCx);
  A.shl(q(to), x86::cl);
}
void Assembler::swap_bytes(Register to, unsigned bytes) {
  if (bytes == 8) {
    A.bswap(q(to));
    return;
  }
  if (bytes == 4) A.bswap(d(to));
  else A.rol(x86::gpw(kGeneralIds[to.number]), 8);
}
void Assembler::load_bytes(Register to, Register base, SWord displacement, unsigned bytes) {
  x86::Mem from = at(base, displacement);
  from.setSize(bytes);
  if (bytes == 8) A.mov(q(to), from);
  else if (bytes == 4) A.mov(d(to), from);
  else A.movzx(d(to), from);
}
void Assembler::store_bytes(Register base, SWord displacement, Register from, unsigned bytes) {
  x86::Mem to = at(base, displacement);
  to.setSize(bytes);
  const std::uint32_t id = kGeneralIds[from.number];
  if (bytes == 8) A.mov(to, q(from));
  else if (bytes == 4) A.mov(to, d(from));
  else if (bytes == 2) A.mov(to, x86::gpw(id));
  else A.mov(to, x86::gpb_lo(id));
}
void Assembler::store_bytes(Register base, SWord displacement, Word constant, unsigned bytes) {
  if (bytes == 8) {
    store(base, displacement, constant);
    return;
  }
  x86::Mem to = at(base, displacement);
  to.setSize(bytes);
  const unsigned shift = 64 - 8 * bytes;
  A.mov(to, static_cast<SWord>(constant << shift) >> shift);
}
void Assembler::shift_right(Register to) { A.sar(q(to), x86::cl); }
void Assembler::divide(Register dividend, Register divisor) {
  static_assert(kGeneralIds[kQuotient.number] == x86::Gp::kIdAx &&
                kGeneralIds[kRemainder.number] == x86::Gp::kIdDx);
  if (divisor == kQuotient || divisor == kRemainder) {
    move(kScratch2, divisor);
    divisor = kScratch2;
  }
  move(kQuotient, dividend);
  A.cqo();
  A.idiv(q(divisor));
}

void Assembler::compare(Register a, Register b) { A.cmp(q(a), q(b)); }
void Assembler::compare(Register a, Word constant) {
  if (fits_32(static_cast<SWord>(constant))) {
    A.cmp(q(a), static_cast<std::int32_t>(constant));
    return;
  }
  const Register r = a == kScratch ? kScratch2 : kScratch;
  move(r, constant);
  A.cmp(q(a), q(r));
}
void Assembler::test_difference(Register a, Word value, SWord mask) {
  A.lea(d(kScratch), x86::ptr(q(a), -static_cast<std::int32_t>(value)));
  A.test(x86::gpb_lo(kGeneralIds[kScratch.number]), mask);
}
void Assembler::jump(Label to) { A.jmp(asmjit::Label(to.id)); }
void Assembler::jump_if(Comparison c, Label to) {
  A.j(kCodes[static_cast<unsigned>(c)], asmjit::Label(to.id));
}
void Assembler::compare_memory_32(Register base, SWord displacement, std::int32_t constant) {
  A.cmp(x86::dword_ptr(q(base), static_cast<std::int32_t>(displacement)), constant);
}
void Assembler::compare_memory_64(Register base, SWord displacement, std::int32_t constant) {
  A.cmp(at(base, displacement), constant);
}
void Assembler::compare_memory_64(Register base, Register index, SWord displacement, std::int32_t constant) {
  A.cmp(x86::qword_ptr(q(base), q(index), 3, static_cast<std::int32_t>(displacement)), constant);
}
void Assembler::compare_memory_64(Register base, Register index, SWord displacement, Register r) {
  A.cmp(x86::qword_ptr(q(base), q(index), 3, static_cast<std::int32_t>(displacement)), q(r));
}
void Assembler::test_bits(Register base, SWord displacement, std::uint32_t mask) {
  A.test(x86::dword_ptr(q(base), static_cast<std::int32_t>(displacement)), mask);
}
void Assembler::test_bit(Register bits, Register number) { A.bt(d(bits), d(number)); }
void Assembler::test_zero(Register r) { A.test(q(r), q(r)); }
void Assembler::test_bits(Register r, Word mask) {
  if (mask <= 0xFF) {
    A.test(x86::gpb_lo(kGeneralIds[r.number]), static_cast<std::int32_t>(mask));
  } else if (mask <= 0x7FFFFFFF) {
    A.test(d(r), static_cast<std::int32_t>(mask));
  } else {
    move(kScratch, mask);
    A.test(q(r), q(kScratch));
  }
}
void Assembler::subtract_32(Register base, SWord displacement, Register by) {
  A.sub(x86::dword_ptr(q(base), static_cast<std::int32_t>(displacement)), d(by));
}
void Assembler::count_down(Register base, SWord displacement) {
  A.dec(x86::dword_ptr(q(base), static_cast<std::int32_t>(displacement)));
}
void Assembler::jump_if_not_positive(Label to) { A.jle(asmjit::Label(to.id)); }
void Assembler::jump_through(Register base, SWord displacement) { A.jmp(at(base, displacement)); }

void Assembler::move(FloatRegister to, FloatRegister from) {
  if (!(to == from)) A.movapd(f(to), f(from));
}
void Assembler::load(FloatRegister to, Register base, SWord displacement) {
  A.movsd(f(to), at(base, displacement));
}
void Assembler::store(Register base, SWord displacement, FloatRegister from) {
  A.movsd(at(base, displacement), f(from));
}
void Assembler::constant(FloatRegister to, Word bits) {
  if (bits == 0) {
    A.xorpd(f(to), f(to));
    return;
  }
  move(kScratch, bits);
  A.movq(f(to), q(kScratch));
}
void Assembler::to_float(FloatRegister to, Register integer) {
  A.xorpd(f(to), f(to));  // else it waits for what was there before
  A.cvtsi2sd(f(to), q(integer));
}
void Assembler::operate(FloatOperation op, FloatRegister to, FloatRegister a, FloatRegister b) {
  if (to == b && !(to == a)) {
    move(kFloatScratch, b);
    b = kFloatScratch;
  }
  move(to, a);
  switch (op) {
    case FloatOperation::kAdd: A.addsd(f(to), f(b)); break;
    case FloatOperation::kSubtract: A.subsd(f(to), f(b)); break;
    case FloatOperation::kMultiply: A.mulsd(f(to), f(b)); break;
    case FloatOperation::kDivide: A.divsd(f(to), f(b)); break;
  }
}
void Assembler::jump_if_not_finite(FloatRegister r, Label to) {
  // x - x is zero, or no number.
  move(kFloatScratch, r);
  A.subsd(f(kFloatScratch), f(kFloatScratch));
  A.ucomisd(f(kFloatScratch), f(kFloatScratch));
  A.jp(asmjit::Label(to.id));
}
void Assembler::compare(FloatRegister a, FloatRegister b) { A.ucomisd(f(a), f(b)); }

void Assembler::jump_outward(const void* target) {
  const std::uint8_t bytes[] = {0xE9, 0, 0, 0, 0};
  A.embed(bytes, sizeof bytes);
  impl_->outward.push_back({here() - 4, target});
}
void Assembler::jump_if_outward(Comparison c, const void* target) {
  const std::uint8_t code = 0x80 + static_cast<std::uint8_t>(kCodes[static_cast<unsigned>(c)]);
  const std::uint8_t bytes[] = {0x0F, code, 0, 0, 0, 0};
  A.embed(bytes, sizeof bytes);
  impl_->outward.push_back({here() - 4, target});
}
void Assembler::call_outward(const void* target) {
  const std::uint8_t bytes[] = {0xE8, 0, 0, 0, 0};
  A.embed(bytes, sizeof bytes);
  impl_->outward.push_back({here() - 4, target});
}
void Assembler::call_function(const void* function) { call_outward(function); }
const std::vector<HotFunction::Fixup>& Assembler::outward() const { return impl_->outward; }
const std::vector<HotFunction::FrameSize>& Assembler::frame_sizes() const { return impl_->frame_sizes; }

namespace {
constexpr int kSavedIds[] = {x86::Gp::kIdBx,  x86::Gp::kIdBp,  x86::Gp::kIdR12,
                             x86::Gp::kIdR13, x86::Gp::kIdR14, x86::Gp::kIdR15};
// With the return address and what is saved, the frame's size is a multiple of 16.
constexpr unsigned kFrameBytes = kFrameWords * 8;
static_assert(kFrameSize == kFrameWords + std::size(kSavedIds) + 1);
}  // namespace

Register Assembler::enter_code() {
  unsigned saved = 1;  // the return address
  impl_->frame_size(saved, saved);
  for (const int id : kSavedIds) {
    A.push(x86::gpq(static_cast<std::uint32_t>(id)));
    ++saved;
    impl_->frame_size(saved, saved);
  }
  A.sub(x86::rsp, kFrameBytes);
  impl_->usual_frame();
  A.mov(q(kProcess), x86::rdi);
  A.lea(q(kXRegisters), x86::qword_ptr(x86::rsi, -kFirstX));
  A.mov(x86::rax, at(kFrame, kFrameBytes + 8 * std::size(kSavedIds)));
  A.mov(at(kXRegisters, offsetof(FrameRecord, return_address)), x86::rax);
  A.mov(at(kFrame, kFloatsSlot * sizeof(Word)), x86::rdx);
  static_assert(kGeneralIds[kScratch.number] == x86::Gp::kIdCx);
  return kScratch;
}
void Assembler::jump_to(Register address) { A.jmp(q(address)); }
void Assembler::leave_code(Register first, Word second) {
  A.mov(x86::rax, q(first));
  A.mov(x86::edx, static_cast<std::uint32_t>(second));
  A.add(x86::rsp, kFrameBytes);
  impl_->frame_size(std::size(kSavedInDwarf), std::size(kSavedInDwarf));
  for (std::size_t n = std::size(kSavedIds); n-- > 0;) {
    A.pop(x86::gpq(static_cast<std::uint32_t>(kSavedIds[n])));
    impl_->frame_size(1 + static_cast<unsigned>(n), 1 + static_cast<unsigned>(n));
  }
  A.ret();
  impl_->usual_frame();
}

void Assembler::call_of_process(SWord top, SWord stop) {
  impl_->frame_size(1, 1);  // a frame of its own, which machine code has called
  store(kProcess, top, kHeap);
  store(kProcess, stop, kStack);
  A.mov(x86::rdi, q(kProcess));
  A.lea(x86::rsi, at(kXRegisters, kFirstX));
  A.sub(x86::rsp, 8);  // for the alignment
  impl_->frame_size(2, 1);
  A.call(q(kAddress));
  A.add(x86::rsp, 8);
  impl_->frame_size(1, 1);
  load(kHeap, kProcess, top);
  load(kStack, kProcess, stop);
  test_zero(Register{0});
  A.ret();
  impl_->usual_frame();
}

std::vector<std::uint8_t> Assembler::finish() {
  impl_->holder.flatten();
  impl_->holder.resolveUnresolvedLinks();
  const asmjit::CodeBuffer& code = impl_->holder.sectionById(0)->buffer();
  return {code.data(), code.data() + code.size()};
}

void lead_outward(HotFunction* code, const std::uint8_t* place) {
  for (const HotFunction::Fixup& x : code->fixups) {
    const auto distance =
        static_cast<std::int32_t>(static_cast<const std::uint8_t*>(x.target) - (place + x.at + 4));
    std::memcpy(code->code.data() + x.at, &distance, sizeof distance);
  }
}

}  // namespace vmrun::jit
