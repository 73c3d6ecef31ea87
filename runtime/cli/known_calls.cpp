// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/known_calls.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/core.h>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/cli/code_finder.hpp"
#include "runtime/lib/embedded.hpp"
#include "vm/base/near_name.hpp"

namespace vmrun::cli {
namespace {

constexpr std::string_view kErlang = "erlang";
constexpr std::string_view kHandlesCalls = "$handle_undefined_function";  // handles calls of functions that
                                                                          // are not exported

struct Function {
  std::string_view name;
  std::uint32_t arity;
};

std::uint32_t number(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}

/// Returns the contents of a chunk, or nullptr when there is no such chunk. The library is part of
/// this program, so its files are well formed.
const std::uint8_t* find_chunk(const EmbeddedModule& m, const char* name) {
  for (const std::uint8_t* at = m.begin + 12; at + 8 <= m.end; at += 8 + (number(at + 4) + 3) / 4 * 4)
    if (std::memcmp(at, name, 4) == 0) return at + 8;
  return nullptr;
}

/// Visits the functions that the module exports, and its built-in functions.
template <class Visit>
void each_function(std::string_view module, const Visit& visit) {
  const EmbeddedModule* const m = find_embedded_module(module);
  const std::uint8_t* const names = m ? find_chunk(*m, "AtU8") : nullptr;
  const std::uint8_t* const exports = m ? find_chunk(*m, "ExpT") : nullptr;
  if (names && exports) {
    std::vector<std::string_view> atoms(number(names) + 1);
    const std::uint8_t* at = names + 4;
    for (std::size_t i = 1; i < atoms.size(); at += 1 + *at, ++i)
      atoms[i] = {reinterpret_cast<const char*>(at + 1), *at};
    for (std::uint32_t i = 0; i < number(exports); ++i)
      if (visit(Function{atoms[number(exports + 4 + 12 * i)], number(exports + 8 + 12 * i)})) return;
  }
  for (std::size_t i = 0; i < kBifRowCount; ++i)
    if (module == kBifRows[i].module && visit(Function{kBifRows[i].name, kBifRows[i].arity})) return;
}

bool has_function(std::string_view module, std::string_view function, std::uint32_t arity) {
  bool found = false;
  each_function(module, [&](const Function& f) { return found = f.arity == arity && f.name == function; });
  return found;
}

/// Returns a similar name like "lists:reverse/1", preferably with the same number of arguments,
/// else with the smallest.
std::string function_like(std::string_view module, std::string_view function, std::uint32_t arity) {
  NearName same_arity(function, NearName::Names::kMany), other_arity(function, NearName::Names::kMany);
  std::uint32_t others_arity = 0;
  bool same_name = false;
  each_function(module, [&](const Function& f) {
    if (f.name == function) {
      others_arity = same_name ? std::min(others_arity, f.arity) : f.arity;
      same_name = true;
    } else if (f.arity == arity) {
      same_arity.offer(f.name);
    } else if (!same_name && other_arity.offer(f.name)) {
      others_arity = f.arity;
    }
    return false;
  });
  if (same_name) return fmt::format("{}:{}/{}", module, function, others_arity);
  if (!same_arity.found().empty()) return fmt::format("{}:{}/{}", module, same_arity.found(), arity);
  if (other_arity.found().empty()) return {};
  return fmt::format("{}:{}/{}", module, other_arity.found(), others_arity);
}

/// Returns a module with a similar name that has the function.
std::string module_like(std::string_view module, std::string_view function, std::uint32_t arity) {
  NearName near(module, NearName::Names::kMany);
  near.offer(kErlang);
  for (std::size_t i = 0; i < kEmbeddedModuleCount; ++i) near.offer(kEmbeddedModules[i].name);
  if (near.found().empty() || !has_function(near.found(), function, arity)) return {};
  return fmt::format("{}:{}/{}", near.found(), function, arity);
}

}  // namespace

bool library_has(std::string_view module, std::string_view function, std::uint32_t arity) {
  return has_function(module, function, arity);
}

std::string problem_of_call(const CodeFinder& finder, std::string_view module, std::string_view function,
                            std::uint32_t arity) {
  if (function == "module_info" && arity < 2) return {};  // every module has it
  const bool of_library = module == kErlang || find_embedded_module(module);
  if (of_library && (has_function(module, function, arity) || has_function(module, kHandlesCalls, 2)))
    return {};
  const std::string meant =
      of_library ? function_like(module, function, arity) : module_like(module, function, arity);
  if (meant.empty()) return {};
  const std::string place = module == kErlang ? std::string() : finder.locate(module);
  if (!place.empty() && !(of_library && place.starts_with(kEmbeddedLibrary))) return {};
  return fmt::format("function {}:{}/{} undefined, did you mean {}?", module, function, arity, meant);
}

}  // namespace vmrun::cli
