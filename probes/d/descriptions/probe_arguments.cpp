// SPDX-License-Identifier: Apache-2.0
#include "probes/d/descriptions/probe_arguments.hpp"

#include <algorithm>

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

/// Returns how many terms the probe of a named function has; a function that is named without its
/// arity may have any number.
unsigned terms_of(const Enabled& enabled) {
  switch (event_of_probe(enabled.probe)) {
    case FunctionEvent::kReturn: return 1;
    case FunctionEvent::kException: return 2;
    default: return enabled.arity < 0 ? 256 : static_cast<unsigned>(enabled.arity);
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

/// Fails when the clause has probes of named functions, and none of them has targs[n].
void ProbeArguments::need_term(Place place, std::uint64_t n) const {
  unsigned most = 0;
  bool has_function = false;
  for (std::size_t i = 0; i < matched_->probes.size(); i++) {
    const ProbeInfo* probe = matched_->probes[i];
    if (probe == nullptr || !probe->of_function) return;
    has_function = true;
    most = std::max(most, terms_of(matched_->enabled[i]));
  }
  if (!has_function || n < most) return;
  const std::string who =
      "index " + std::to_string(n) + " is out of range for " + description_ + " targs[ ]: ";
  if (most == 0) fail(place, "D_ARGS_IDX", who + "the function takes no arguments");
  fail(place, "D_ARGS_IDX",
       who + (most == 1 ? "there is only targs[0]"
                        : "there are targs[0] to targs[" + std::to_string(most - 1) + "]"));
}

ProbeArguments::Text ProbeArguments::text(std::uint32_t n) const {
  if (matched_ == nullptr) return Text::kNone;
  bool has_text = false, has_number = false;
  for (const ProbeInfo* probe : matched_->probes) {
    if (probe == nullptr || n >= probe->arguments.size()) return Text::kNone;
    (type_of(probe->arguments[n].kind) == kCharPointer ? has_text : has_number) = true;
  }
  if (!has_text) return Text::kNone;
  return has_number ? Text::kByCopy : Text::kByArgs;
}

TypeId ProbeArguments::type(Place place, std::uint64_t n, bool as_term) const {
  if (matched_ == nullptr) fail(place, "D_ARGS_NONE", "args[ ] may not be referenced outside of a clause");
  if (n > 11) fail(place, "D_ARGS_IDX", "index " + std::to_string(n) + " is out of range for args[ ]");
  if (as_term) need_term(place, n);
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

bool ProbeArguments::are_among(std::string_view probes) const {
  if (probes.empty()) return true;
  if (matched_ == nullptr) return false;
  const std::string among = "," + std::string(probes) + ",";
  return std::ranges::all_of(matched_->probes, [&](const ProbeInfo* probe) {
    return probe != nullptr && among.find("," + probe->name + ",") != std::string::npos;
  });
}

void ProbeArguments::only_at(Place place, const std::string& what, std::string_view probes) const {
  if (matched_ == nullptr) fail(place, "D_ARGS_NONE", what + " may not be referenced outside of a clause");
  if (!are_among(probes))
    fail(place, "D_ARGS_NONE",
         what + " may not be referenced: " + description_ + " has none, only " + std::string(probes) +
             " have");
}

}  // namespace vmrun::d::lang
