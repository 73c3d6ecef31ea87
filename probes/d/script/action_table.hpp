// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "probes/d/script/script.hpp"

/// The actions of D, a row each: all that is said of an action and not done. How the arguments of
/// an action are checked stands in statements/actions.cpp, and what consumers do about it where
/// they do it (vmtrace/record_output.cpp, erltrace/records.cpp), by ActionKind.
namespace vmrun::d {

struct ActionRow {
  std::string_view name;
  ActionKind kind;              // of what it records; of speculate() and its like none
  std::size_t fewest;           // arguments
  std::size_t first_field = 1;  // arguments before it are a format or an aggregation
  bool records = true;
  bool destructive = false;    // not in a clause that speculates
  bool changes_world = false;  // beyond the consumer's own output: asks for -w
  bool only_outside = false;   // it needs a shell or a file: not for programs inside the machine
};
inline constexpr ActionRow kActions[] = {
    {"printf", ActionKind::kPrintf, 1},
    {"printa", ActionKind::kPrinta, 1},
    {"trace", ActionKind::kTrace, 1, 0},
    {"print", ActionKind::kPrint, 1, 0},
    {"tracemem", ActionKind::kTracemem, 2, 0},
    {"ustack", ActionKind::kUstack, 0, 0},
    {"jstack", ActionKind::kJstack, 0, 0},
    {"system", ActionKind::kSystem, 1, 1, true, true, true, true},
    {"freopen", ActionKind::kFreopen, 1, 1, true, true, true, true},
    {"ftruncate", ActionKind::kFtruncate, 0, 0, true, true, false, true},
    {"clear", ActionKind::kClear, 1},
    {"trunc", ActionKind::kTrunc, 1},
    {"normalize", ActionKind::kNormalize, 2},
    {"denormalize", ActionKind::kDenormalize, 1},
    {"setopt", ActionKind::kSetopt, 1, 0},
    {"exit", ActionKind::kExit, 1, 0},
    {"speculate", {}, 1, 0, false},
    {"commit", {}, 1, 0, false},
    {"discard", {}, 1, 0, false},
};

/// nullptr: there is no such action.
constexpr const ActionRow* find_action(std::string_view name) {
  for (const ActionRow& row : kActions)
    if (row.name == name) return &row;
  return nullptr;
}
/// nullptr: kSymbol and kStack, which are no actions of their own.
constexpr const ActionRow* find_action(ActionKind kind) {
  for (const ActionRow& row : kActions)
    if (row.records && row.kind == kind) return &row;
  return nullptr;
}

}  // namespace vmrun::d
