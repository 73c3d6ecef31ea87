#pragma once

/// Counters of a build that measures coverage (./dev coverage): the compiler's library writes them
/// when a program returns from main or calls exit. vmrun does neither, so whoever ends it calls
/// this first. Any thread, other threads may go on; also from the handler of a fatal signal, where
/// it may allocate: good enough for a build that nobody uses. In other builds it is nothing.
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
