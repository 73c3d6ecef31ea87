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

}  // namespace vmrun
