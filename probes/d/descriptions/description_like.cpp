// SPDX-License-Identifier: Apache-2.0
#include "probes/d/descriptions/description_like.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "probes/d/descriptions/quoted_names.hpp"
#include "vm/base/near_name.hpp"

namespace vmrun::d::lang {
namespace {

enum Field : std::size_t { kProvider, kModule, kFunction, kName, kFieldCount };

/// Returns how many fields a description can have, the last one being that of the option.
std::size_t fields_of(Source::Kind kind, std::size_t parts) {
  if (kind == Source::Kind::kProvider && parts == 1) return 1;
  if (kind == Source::Kind::kModule && parts <= 2) return 2;
  if (kind == Source::Kind::kFunction && parts <= 3) return 3;
  return kFieldCount;
}

/// A description by its fields, as they are written.
struct Written {
  std::array<std::string, kFieldCount> fields;
  std::size_t first = 0, last = 0;  // of the fields that are written

  std::string text() const {
    std::string out = fields[first];
    for (std::size_t i = first + 1; i <= last; i++) out += ":" + fields[i];
    return out;
  }
};

/// Returns nothing for a description with quotes or brackets, whose parts are not searched.
std::optional<Written> read(const std::string& text, Source::Kind kind) {
  if (kind == Source::Kind::kId || text.find_first_of("'[]\\") != std::string::npos) return {};
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == ':') parts.emplace_back();
    else parts.back() += c;
  const std::size_t fields = fields_of(kind, parts.size());
  if (parts.size() > fields) return {};
  Written out;
  out.last = fields - 1;
  out.first = fields - parts.size();
  for (std::size_t i = 0; i < parts.size(); i++) out.fields[out.first + i] = parts[i];
  return out;
}

bool is_literal(const std::string& part) {
  return !part.empty() && part.find_first_of("*?") == std::string::npos;
}

class Search {
 public:
  Search(const Written& written, Source::Kind kind, const Matchable& there_is,
         const ListFunctions& list_functions)
      : written_(written), kind_(kind), there_is_(there_is), list_functions_(list_functions) {}

  std::string run() {
    if (find_provider() || find_name() || find_in_probes(kModule) || find_in_probes(kFunction)) return found_;
    if (find_module() || find_function(written_)) return found_;
    return "";
  }

 private:
  bool accepts(const Written& written) {
    const std::string text = written.text();
    Program program;
    Matched matched;
    try {
      if (match(parse_description(text, kind_, {}), there_is_, program, matched) == 0) return false;
    } catch (const Failure&) {
      return false;
    }
    found_ = text;
    return true;
  }

  bool accepts(const Written& written, Field field, std::string value) {
    Written other = written;
    other.fields[field] = std::move(value);
    return accepts(other);
  }

  /// The number behind the name of a provider may be wrong too.
  bool find_provider() {
    const std::string& provider = written_.fields[kProvider];
    if (provider.empty() || provider == "erlang") return false;
    const std::string stem = provider.substr(0, provider.find_last_not_of("0123456789*") + 1);
    NearName near(stem);
    std::string_view meant;
    for (const std::string_view known : {"erlang", "dtrace", "profile"})
      if (known == stem || near.offer(known)) meant = known;
    return !meant.empty() &&
           accepts(written_, kProvider, std::string(meant) + (meant == "erlang" ? "*" : ""));
  }

  bool find_name() {
    const std::string& name = written_.fields[kName];
    if (!is_literal(name)) return false;
    NearName near(name);
    for (const ProbeInfo& probe : there_is_.probes) near.offer(probe.name);
    for (const std::string_view known : {"BEGIN", "END", "ERROR"}) near.offer(known);
    if (there_is_.count_functions)
      for (const std::string_view known : {"entry", "return", "exception"}) near.offer(known);
    if (!near.found().empty() && accepts(written_, kName, std::string(near.found()))) return true;
    return find_timer(name);
  }

  bool find_timer(const std::string& name) {
    const std::size_t dash = name.find('-');
    if (dash == std::string::npos) return false;
    const std::size_t end = std::min(name.find_first_not_of("0123456789", dash + 1), name.size());
    const std::string kind = name.substr(0, dash), number = name.substr(dash, end - dash),
                      unit = name.substr(end);
    NearName near_kind(kind), near_unit(unit);
    bool is_kind = false;
    for (const std::string_view known : {"tick", "profile", "wall"}) {
      is_kind |= kind == known;
      near_kind.offer(known);
    }
    for (const std::string_view known : timer_units()) near_unit.offer(known);
    const std::string right = is_kind ? kind : std::string(near_kind.found());
    if (right.empty()) return false;
    if (!is_kind && accepts(written_, kName, right + number + unit)) return true;
    return !near_unit.found().empty() &&
           accepts(written_, kName, right + number + std::string(near_unit.found()));
  }

  /// Modules and functions of the probes that every machine has.
  bool find_in_probes(Field field) {
    const std::string& part = written_.fields[field];
    if (!is_literal(part)) return false;
    NearName near(part);
    for (const ProbeInfo& probe : there_is_.probes)
      near.offer(field == kModule ? probe.module : probe.function);
    return !near.found().empty() && accepts(written_, field, std::string(near.found()));
  }

  const std::vector<NamedFunction>& functions() {
    if (!functions_) functions_ = list_functions_ ? list_functions_({}) : std::vector<NamedFunction>();
    return *functions_;
  }

  bool find_module() {
    const std::string& module = written_.fields[kModule];
    if (!is_literal(module)) return false;
    NearName near(module, NearName::Names::kMany);
    for (const NamedFunction& f : functions()) near.offer(f.module);
    if (near.found().empty()) return false;
    Written other = written_;
    other.fields[kModule] = written_name(near.found());
    return accepts(other) || find_function(other);
  }

  /// Finds a function of the module that is written, with the arity that is written or another one.
  bool find_function(const Written& written) {
    std::string name = written.fields[kFunction], arity;
    if (const std::size_t slash = name.rfind('/'); slash != std::string::npos) {
      arity = name.substr(slash);
      name.resize(slash);
    }
    if (!is_literal(name)) return false;
    const std::string& module = written.fields[kModule];
    NearName near(name, NearName::Names::kMany);
    std::set<unsigned> arities;  // of the name as it is written
    for (const NamedFunction& f : functions()) {
      if (is_literal(module) && written_name(f.module) != module) continue;
      if (f.function == name) arities.insert(f.arity);
      near.offer(f.function);
    }
    for (const unsigned other : arities)
      if (accepts(written, kFunction, name + "/" + std::to_string(other))) return true;
    return !near.found().empty() && (accepts(written, kFunction, written_name(near.found()) + arity) ||
                                     accepts(written, kFunction, written_name(near.found())));
  }

  const Written& written_;
  const Source::Kind kind_;
  const Matchable& there_is_;
  const ListFunctions& list_functions_;
  std::optional<std::vector<NamedFunction>> functions_;
  std::string found_;
};

}  // namespace

std::string description_like(const std::string& text, Source::Kind kind, const Matchable& there_is,
                             const ListFunctions& list_functions) {
  const std::optional<Written> written = read(text, kind);
  return written ? Search(*written, kind, there_is, list_functions).run() : "";
}

}  // namespace vmrun::d::lang
