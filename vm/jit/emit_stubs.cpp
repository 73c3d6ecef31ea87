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
  HotFunction write(std::vector<std::uint32_t>* offsets) {
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
      call_fun(n, no_code);
    }
    a_.bind(no_code);
    a_.move(kAddress, kScratch);
    leave(How::kNoCode, kRegisterArguments);
    HotFunction made;
    made.code = a_.finish();
    made.frame_sizes = a_.frame_sizes();
    return made;
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

  /// Goes to the code of a fun, which is in kScratch: so many arguments are in place (the largest
  /// number: or more), and its free variables follow. Values' registers that are no x registers are
  /// free. Without code it goes to `no_code`.
  void call_fun(unsigned arguments, Label no_code) {
    constexpr Register kCopied{kRegisterArguments}, kTo{kRegisterArguments + 1};
    const Label go = a_.label(), next = a_.label();
    a_.load_bytes(kScratch2, kScratch, kFreeCount, 4);
    for (unsigned n = arguments; n <= kRegisterArguments; ++n) {
      a_.compare(kScratch2, Word{n - arguments});
      a_.jump_if(Comparison::kEqual, go);
      if (n < kRegisterArguments)
        a_.load(Register{static_cast<std::uint8_t>(n)}, kScratch, free_variable(n - arguments));
    }
    // The others go to memory, the last one first.
    a_.load_bytes(kTo, kScratch, kFunArity, 1);
    a_.add(kTo, kScratch2);
    a_.shift_left(kTo, 3);
    a_.add(kTo, kXRegisters);
    a_.bind(next);
    a_.load_indexed(kCopied, kScratch, kScratch2, free_variable(0) - words(1));
    a_.store(kTo, x_at(0) - words(1), kCopied);
    a_.add(kTo, -words(1));
    a_.add(kScratch2, -1);
    a_.compare(kScratch2, Word{kRegisterArguments - arguments});
    a_.jump_if(Comparison::kAbove, next);
    a_.bind(go);
    a_.load(kAddress, kScratch, kFunEntry);
    a_.load(kAddress, kAddress, kFunAddress);
    a_.test_zero(kAddress);
    a_.jump_if(Comparison::kEqual, no_code);
    a_.jump_through(kAddress, -words(1));
  }

  Assembler a_;
};

}  // namespace

HotFunction emit_stubs(std::vector<std::uint32_t>* offsets) { return StubWriter().write(offsets); }

}  // namespace vmrun::jit
