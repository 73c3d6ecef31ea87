// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/cpu_topology.hpp"

#include <algorithm>
#include <span>

#include "runtime/bif/support.hpp"
#include "vm/base/processors.hpp"

namespace vmrun {
namespace {

// As in OTP, a level with a single member is left out, and so is everything below a level that is
// one logical processor. The nodes around packages are an exception: they are always lists.

using Places = std::span<const ProcessorPlace>;

class Topology {
 public:
  explicit Topology(Heap& heap) : heap_(heap) {}

  Term all(Places places) {
    const auto with_nodes = std::find_if(places.begin(), places.end(),
                                         [](const ProcessorPlace& place) { return place.node >= 0; });
    const auto without = static_cast<std::size_t>(with_nodes - places.begin());
    ListBuilder list(heap_);
    add_groups(list, places.first(without), &ProcessorPlace::package, "processor", &Topology::package);
    add_groups(list, places.subspan(without), &ProcessorPlace::node, "node", &Topology::outer_node);
    return list.finish();
  }

 private:
  using Inside = Term (Topology::*)(Places);

  /// Adds a member {Name, Inside} for each value of the key; places are sorted by it.
  void add_groups(ListBuilder& list, Places places, int ProcessorPlace::*key, const char* name,
                  Inside inside) {
    while (!places.empty()) {
      std::size_t n = 1;
      while (n < places.size() && places[n].*key == places[0].*key) ++n;
      const Term sub = (this->*inside)(places.first(n));
      list.add(new_tuple(heap_, intern_atom(name), sub));
      places = places.subspan(n);
    }
  }
  Term groups(Places places, int ProcessorPlace::*key, const char* name, Inside inside) {
    ListBuilder list(heap_);
    add_groups(list, places, key, name, inside);
    return list.finish();
  }

  Term logical(Places places) {
    return new_tuple(heap_, intern_atom("logical"), Term::small(places[0].logical));
  }
  Term threads(Places places) {
    if (places.size() == 1) return logical(places);
    return groups(places, &ProcessorPlace::logical, "thread", &Topology::logical);
  }
  Term cores(Places places) {
    if (places.front().core == places.back().core) return threads(places);
    return groups(places, &ProcessorPlace::core, "core", &Topology::threads);
  }
  Term package(Places places) {
    if (places.front().part < 0) return cores(places);
    return groups(places, &ProcessorPlace::part, "node", &Topology::cores);
  }
  Term outer_node(Places places) {
    return groups(places, &ProcessorPlace::package, "processor", &Topology::package);
  }

  Heap& heap_;
};

}  // namespace

Term cpu_topology(Process& p) {
  const std::vector<ProcessorPlace> places = known_places();
  return places.empty() ? atoms::undefined : Topology(p.heap).all(places);
}

}  // namespace vmrun
