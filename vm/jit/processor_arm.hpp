// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstddef>
#include <limits>

#include "vm/jit/processor_registers.hpp"

/// 64-bit ARM, as processor.hpp has it. What each constant is for, processor_x86.hpp says.
///
///     number    register
///     0…13      x0…x13     values, changed by C++ functions
///     14…20     x22…x28    values, kept by them
///     21, 22    x14, x15   kScratch, kScratch2
///     23…26     x19, x20, x21, x29
///     27        sp         kFrame
///     28, 29    x16, x17   used within functions of the assembler; the results of a division
///
/// x18 is the system's, and x30 has no value since any call changes it. Float registers are d0…d7
/// and d16…d31: the others would have to be kept for the caller.
namespace vmrun::jit {

inline constexpr unsigned kGeneral = 21, kFloats = 22;

inline constexpr Register kScratch{21}, kScratch2{22};
inline constexpr Register kStack{23}, kHeap{24}, kProcess{25}, kXRegisters{26}, kFrame{27};
inline constexpr Register kAddress = kScratch2;
inline constexpr FloatRegister kFloatScratch{22}, kFloatScratch2{23};

inline constexpr Register kArguments[] = {{0}, {1}, {2}, {3}, {4}, {5}};
inline constexpr Register kResult{0};
inline constexpr std::uint32_t kKept = 0x7Fu << 14;

inline constexpr Register kQuotient{28}, kRemainder{29};
inline constexpr std::uint32_t kDivisionChanges = 0;

inline constexpr std::uint32_t kElfMachine = EM_AARCH64;
inline constexpr int kStackNumber = 19;

// DWARF for the Arm 64-bit Architecture, "DWARF register names": x28 down to x19, x30, x29.
inline constexpr unsigned kSavedInDwarf[] = {28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 30, 29};
inline constexpr unsigned kStackInDwarf = 31, kReturnInDwarf = 30;

/// Jumps reach through all of the area. Functions of C++ are called by their address.
inline constexpr std::size_t kReach = std::numeric_limits<std::size_t>::max(),
                             kAreaBytes = std::size_t{128} << 20;

}  // namespace vmrun::jit
