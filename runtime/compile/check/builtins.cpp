// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/builtins.hpp"

#include <string>
#include <unordered_map>

namespace vmrun::compile {

namespace {

struct Hash {
  std::size_t operator()(const FunctionName& f) const { return FunctionNameHash()(f); }
};
using Table = std::unordered_map<FunctionName, const Builtin*, Hash>;

constexpr Builtin kBuiltins[] = {
#include "runtime/compile/builtins_generated.inc"
};

constexpr std::string_view kPlainTypes[] = {"any",
                                            "arity",
                                            "atom",
                                            "binary",
                                            "bitstring",
                                            "bool",
                                            "boolean",
                                            "byte",
                                            "char",
                                            "dynamic",
                                            "float",
                                            "function",
                                            "identifier",
                                            "integer",
                                            "iodata",
                                            "iolist",
                                            "list",
                                            "map",
                                            "maybe_improper_list",
                                            "mfa",
                                            "module",
                                            "neg_integer",
                                            "nil",
                                            "no_return",
                                            "node",
                                            "non_neg_integer",
                                            "none",
                                            "nonempty_binary",
                                            "nonempty_bitstring",
                                            "nonempty_list",
                                            "nonempty_maybe_improper_list",
                                            "nonempty_string",
                                            "number",
                                            "pid",
                                            "port",
                                            "pos_integer",
                                            "record",
                                            "reference",
                                            "string",
                                            "term",
                                            "timeout",
                                            "tuple"};

const Table& builtins() {
  static const Table table = [] {
    Table t;
    for (const Builtin& b : kBuiltins) t[{b.name, b.arity}] = &b;
    return t;
  }();
  return table;
}

const Builtin* find(std::string_view name, std::uint32_t arity) {
  const auto it = builtins().find({name, arity});
  return it == builtins().end() ? nullptr : it->second;
}

}  // namespace

const Builtin* find_builtin(std::string_view name, std::uint32_t arity) {
  const Builtin* b = find(name, arity);
  return b && b->auto_imported ? b : nullptr;
}

bool is_guard_operator(std::string_view name, std::uint32_t arity) {
  const Builtin* b = find(name, arity);
  return b && !b->auto_imported;
}

std::string_view modern_type_test(std::string_view name, std::uint32_t arity) {
  static constexpr std::string_view kTests[] = {"is_atom",    "is_binary", "is_float",     "is_function",
                                                "is_integer", "is_list",   "is_number",    "is_pid",
                                                "is_port",    "is_record", "is_reference", "is_tuple"};
  for (std::string_view test : kTests)
    if (test.substr(3) == name) return arity == (name == "record" ? 2 : 1) ? test : std::string_view();
  return {};
}

std::span<const Builtin> all_builtins() { return kBuiltins; }

std::span<const std::string_view> builtin_types() { return kPlainTypes; }

bool is_builtin_type(std::string_view name, std::uint32_t arity) {
  if (arity == 1) return name == "list" || name == "nonempty_list";
  if (arity == 2)
    return name == "maybe_improper_list" || name == "nonempty_improper_list" ||
           name == "nonempty_maybe_improper_list";
  if (arity == 0)
    for (std::string_view t : kPlainTypes)
      if (t == name) return true;
  return false;
}

std::span<const FunctionName> required_callbacks(std::string_view behaviour) {
  static constexpr FunctionName kGenServer[] = {{"handle_call", 3}, {"handle_cast", 2}, {"init", 1}};
  static constexpr FunctionName kGenEvent[] = {{"handle_call", 2}, {"handle_event", 2}, {"init", 1}};
  static constexpr FunctionName kGenStatem[] = {{"callback_mode", 0}, {"init", 1}};
  static constexpr FunctionName kSupervisor[] = {{"init", 1}};
  static constexpr FunctionName kBridge[] = {{"init", 1}, {"terminate", 2}};
  static constexpr FunctionName kApplication[] = {{"start", 2}, {"stop", 1}};
  if (behaviour == "gen_server") return kGenServer;
  if (behaviour == "gen_event") return kGenEvent;
  if (behaviour == "gen_statem") return kGenStatem;
  if (behaviour == "supervisor") return kSupervisor;
  if (behaviour == "supervisor_bridge") return kBridge;
  if (behaviour == "application") return kApplication;
  return {};
}

}  // namespace vmrun::compile
