// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstddef>

#include "vm/jit/processor_registers.hpp"

/// x86-64, as processor.hpp has it. What the registers are called there, assembler_x86.cpp knows.
namespace vmrun::jit {

/// Numbers of registers that values may have: general ones from 0, float ones likewise. The first
/// kRegisterArguments general ones are those of the x registers where functions begin.
inline constexpr unsigned kGeneral = 9, kFloats = 14;

inline constexpr Register kScratch{9}, kScratch2{10};  // no value is there from one instruction to the next
inline constexpr Register kStack{11};  // the top of the process's stack: y registers lie there
inline constexpr Register kHeap{12};   // the top of its heap
inline constexpr Register kProcess{13};
inline constexpr Register kXRegisters{14};       // the frame pointer: its record, then x registers (x_at)
inline constexpr Register kFrame{15};            // the frame with the slots
inline constexpr Register kAddress = kScratch2;  // of the instruction that is called or returned to
inline constexpr FloatRegister kFloatScratch{14}, kFloatScratch2{15};

/// How C++ functions are called: where their arguments are, the result (a general register), and
/// which of the values' registers they keep; they keep no float register.
inline constexpr Register kArguments[] = {{2}, {1}, {6}, kScratch, {3}, {4}};
inline constexpr Register kResult{0};
inline constexpr std::uint32_t kKept = 1u << 7 | 1u << 8;

/// Where a division leaves its results, and which of the values' registers it changes.
inline constexpr Register kQuotient{0}, kRemainder{6};
inline constexpr std::uint32_t kDivisionChanges = 1u << 0 | 1u << 6;

inline constexpr std::uint32_t kElfMachine = EM_X86_64;
inline constexpr int kStackNumber = 3;  // kStack, as instructions have it

/// What a frame has of its caller, from its beginning down, by numbers in DWARF (psABI, "DWARF
/// register number mapping"): the return address, rbx, rbp, r12 to r15.
inline constexpr unsigned kSavedInDwarf[] = {16, 3, 6, 12, 13, 14, 15};
inline constexpr unsigned kStackInDwarf = 7, kReturnInDwarf = 16;

/// How near to the program the area for code lies, since functions of C++ are called by a distance;
/// and its size.
inline constexpr std::size_t kReach = std::size_t{1} << 30, kAreaBytes = std::size_t{128} << 20;

}  // namespace vmrun::jit
