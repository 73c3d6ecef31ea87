// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/link_signals.hpp"

#include "vm/term/node.hpp"

namespace vmrun::dist {

LinkSignals::~LinkSignals() {
  under_way_.for_each([](const LinkKey& key, const UnderWay&) { key.there.node->release(); });
}

std::uint32_t LinkSignals::leaves(Term here, Term there) {
  const LinkKey key{here, RemotePid::of(there)};
  if (UnderWay* signals = under_way_.find(key)) return ++signals->last;
  under_way_.insert(key, {.last = 1});
  key.there.node->retain();
  return 1;
}

void LinkSignals::overtake_links(Term here, Term there) {
  if (under_way_.empty()) [[likely]]
    return;
  if (UnderWay* signals = under_way_.find({here, RemotePid::of(there)}))
    signals->overtaken_links = signals->last;
}

void LinkSignals::overtake_unlinks(Term here, Term there) {
  if (under_way_.empty()) [[likely]]
    return;
  if (UnderWay* signals = under_way_.find({here, RemotePid::of(there)}))
    signals->overtaken_unlinks = signals->last;
}

bool LinkSignals::arrives(Term here, Term there, Kind kind, std::uint32_t number) {
  const LinkKey key{here, RemotePid::of(there)};
  const UnderWay* signals = under_way_.find(key);
  if (!signals) return true;
  const std::uint32_t overtaken = kind == Kind::kLink ? signals->overtaken_links : signals->overtaken_unlinks;
  if (number == signals->last) {
    under_way_.erase(key);
    key.there.node->release();
  }
  return number > overtaken;
}

}  // namespace vmrun::dist
