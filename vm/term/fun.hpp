// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <vector>

#include "vm/term/term.hpp"

/// What function values refer to: exported functions by name, and the fun expressions of modules.
/// Entries never move or go away, so a call through an export is one load. Any thread.
namespace vmrun {

/// The process init. Since OTP 27 it stands for the creator of every fun.
inline constexpr Term kInitPid = Term::pid(0);

struct Process;
/// A built-in function: see vm/process/bif.hpp.
using BifFn = Term (*)(Process& p, const Term* args);

/// Four words in front of every function's first instruction. They are the func_info instruction
/// that raises function_clause.
struct FunctionHeader {
  std::uint16_t operation;
  std::uint16_t arity;
  std::uint32_t nif;  // the native function in its place (see code/native_call.hpp); 0: none ever was
  Term module, function;
  const void* hot = nullptr;  // the start of its JIT code (code/hot_code.hpp)
  const Word* entry() const { return reinterpret_cast<const Word*>(this + 1); }
};
static_assert(sizeof(FunctionHeader) == 32);
inline const FunctionHeader* header_of_entry(const Word* entry) {
  return reinterpret_cast<const FunctionHeader*>(entry) - 1;
}

/// M:F/A as callers see it. It is created at first mention (by a loader or an external fun),
/// whether or not the function exists.
struct Export {
  Term module, function;
  std::uint8_t arity = 0;
  std::uint8_t bif_flags = 0;
  BifFn bif = nullptr;  // not null: a built-in; `address` then points to code that calls it
  std::atomic<const Word*> address{
      nullptr};  // never null after creation: an undefined function's entry loads the module or raises undef
  /// What `address` points to while there is no loaded code: an instruction of the export's own,
  /// with a header in front as every function has.
  struct Stub {
    FunctionHeader header;
    std::uint16_t operation;
    Export* self;
  } stub;
  const Word* stub_code() const { return stub.header.entry(); }
};

/// Returns the one entry for M:F/A. Thread-safe.
Export* export_entry(Term module, Term function, unsigned arity);
/// Makes an export that no lookup finds, for functions that the machine makes up. `address` is that
/// of its stub. Thread-safe.
Export* hidden_export(Term module, Term function, unsigned arity);
/// Returns nullptr when the function was never mentioned.
Export* find_export(Term module, Term function, unsigned arity);
std::vector<Export*> all_exports();

/// Exports that were looked up lately, each at a place that its name decides.
inline constexpr std::size_t kRecentExports = 1024;
extern std::atomic<Export*> recent_exports[kRecentExports];
inline Word export_hash(Term module, Term function, unsigned arity) {
  const Word h = module.raw() * 0x9E3779B97F4A7C15ull ^ (function.raw() + arity) * 0xC2B2AE3D27D4EB4Full;
  return h ^ h >> 29;
}
/// Returns the entry for M:F/A if it is among them. They neither move nor disappear, so no lock is
/// needed. Calls with a module or function in a variable come here. Any thread.
inline Export* recent_export(Term module, Term function, unsigned arity) {
  // The fields are visible to the thread that reads the place.
  Export* const e =
      recent_exports[export_hash(module, function, arity) % kRecentExports].load(std::memory_order_acquire);
  return e && e->module == module && e->function == function && e->arity == arity ? e : nullptr;
}

/// A `fun` expression in a module's code. All versions of the module with the same uniq share it.
struct FunEntry {
  Term module;
  std::uint32_t index = 0;
  std::uint32_t old_uniq = 0;
  std::uint8_t uniq[16] = {};
  std::uint8_t arity = 0;  // parameters that a caller passes (without the free variables)
  std::uint32_t free_count = 0;
  std::atomic<Term> function;                 // name of the lifted function, '-f/1-fun-0-'
  std::atomic<const Word*> address{nullptr};  // nullptr: the code is not loaded
  /// Where machine code goes with the fun in a register: it loads the free variables; nullptr: the
  /// function has no machine code.
  std::atomic<const void*> hot{nullptr};
  void lead_to(const Word* code) {
    if (address.load(std::memory_order_relaxed) == code) return;
    address.store(code, std::memory_order_seq_cst);
    hot.store(nullptr, std::memory_order_seq_cst);
  }
  /// The function that begins at `entry` has such code. Threads that do this take turns.
  void lead_to_machine_code(const Word* entry, const void* code) {
    hot.store(code, std::memory_order_seq_cst);
    // Another version may just have come: either lead_to clears it, or this.
    if (address.load(std::memory_order_seq_cst) != entry) hot.store(nullptr, std::memory_order_seq_cst);
  }
};

/// Finds or makes the entry. Thread-safe.
FunEntry* fun_entry(Term module, const std::uint8_t* uniq, std::uint32_t index, std::uint32_t old_uniq,
                    unsigned arity, std::uint32_t free_count);

/// Returns the export whose stub an address lies in, or nullptr.
const Export* export_of_stub(const Word* address);

}  // namespace vmrun
