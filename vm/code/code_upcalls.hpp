// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "vm/base/upcall.hpp"
#include "vm/base/word.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

struct Module;
struct NifLibrary;
struct Process;

/// What vm/code needs of higher layers.
struct CodeUpcalls {
  /// The file of a library, for reports.
  Upcall<const std::string&(const NifLibrary* library)> native_library_path;

  // ---- Machine code (hot_code.hpp) ----

  /// p has used its slice up and goes on with the instruction `at`, its stack stored. By its
  /// scheduler.
  Upcall<void(const Process& p, const Word* at)> look_for_heat;
  /// The function the instruction lies in has no such code any more; processes that are in the
  /// middle of it leave it when their slices end at the latest. The caller has the lock of
  /// patches.cpp.
  Upcall<void(const Word* at)> cool;
  /// What machine code guessed about the instruction has often been wrong.
  Upcall<void(const Word* at, const Term* x, const Term* y)> guessed_wrong;
  /// The module is registered.
  Upcall<void(const Module& m)> compile_all;
  /// The module's code goes. False: the compiler reads it just now, and deletes the module when it
  /// has done so.
  Upcall<bool(Module& m)> forget_heat;
};
inline constinit CodeUpcalls code_upcalls;

}  // namespace vmrun
