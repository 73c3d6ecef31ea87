#pragma once

#include "vm/term/term.hpp"

/// References of aliases as bytes of a node without a name, filled in by vm/process/aliases.cpp
/// before main begins. Such a node writes their three numbers only: others without a name, which
/// take them for their own, accept no more. Whose they are is noted here meanwhile. Any thread.
namespace vmrun {

struct AliasHooks {
  void (*written)(const std::uint32_t* numbers, Term owner) = [](const std::uint32_t*, Term) {};
  /// The process whose alias was written with these numbers and has not ended; or the non-value.
  Term (*owner)(const std::uint32_t* numbers) = [](const std::uint32_t*) { return kNonValue; };
};
extern constinit AliasHooks alias_hooks;

}  // namespace vmrun
