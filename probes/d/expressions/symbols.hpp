// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probes/d/descriptions/probe_arguments.hpp"
#include "probes/d/expressions/later.hpp"
#include "probes/d/script/script.hpp"
#include "probes/d/syntax/c_types.hpp"
#include "probes/d/syntax/tree.hpp"
#include "vm/base/near_name.hpp"

/// The names that a script declares or makes by assigning: variables of the three scopes,
/// enumerators, inlines. It enters variables into the program, and records how each is used.
namespace vmrun::d::lang {

struct Symbol {
  enum class Kind : std::uint8_t { kVariable, kFrame, kEnumerator, kInline } kind = Kind::kVariable;
  Place place;
  TypeId type = 0;
  std::uint32_t index = 0;  // among the program's variables; or byte of the frame
  std::int64_t value = 0;   // of an enumerator
  bool associative = false;
  bool used_as_array = false;  // its keys are known then
  std::vector<TypeId> keys;
  Node* inlined = nullptr;
  std::vector<std::string> parameters = {};

  void take_keys(const std::vector<TypeId>& types) {
    keys = types;
    used_as_array = true;
  }
};

class Symbols {
 public:
  Symbols(Types& types, Program& program, LaterVariables& later)
      : types_(types), program_(program), later_(later) {}

  /// Returns null when there is none.
  Symbol* find(VariableScope scope, const std::string& name);
  /// Finds a name that is used and may be assigned further down. Returns null, and notes that the
  /// name is wanted, when it is unknown.
  Symbol* find_later(VariableScope scope, const std::string& name, Place place);
  /// Offers the names of a scope as what a wrong name may mean.
  void offer(VariableScope scope, NearName& near) {
    for (const auto& [name, symbol] : table(scope)) near.offer(name);
  }
  /// Makes a new variable: one of the program, or bytes of the frame.
  Symbol& create(VariableScope scope, const std::string& name, TypeId type, bool associative, Place place);
  /// Enters an enumerator or inline.
  void define(const std::string& name, Symbol symbol) { globals_[name] = std::move(symbol); }

  /// Notes that a pointer to this variable is made.
  void note_address(std::uint32_t variable);
  /// Whether a pointer to it is made somewhere, so that less than 8 bytes may be written.
  bool address_taken(std::uint32_t variable) const {
    return variable < addressed_.size() && addressed_[variable];
  }
  /// Notes that this is used as key n of an associative array.
  void note_key(const Symbol& array, std::size_t n, const Node* key, const ProbeArguments& arguments);
  /// Whether every use of this key of an associative array is an argument of the probe as it is, of
  /// one kind, or always the same built-in. Then the encoding that the machine has at hand serves
  /// as the key, and no text is made.
  bool key_as_it_is(std::uint32_t variable, std::size_t key) const;

 private:
  std::map<std::string, Symbol>& table(VariableScope scope);

  Types& types_;
  Program& program_;
  LaterVariables& later_;
  std::map<std::string, Symbol> globals_, selfs_, thises_;
  std::vector<std::vector<std::uint64_t>> key_kinds_;  // by variable, by key: kinds that were used
  std::vector<bool> addressed_;
};

}  // namespace vmrun::d::lang
