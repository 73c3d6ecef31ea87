// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vmrun {

/// Sweeps a std::map incrementally, so that no caller waits for a whole sweep. Visits at most
/// `count` entries from the key *next on, and erases those for which goes(value) is true.
/// Afterwards *next is the key to go on with. Returns false at the end of the map; the next call
/// starts over. The caller holds the table's lock.
template <class Map, class Goes>
bool sweep_some(Map& map, typename Map::key_type* next, unsigned count, Goes goes) {
  auto it = map.lower_bound(*next);
  for (; count && it != map.end(); --count) {
    if (goes(*it->second)) it = map.erase(it);
    else ++it;
  }
  const bool more = it != map.end();
  *next = more ? it->first : typename Map::key_type{};
  return more;
}

}  // namespace vmrun
