// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Counters of a build that measures coverage (./dev coverage). The compiler's library writes them
/// when a program returns from main or calls exit. vmrun does neither, so the code that ends the
/// machine calls write_coverage() first. Any thread may call it while other threads go on, and the
/// handler of a fatal signal calls it too. There it may allocate, which is good enough for such a
/// build. In other builds it does nothing.
#ifdef VMRUN_COVERAGE
extern "C" void __gcov_dump(void);
#endif

namespace vmrun {

inline void write_coverage() {
#ifdef VMRUN_COVERAGE
  __gcov_dump();
#endif
}

}  // namespace vmrun
