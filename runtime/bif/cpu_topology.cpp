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
    ListBuilder list(heap_);
    while (!places.empty()) {
      const bool in_node = places[0].node >= 0;
      const Places rest = places.subspan(static_cast<std::size_t>(
          std::ranges::find_if(places, [&](const auto& p) { return (p.node >= 0) != in_node; }) -
          places.begin()));
      const Places alike = places.first(places.size() - rest.size());
      if (in_node) add_groups(list, alike, &ProcessorPlace::node, "node", &Topology::outer_node);
      else add_groups(list, alike, &ProcessorPlace::package, "processor", &Topology::package);
      places = rest;
    }
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

/// Reads a term that states a topology. Levels may be left out.
class TopologyReader {
 public:
  std::optional<std::vector<ProcessorPlace>> all(Term topology) {
    if (!read(topology, kTop, {}) || settle_places(places_)) return {};
    return std::move(places_);
  }

 private:
  enum Level { kTop, kNode, kPackage, kPart, kCore, kThread, kNoLevel };
  static constexpr SWord kMostId = 65535;

  /// The level that a member names inside another one. A node is around processors or inside one.
  static Level level_inside(Term name, Level around) {
    const std::string_view text = name.is_atom() ? atom_text(name) : "";
    const Level level = text == "node"        ? around == kPackage ? kPart : kNode
                        : text == "processor" ? kPackage
                        : text == "core"      ? kCore
                        : text == "thread"    ? kThread
                                              : kNoLevel;
    return level > around ? level : kNoLevel;
  }

  /// Reads what a level contains: {logical, Number}, or a list of members.
  bool read(Term inside, Level around, ProcessorPlace at) {
    if (inside.is_tuple()) return read_logical(inside, at);
    Level before = kNoLevel;
    if (!inside.is_list()) return false;
    for (; inside.is_list(); inside = inside.tail()) {
      const Term member = inside.head();
      if (!member.is_tuple() || !is_member(member)) return false;
      const Level level = level_inside(member.element(0), around);
      if (level == kNoLevel || !may_follow(before, level, around)) return false;
      if (before == kNoLevel) complete(at, level);
      before = level;
      if (!read(member.element(member.tuple_arity() - 1), level, enter(at, level))) return false;
    }
    return inside.is_nil();
  }

  /// {Name, Inside}, or {Name, Info, Inside} with no info.
  static bool is_member(Term member) {
    const std::size_t arity = member.tuple_arity();
    return arity == 2 || (arity == 3 && member.element(1).is_nil());
  }

  /// Members of a list have one level; nodes and processors may be side by side.
  static bool may_follow(Level before, Level level, Level around) {
    return before == kNoLevel || before == level ||
           (around == kTop && before <= kPackage && level <= kPackage);
  }

  bool read_logical(Term tuple, ProcessorPlace at) {
    SWord n;
    if (tuple.tuple_arity() != 2 || tuple.element(0) != intern_atom("logical") ||
        !small_in_range(tuple.element(1), 0, kMostId, &n))
      return false;
    complete(at, kNoLevel);
    at.logical = static_cast<int>(n);
    places_.push_back(at);
    return true;
  }

  int next(Level level) { return used_[level]++; }

  /// Gives the members of a list what is left out between their level and the one around them.
  void complete(ProcessorPlace& at, Level level) {
    if (level > kPackage && at.package < 0) at.package = next(kPackage);
    if (level > kCore && at.core < 0) at.core = next(kCore);
    if (level > kThread && at.thread < 0) at.thread = next(kThread);
  }

  ProcessorPlace enter(ProcessorPlace at, Level level) {
    switch (level) {
      case kNode: at.node = next(kNode); break;
      case kPackage: at.package = next(kPackage); break;
      case kPart:
        at.node = -1;
        at.part = next(kNode);
        break;
      case kCore: at.core = next(kCore); break;
      case kThread: at.thread = next(kThread); break;
      case kTop:
      case kNoLevel: break;
    }
    return at;
  }

  std::vector<ProcessorPlace> places_;
  int used_[kNoLevel] = {};  // how many have been named of each level
};

}  // namespace

Term topology_term(Heap& heap, const std::vector<ProcessorPlace>& places) {
  return places.empty() ? atoms::undefined : Topology(heap).all(places);
}

std::optional<std::vector<ProcessorPlace>> places_of_topology(Term topology) {
  return TopologyReader().all(topology);
}

Term cpu_topology(Process& p) { return topology_term(p.heap, known_places()); }

}  // namespace vmrun
