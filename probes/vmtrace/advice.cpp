// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/advice.hpp"

#include <algorithm>
#include <set>

#include "probes/engine/operations.hpp"

namespace vmrun::d {
namespace {

using Variables = std::set<std::int32_t>;

bool is_at(const Clause& clause, const std::vector<ProbeInfo>& probes, std::string_view end_of_name) {
  return std::ranges::any_of(clause.probes, [&](const Enabled& e) {
    return e.probe < probes.size() && probes[e.probe].name.ends_with(end_of_name);
  });
}

void add_variables(const std::vector<Instruction>& code, Operation one, Operation of_array, Variables& to) {
  for (const Instruction& i : code)
    if (i.operation == one || i.operation == of_array) to.insert(i.imm);
}

}  // namespace

std::string advice_on_returns(const Program& program, const std::vector<ProbeInfo>& probes) {
  Variables set, used;
  for (const Clause& clause : program.clauses) {
    if (is_at(clause, probes, "-function-entry"))
      add_variables(clause.body, Operation::kStt, Operation::kStta, set);
    if (!is_at(clause, probes, "function-return")) continue;
    for (const auto* code : {&clause.predicate, &clause.body})
      add_variables(*code, Operation::kLdt, Operation::kLdta, used);
  }
  if (std::ranges::none_of(set, [&](std::int32_t variable) { return used.contains(variable); })) return "";
  return "function-return does not fire for a function that ends in a call of another one: "
         "erlang*:MODULE:FUNCTION:entry and :return fire once for each call";
}

}  // namespace vmrun::d
