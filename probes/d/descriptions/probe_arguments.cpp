// SPDX-License-Identifier: Apache-2.0
#include "probes/d/descriptions/probe_arguments.hpp"

namespace vmrun::d::lang {
namespace {

TypeId type_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kInt: return kInt;
    case ArgumentKind::kUint32: return kUint32;
    case ArgumentKind::kInt64: return kInt64;
    default: return kCharPointer;
  }
}

}  // namespace

std::uint64_t ProbeArguments::kinds(std::uint32_t n) const {
  if (matched_ == nullptr) return 0;
  std::uint64_t kinds = 0;
  for (const ProbeInfo* probe : matched_->probes) {
    if (probe == nullptr || n >= probe->arguments.size()) return 0;
    kinds |= 1ull << static_cast<unsigned>(probe->arguments[n].kind);
  }
  return kinds;
}

TypeId ProbeArguments::type(Place place, std::uint64_t n, bool as_term) const {
  if (matched_ == nullptr) fail(place, "D_ARGS_NONE", "args[ ] may not be referenced outside of a clause");
  if (n > 11) fail(place, "D_ARGS_IDX", "index " + std::to_string(n) + " is out of range for args[ ]");
  TypeId type = kVoid;
  for (const ProbeInfo* probe : matched_->probes) {
    if (probe == nullptr)
      fail(place, "D_ARGS_IDX",
           "index " + std::to_string(n) + " is out of range for " + description_ + " args[ ]: it has none");
    if (n >= probe->arguments.size() && !(as_term && probe->of_function))
      fail(place, "D_ARGS_IDX",
           "index " + std::to_string(n) + " is out of range for " + probe->name + " args[ ]");
    const TypeId one = as_term ? TypeId{kTermType} : type_of(probe->arguments[n].kind);
    if (type != kVoid && type != one)
      fail(
          place, "D_ARGS_MULTI",
          "args[ ] may not be referenced because " + description_ + " matches probes whose arguments differ");
    type = one;
  }
  if (type != kVoid) return type;
  return as_term ? kTermType : kCharPointer;  // nothing matched (-Z): the clause never runs
}

void ProbeArguments::only_at(Place place, const std::string& what, std::string_view probes) const {
  if (matched_ == nullptr) fail(place, "D_ARGS_NONE", what + " may not be referenced outside of a clause");
  const std::string among = "," + std::string(probes) + ",";
  for (const ProbeInfo* probe : matched_->probes)
    if (probe == nullptr || among.find("," + probe->name + ",") == std::string::npos)
      fail(place, "D_ARGS_NONE",
           what + " may not be referenced: " + description_ + " has none, only " + std::string(probes) +
               " have");
}

}  // namespace vmrun::d::lang
