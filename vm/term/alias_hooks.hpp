#pragma once

#include "vm/term/term.hpp"

/// References of aliases in the external format of a node without a name. Such a node writes only
/// their three numbers: other nodes without a name, which take such references for their own,
/// accept no more. The owner of each alias is kept here meanwhile. vm/process/aliases.cpp sets the
/// functions before main begins. Any thread.
namespace vmrun {

struct AliasHooks {
  void (*written)(const std::uint32_t* numbers, Term owner) = [](const std::uint32_t*, Term) {};
  /// Returns the process whose alias was written with these numbers, if it has not ended; otherwise
  /// the non-value.
  Term (*owner)(const std::uint32_t* numbers) = [](const std::uint32_t*) { return kNonValue; };
};
extern constinit AliasHooks alias_hooks;

}  // namespace vmrun
