#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "probes/d/descriptions/match.hpp"
#include "probes/d/syntax/tree.hpp"
#include "probes/d/syntax/types.hpp"

/// The arguments of the probes that the clause at hand is for. Outside of clauses there are none.
namespace vmrun::d::lang {

class ProbeArguments {
 public:
  /// matched: stays where it is until end(). description: as the clause is written.
  void begin(const Matched& matched, const std::string& description) {
    matched_ = &matched;
    description_ = description;
  }
  void end() { matched_ = nullptr; }

  /// A bit for each ArgumentKind that argument n is at these probes; 0: not all of them have it.
  std::uint64_t kinds(std::uint32_t n) const;
  /// The type of args[n], or of targs[n]; fails with D_ARGS_ when it has none, or several.
  TypeId type(Place place, std::uint64_t n, bool as_term) const;
  /// Fails with D_ARGS_NONE unless each of the probes is among those, whose names have commas
  /// between them.
  void only_at(Place place, const std::string& what, std::string_view probes) const;

 private:
  const Matched* matched_ = nullptr;
  std::string description_;
};

}  // namespace vmrun::d::lang
