#pragma once

#include <atomic>
#include <cstdint>

#include "vm/bif.hpp"
#include "vm/term/term.hpp"

/// Exported functions, fun entries and loaded modules. Entries never move or go away; a call through an export is one load.
namespace vmrun {

struct Module;

/// M:F/A as callers see it, created at first mention (by a loader or an external fun) whether or not the function exists.
struct Export {
  Term module, function;
  std::uint8_t arity = 0;
  std::uint8_t bif_flags = 0;
  BifFn bif = nullptr;                     // not null: a built-in; `address` then points to code that calls it
  std::atomic<const Word*> address{nullptr};  // never null after creation: an undefined function's entry loads the module or raises undef
};

/// The one entry for M:F/A. Thread-safe.
Export* export_entry(Term module, Term function, unsigned arity);
/// nullptr when never mentioned.
Export* find_export(Term module, Term function, unsigned arity);
/// Defined now: loaded code or BIF.
bool is_defined(const Export& e);

/// A `fun` expression in a module's code; all versions of the same module with the same uniq share it.
struct FunEntry {
  Term module;
  std::uint32_t index = 0;
  std::uint32_t old_uniq = 0;
  std::uint8_t uniq[16] = {};
  std::uint8_t arity = 0;                   // parameters a caller passes (without the free variables)
  std::uint32_t free_count = 0;
  Term function;                            // name of the lifted function, '-f/1-fun-0-'
  std::atomic<const Word*> address{nullptr};
};

}  // namespace vmrun
