// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "probes/d/descriptions/match.hpp"
#include "probes/d/syntax/c_types.hpp"
#include "probes/d/syntax/tree.hpp"

/// The arguments of the probes for which the current clause is written. Outside of clauses there
/// are none.
namespace vmrun::d::lang {

class ProbeArguments {
 public:
  /// matched: must stay where it is until end(). description: as the clause is written.
  void begin(const Matched& matched, const std::string& description) {
    matched_ = &matched;
    description_ = description;
  }
  void end() { matched_ = nullptr; }

  /// Returns a bit for each ArgumentKind that argument n has at these probes, or 0 when some of
  /// them do not have the argument.
  std::uint64_t kinds(std::uint32_t n) const;
  /// How a script gets the text of argument n: not at all, by copyinstr(argN), or by args[N] too.
  enum class Text : std::uint8_t { kNone, kByCopy, kByArgs };
  Text text(std::uint32_t n) const;
  /// Returns the type of args[n] or of targs[n]. Fails with D_ARGS_... when it has none, or
  /// several.
  TypeId type(Place place, std::uint64_t n, bool as_term) const;
  /// Whether each probe of the clause is one of `probes`, which has commas between names; an empty
  /// text means any.
  bool are_among(std::string_view probes) const;
  /// Fails with D_ARGS_NONE unless they are.
  void only_at(Place place, const std::string& what, std::string_view probes) const;

 private:
  void need_term(Place place, std::uint64_t n) const;

  const Matched* matched_ = nullptr;
  std::string description_;
};

}  // namespace vmrun::d::lang
