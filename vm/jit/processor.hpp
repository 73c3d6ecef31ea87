// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is particular to the processor that code is made for: its registers, how C++ functions use
// them, how far a jump reaches. VMRUN_JIT_ARM: code for 64-bit ARM, whatever this program runs on
// (test/unit/jit). Other processors have no assembler; what they find here is not used.
#if defined(__aarch64__) || defined(VMRUN_JIT_ARM)
#include "vm/jit/processor_arm.hpp"  // IWYU pragma: export
#else
#include "vm/jit/processor_x86.hpp"  // IWYU pragma: export
#endif
