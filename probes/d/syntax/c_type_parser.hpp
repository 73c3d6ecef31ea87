// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/d/syntax/c_types.hpp"
#include "probes/d/syntax/token_stream.hpp"
#include "probes/d/syntax/tree.hpp"

/// The grammar of C's types: specifiers, structures, enumerations, declarators, names of types.
/// Types are entered into the type table as they are read, since C's grammar depends on them.
namespace vmrun::d::lang {

/// What the grammar of types needs from that of expressions, and what it reports of enumerations.
class TypeContext {
 public:
  virtual ~TypeContext() = default;
  /// Reads a constant expression. Fails with `tag` when it is not constant.
  virtual std::int64_t constant(const char* tag) = 0;
  virtual void enumerator(Place place, const std::string& name, std::int64_t value) = 0;
};

/// What stands on the left of the declarators: `typedef unsigned long`.
struct Specifiers {
  Place place;
  std::string storage;  // typedef, self, this, ...
  bool has_signed = false, has_unsigned = false, has_short = false;
  int longs = 0;
  bool has_type = false;
  TypeId type = kInt;

  bool has_sign() const { return has_signed || has_unsigned; }
  bool has_length() const { return has_short || longs != 0; }
};

/// A name with its modifiers: `*x[4]`.
struct Declarator {
  Place place;
  std::string name;
  TypeId type = 0;
  bool associative = false;
  std::vector<TypeId> keys;
};

class TypeParser {
 public:
  TypeParser(TokenStream& tokens, Types& types, TypeContext& context)
      : tokens_(tokens), types_(types), context_(context) {}

  /// Whether the n-th token from here begins the name of a type.
  bool begins_type(std::size_t n);
  TypeId type_name();
  Specifiers specifiers();
  Declarator declarator(TypeId base, bool needs_name);
  /// Parses parameters in [ ], of an associative array or an inline. The [ has been taken already.
  std::vector<TypeId> key_types(std::vector<std::string>* names);

 private:
  using Deeper = TokenStream::Deeper;
  struct Modifier {
    enum { kPointer, kArray, kFunction } kind;
    std::uint32_t count = 0;
  };

  void specifier_word(Specifiers& s, const Token& token);
  bool is_implicit_int(const Specifiers& s);
  TypeId structure(bool is_union);
  TypeId enumeration();
  void enumerators(TypeId id, Place open);
  void members(std::vector<NewMember>& out, Place open);
  NewMember member(TypeId base);
  void bit_field(NewMember& member, Place place);
  void declarator_part(std::vector<Modifier>& modifiers, Declarator& out);
  void declared_name(std::vector<Modifier>& modifiers, Declarator& out);
  void array_suffix(std::vector<Modifier>& modifiers, Declarator& out);
  TypeId modified(TypeId type, const Modifier& modifier, Place place);
  void function_parameters();
  std::vector<TypeId> parameter_types(std::string_view end, std::vector<std::string>* names, bool* varargs);

  TokenStream& tokens_;
  Types& types_;
  TypeContext& context_;
};

}  // namespace vmrun::d::lang
