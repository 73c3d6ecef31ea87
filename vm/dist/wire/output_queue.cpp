// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/wire/output_queue.hpp"

#include <algorithm>

namespace vmrun::dist {

void OutputQueue::push(std::unique_ptr<OutgoingMessage> m) {
  bytes_ += m->bytes();
  if (m->is_answer) answers_ += m->memory();
  turns_.push_back(std::move(m));
}

bool OutputQueue::next_packet(Packet* packet) {
  std::unique_ptr<OutgoingMessage> m;
  for (;; held_[m->sender].push_back(std::move(m))) {
    if (turns_.empty()) return false;
    m = std::move(turns_.front());
    turns_.pop_front();
    begun_ = std::max(begun_, m->serial);
    if (m->has_begun() || held_.empty() || !held_.contains(m->sender)) break;
  }
  if (cache_.next_packet(*m, packet)) {
    held_.try_emplace(m->sender);
    turns_.push_back(std::move(m));
    return true;
  }
  bytes_ -= m->bytes();
  if (m->is_answer) answers_ -= m->memory();
  const auto held = held_.empty() ? held_.end() : held_.find(m->sender);
  if (held == held_.end()) return true;
  // This was the last fragment. Messages held behind it are older than those of this sender in
  // turns_.
  for (; !held->second.empty(); held->second.pop_back()) turns_.push_front(std::move(held->second.back()));
  held_.erase(held);
  return true;
}

}  // namespace vmrun::dist
