// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "runtime/compile/core/core_language.hpp"
#include "runtime/compile/lower/block_builder.hpp"

/// Places inside the subjects of a match, and where each has been fetched on the way to the current
/// block. One match; one thread.
namespace vmrun::compile::lower {

/// A place in a subject. Its value is fetched when a test or a body needs it.
struct Occ {
  enum Kind : std::uint8_t {
    kRoot,
    kHead,
    kTail,
    kElement,
    kMapValue,
    kRecordName,
    kRecordScope,
    kRecordValue,
    kBinStart,
    kBinRest,
    kBinTail,
    kField
  } kind;
  Occ* parent = nullptr;
  std::uint64_t index = 0;    // kElement, and the position of kBinRest
  core::Expr* key = nullptr;  // kMapValue and those of records
  ValueId value = kNone;      // its value, if fetched on the way to the current block
  std::vector<Occ*> children;
};

class Places {
 public:
  explicit Places(BlockBuilder& blocks) : blocks_(blocks) {}

  Occ* root(ValueId value);
  Occ* child(Occ* parent, Occ::Kind kind, std::uint64_t index, core::Expr* key = nullptr);
  ValueId fetch(Occ* at);
  void known(Occ* at, ValueId v);
  std::size_t mark() const { return trail_.size(); }
  /// Forgets what was fetched since `mark`, except in `base`, which comes before every later block.
  void undo(std::size_t mark, BlockId base);

 private:
  struct Fetched {
    Occ* at;
    BlockId block;
    ValueId before;
  };

  BlockBuilder& blocks_;
  std::deque<Occ> occs_;
  std::vector<Fetched> trail_;
};

}  // namespace vmrun::compile::lower
