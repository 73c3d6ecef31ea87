// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "probes/d/emit/arithmetic.hpp"
#include "probes/d/emit/keys.hpp"

/// Where values are stored: variables, elements of associative arrays, the script's own memory.
namespace vmrun::d::lang {

struct Location {
  enum { kVariable, kElement, kMemory } kind = kVariable;
  const Node* node = nullptr;
  bool self = false;
  std::uint32_t index = 0;
  std::vector<Key> keys = {};
  // For memory: the address, and the variable or element to be stored again when this is a copy.
  unsigned base = 0;
  std::int64_t offset = 0;
  const Node* copied = nullptr;
  unsigned copy = 0;
};

class Locations {
 public:
  Locations(Code& code, const Types& types, const Symbols& symbols, Keys& keys, Arithmetic& arithmetic,
            Evaluator& evaluator)
      : code_(code),
        types_(types),
        symbols_(symbols),
        keys_(keys),
        arithmetic_(arithmetic),
        evaluator_(evaluator) {}

  /// The registers that it takes stay taken; the caller gives them back.
  Location of(const Node* n);
  /// Returns the location as an address in the script's memory.
  Location in_memory(const Node* n);
  void load(const Location& from, unsigned r);
  void store(const Location& to, unsigned r);

 private:
  void variable(Operation global, Operation self, const Location& l, unsigned r);
  void address(const Node* n, Location& out);
  void address_of_copy(const Node* n, Location& out);
  void address_of_element(const Node* n, Location& out);
  void null_text(unsigned r);
  void load_address(const Location& l, unsigned r);
  void load_word(const Location& l, unsigned r);
  void store_by_reference(const Location& l, unsigned r);
  void store_text(unsigned address, unsigned r, std::uint32_t bytes);
  void store_bits(const Location& l, unsigned r);
  void store_copy(const Location& l);

  Code& code_;
  const Types& types_;
  const Symbols& symbols_;
  Keys& keys_;
  Arithmetic& arithmetic_;
  Evaluator& evaluator_;
};

}  // namespace vmrun::d::lang
