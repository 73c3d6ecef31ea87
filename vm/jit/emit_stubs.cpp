// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "vm/code/instructions.hpp"
#include "vm/jit/assembler.hpp"
#include "vm/jit/emit_code.hpp"
#include "vm/jit/native_frame.hpp"
#include "vm/jit/process_offsets.hpp"

namespace vmrun::jit {
namespace {

class StubWriter {
 public:
  std::vector<std::uint8_t> write(std::vector<std::uint32_t>* offsets) {
    offsets->clear();
    const auto begin = [&] {
      // Somebody may still come here by an operation that has just been replaced.
      CodePrefix prefix{};
      prefix.operation = op::look_again;
      a_.align_behind(sizeof prefix);
      a_.data(&prefix, sizeof prefix);
      offsets->push_back(a_.here());
    };
    begin();
    enter();
    begin();  // at_entry
    const Label used_up = a_.label();
    a_.count_down(kProcess, kReductions);
    a_.jump_if_not_positive(used_up);
    leave(How::kAt, kRegisterArguments);
    begin();  // at_return
    leave(How::kAt, 1);
    for (unsigned how = 0; how < static_cast<unsigned>(How::kCount); ++how) {
      begin();
      if (static_cast<How>(how) == How::kGuessed) count_guess();
      leave(static_cast<How>(how), 0);
    }
    begin();  // yield
    a_.bind(used_up);
    leave(How::kYield, kRegisterArguments);
    begin();  // counted
    a_.count_down(kProcess, kReductions);
    const Label yields = a_.label();
    a_.jump_if_not_positive(yields);
    a_.jump_through(kAddress, -words(1));
    a_.bind(yields);
    leave(How::kCounted, 1);
    begin();  // collect
    leave(How::kCollect, 1);
    begin();  // call_bif
    a_.call_of_process(kHeapTop, kHeapStop);
    const Label no_code = a_.label();
    for (unsigned n = 0; n <= kRegisterArguments; ++n) {
      begin();
      a_.call_fun(n, no_code);
    }
    a_.bind(no_code);
    a_.move(kAddress, kScratch);
    leave(How::kNoCode, kRegisterArguments);
    return a_.finish();
  }

 private:
  static SWord words(SWord n) { return static_cast<SWord>(n * sizeof(Word)); }

  void enter() {
    const Register code = a_.enter_code();
    for (unsigned n = 0; n < kRegisterArguments; ++n)
      a_.load(Register{static_cast<std::uint8_t>(n)}, kXRegisters, x_at(n));
    a_.load(kStack, kProcess, kHeapStop);
    a_.load(kHeap, kProcess, kHeapTop);
    a_.jump_to(code);
  }
  /// Goes on if there have been enough wrong guesses; else the exit is an ordinary one.
  void count_guess() {
    const Label enough = a_.label();
    a_.move(kScratch, reinterpret_cast<Word>(&guesses_left));
    a_.count_down(kScratch, 0);
    a_.jump_if_not_positive(enough);
    leave(How::kAsItWas, 0);
    a_.bind(enough);
  }
  /// Goes back to the interpreter. So many x registers are stored first.
  void leave(How how, unsigned stored) {
    for (unsigned n = 0; n < stored; ++n)
      a_.store(kXRegisters, x_at(n), Register{static_cast<std::uint8_t>(n)});
    a_.store(kProcess, kHeapTop, kHeap);
    a_.store(kProcess, kHeapStop, kStack);
    a_.leave_code(kAddress, static_cast<Word>(how));
  }

  Assembler a_;
};

}  // namespace

std::vector<std::uint8_t> emit_stubs(std::vector<std::uint32_t>* offsets) {
  return StubWriter().write(offsets);
}

}  // namespace vmrun::jit
