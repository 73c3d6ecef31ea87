#pragma once

namespace vmrun {

/// For a table whose entries are given back a few at a time, so that nobody waits: looks at so many
/// of a std::map's, from the key *next on, and takes those out of which goes(value) is true. *next
/// is where to go on then. False: that was the last one, and it begins anew. The caller holds the
/// table's lock.
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
