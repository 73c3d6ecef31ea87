// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// What the checks know about functions of module erlang (generated from runtime/bif/bif.tab),
/// predefined types and behaviours. Constant data; any thread.
namespace vmrun::compile {

struct FunctionName {
  std::string_view name;
  std::uint32_t arity;
  friend bool operator==(const FunctionName&, const FunctionName&) = default;
};
struct FunctionNameHash {
  std::size_t operator()(const FunctionName& f) const {
    return std::hash<std::string_view>()(f.name) * 31 + f.arity;
  }
};

struct Builtin {
  std::string_view name;
  std::uint32_t arity = 0;
  bool auto_imported = false;  // callable without `erlang:`
  bool guard = false;          // allowed in guards
};

/// All of them, also the operators of guards.
std::span<const Builtin> all_builtins();

/// Facts about erlang:name/arity; nullptr when it is not auto-imported.
const Builtin* find_builtin(std::string_view name, std::uint32_t arity);

/// Operators as functions of module erlang, allowed in guards: '+'/2, 'not'/1, …
bool is_guard_operator(std::string_view name, std::uint32_t arity);

/// The type test that an obsolete one means when it is a whole test of a guard: is_list for list/1.
/// Empty for any other function.
std::string_view modern_type_test(std::string_view name, std::uint32_t arity);

bool is_builtin_type(std::string_view name, std::uint32_t arity);
/// Names of predefined types.
std::span<const std::string_view> builtin_types();

/// Callbacks a behaviour of the library requires; empty when the behaviour is not known here.
std::span<const FunctionName> required_callbacks(std::string_view behaviour);

}  // namespace vmrun::compile
