// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/builtin_variables.hpp"

#include <sys/socket.h>

#include <algorithm>

#include "probes/engine/operations.hpp"
#include "probes/engine/record.hpp"

namespace vmrun::d::lang {
namespace {

constexpr unsigned kMostArgument = 11;

constexpr std::uint64_t fault(FaultKind kind) { return static_cast<std::uint64_t>(kind); }

struct Constant {
  std::string_view name;
  std::uint64_t value;
  TypeId type;
};
constexpr Constant kConstants[] = {{"NULL", 0, kInt},
                                   {"AF_INET", AF_INET, kInt},
                                   {"AF_INET6", AF_INET6, kInt},
                                   {"DTRACEFLT_UNKNOWN", fault(FaultKind::kUnknown), kInt},
                                   {"DTRACEFLT_BADADDR", fault(FaultKind::kBadAddress), kInt},
                                   {"DTRACEFLT_ILLOP", fault(FaultKind::kIllegalOperation), kInt},
                                   {"DTRACEFLT_DIVZERO", fault(FaultKind::kDivideByZero), kInt},
                                   {"DTRACEFLT_NOSCRATCH", fault(FaultKind::kNoScratch), kInt},
                                   {"DTRACEFLT_TUPOFLOW", fault(FaultKind::kTupleOverflow), kInt}};

TypeId type_of(ValueType type) {
  switch (type) {
    case ValueType::kInt32: return kInt;
    case ValueType::kUint32: return kUint32;
    case ValueType::kInt64: return kInt64;
    case ValueType::kUint64: return kUint64;
    case ValueType::kTerm: return kTermType;
    default: return kString;
  }
}

void refer(Node* n, Where where, unsigned index, TypeId type) {
  n->kind = Node::Kind::kReference;
  n->where = where;
  n->index = index;
  n->type = type;
}

/// Returns the number of arg0, arg11 and so on. It is above kMostArgument when the word is not one
/// of these.
unsigned argument_number(std::string_view word) {
  if (word.size() < 4 || word.size() > 5 || !word.starts_with("arg")) return kMostArgument + 1;
  unsigned number = 0;
  for (const char c : word.substr(3)) {
    if (c < '0' || c > '9') return kMostArgument + 1;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number;
}

}  // namespace

bool is_builtin_variable(std::string_view name) {
  return argument_number(name) <= kMostArgument ||
         std::ranges::find(kBuiltins, name, &BuiltinInfo::name) != std::end(kBuiltins);
}

void offer_builtins(const ProbeArguments& arguments, NearName& near) {
  static constexpr std::string_view kArguments[] = {"arg0", "arg1", "arg2", "arg3", "arg4",  "arg5",
                                                    "arg6", "arg7", "arg8", "arg9", "arg10", "arg11"};
  static_assert(std::size(kArguments) == kMostArgument + 1);
  for (unsigned n = 0; n <= kMostArgument; n++)
    if (arguments.kinds(n) != 0) near.offer(kArguments[n]);
  for (const BuiltinInfo& info : kBuiltins)
    if (arguments.are_among(info.probes)) near.offer(info.name);
  for (const Constant& constant : kConstants) near.offer(constant.name);
}

bool builtin(Node*& n, Nodes& nodes) {
  const std::string& word = n->text;
  if (const auto* constant = std::ranges::find(kConstants, word, &Constant::name);
      constant != std::end(kConstants)) {
    n = nodes.integer(n->place, constant->value, constant->type);
    return true;
  }
  if (const unsigned number = argument_number(word); number <= kMostArgument) {
    refer(n, Where::kArgument, number, kInt64);
    return true;
  }
  if (word == "args" || word == "targs")
    fail(n->place, "D_IDENT_BADREF", word + " needs the number of an argument: " + word + "[0]");
  const auto* known = std::ranges::find(kBuiltins, word, &BuiltinInfo::name);
  if (known == std::end(kBuiltins)) return false;
  refer(n, Where::kBuiltin, static_cast<unsigned>(known - std::begin(kBuiltins)), type_of(known->type));
  return true;
}

}  // namespace vmrun::d::lang
