// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/flat_table.hpp"
#include "vm/process/reference.hpp"
#include "vm/process/relations.hpp"

namespace vmrun {

/// The aliases of a process that have not ended. Used by the process's own thread only.
class Aliases {
 public:
  Aliases() = default;
  Aliases(const Aliases&) = delete;
  ~Aliases();

  AliasMode* find(RefKey key) { return modes_.find(key); }
  bool insert(RefKey key, AliasMode mode) { return modes_.insert(key, mode); }
  /// Returns false when it is not an alias, or has ended.
  bool erase(RefKey key);

 private:
  FlatTable<RefKey, AliasMode> modes_;
};

/// The three numbers of an alias were written without its owner (alias_written in
/// vm/term/term_upcalls.hpp). Any thread.
void note_alias_written(const std::uint32_t* numbers, Term owner);
/// The owner of an alias that was written so and has not ended; or the non-value. Any thread.
Term owner_of_written_alias(const std::uint32_t* numbers);

}  // namespace vmrun
