// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/uses.hpp"

#include <algorithm>

namespace vmrun::compile {

using ir::BlockEnd;
using ir::Fail;

void Uses::enter(BlockId id) {
  id_ = id;
  block_ = &fn_.blocks[id];
  auto used = [&](Arg a, std::uint32_t at) {
    if (a.is_value() && !(use_[a.value].block == id_ && use_[a.value].last == kForever))
      use_[a.value] = {id_, at};
  };
  auto forever = [&](BlockId b) {
    for (ValueId v : fn_.blocks[b].live_in) use_[v] = {id_, kForever};
  };
  ir::for_successors(*block_, forever);
  if (block_->handler != kNone) forever(block_->handler);
  clobbers_.clear();
  const auto n = static_cast<std::uint32_t>(block_->code.size());
  for (std::uint32_t k = 0; k < n; ++k) {
    for (Arg a : block_->code[k].args) used(a, k);
    if (ir::clobbers_x(block_->code[k].op)) clobbers_.push_back(k);
  }
  used(block_->subject, n);
  for (Arg a : block_->jump_args) used(a, n);
  if (block_->end == BlockEnd::kError && block_->error == Fail::kFunctionClause &&
      block_->jump_args.empty()) {
    for (ValueId v : fn_.params) used(Arg::of(v), n);
  }
}

/// Whether the value is not needed after instruction `at` of the current block.
bool Uses::dies(ValueId v, std::uint32_t at) const { return use_[v].block != id_ || use_[v].last <= at; }

std::uint32_t Uses::next_clobber(std::uint32_t at) const {
  const auto it = std::upper_bound(clobbers_.begin(), clobbers_.end(), at);
  return it == clobbers_.end() ? kForever : *it;
}

/// Whether v, known to be alive after `at`, is still needed after the next call.
bool Uses::outlasts(ValueId v, std::uint32_t at) const {
  const std::uint32_t next = next_clobber(at);
  if (use_[v].block != id_) return false;
  if (next != kForever) return use_[v].last > next;
  return use_[v].last == kForever && live_.hints[v].outlasts_call && live_.hints[v].x < 0;
}

}  // namespace vmrun::compile
