#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include "vm/term/term.hpp"

/// Functions that take much time have machine code of their own (vm/hot), which slices run that are
/// not watched. Where it can be entered (the function's entry, and behind calls, where these return
/// to) the operation `hot` stands in the place of the instruction's own; the word in front of the
/// instruction says where the code is. All else in the function stays: a process may go on in
/// either at any such place, return addresses are the same, and whoever reads code finds the
/// operation that was there (operation_at).
namespace vmrun {

struct Process;
struct Module;

/// Of an instruction whose operation is `hot`.
inline const void* hot_code(const Word* at) {
  return reinterpret_cast<const void*>(__atomic_load_n(at - 1, __ATOMIC_RELAXED));
}
/// The operation in whose place that stands: it is kept in front of the code.
inline std::uint16_t operation_as_it_was(const void* code) {
  std::uint16_t operation;
  std::memcpy(&operation, static_cast<const char*>(code) - 5, sizeof operation);
  return operation;
}

/// What is to be known of the interpreter's loop. It lasts.
struct LoopView {
  const void* const* cases;  // by operation, of slices that nobody watches; those that count returns
  std::span<const void* const> often_called;  // functions that cases call on ways that are no rare ones
};

/// That of this build, once a process has begun.
inline constinit std::atomic<const LoopView*> loop_view{nullptr};

/// Who makes and gives back such code, filled in by vm/hot; without it there is none.
struct HotCodeMaker {
  /// p has used its slice up and goes on with the instruction `at`, its stack stored. By its
  /// scheduler.
  void (*look)(const Process& p, const Word* at, const LoopView& loop) = [](const Process&, const Word*,
                                                                            const LoopView&) {};
  /// The function the instruction lies in has no such code any more; processes that are in the
  /// middle of it leave it when their slices end at the latest. The caller has the lock of
  /// patches.cpp.
  void (*cool)(const Word* at) = [](const Word*) {};
  /// The module's code goes.
  void (*forget)(const Module& m) = [](const Module&) {};
};
inline HotCodeMaker hot_code_maker;

}  // namespace vmrun
