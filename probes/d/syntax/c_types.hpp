// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/d/syntax/tree.hpp"

/// C's types as D has them (LP64), and its conversions. Each script has one table.
namespace vmrun::d::lang {

/// These types always exist, with these numbers.
enum : TypeId {
  kVoid,
  kChar,
  kSignedChar,
  kUnsignedChar,
  kShort,
  kUnsignedShort,
  kInt,
  kUnsigned,
  kLong,
  kUnsignedLong,
  kLongLong,
  kUnsignedLongLong,
  kFloat,
  kDouble,
  kString,
  kStackType,
  kTermType,
  kCharPointer,
  kVoidPointer,
  kInt64,  // int64_t and so on are typedefs
  kUint64,
  kInt32,
  kUint32,
};

class Types {
 public:
  Types();

  CType& operator[](TypeId id) { return types_[id]; }
  const CType& operator[](TypeId id) const { return types_[id]; }
  std::vector<CType>& all() { return types_; }
  /// Types below this number are the same in each table.
  TypeId builtin_count() const { return builtin_count_; }

  /// Returns the type without typedefs.
  const CType& base(TypeId id) const { return types_[base_id(id)]; }
  TypeId base_id(TypeId id) const {
    while (types_[id].kind == CType::Kind::kTypedef) id = types_[id].element;
    return id;
  }
  CType::Kind kind(TypeId id) const { return base(id).kind; }

  bool is_integer(TypeId id) const {
    return kind(id) == CType::Kind::kInteger || kind(id) == CType::Kind::kEnum;
  }
  bool is_pointer(TypeId id) const { return kind(id) == CType::Kind::kPointer; }
  bool is_array(TypeId id) const { return kind(id) == CType::Kind::kArray; }
  bool is_struct(TypeId id) const {
    return kind(id) == CType::Kind::kStruct || kind(id) == CType::Kind::kUnion;
  }
  bool is_scalar(TypeId id) const { return is_integer(id) || is_pointer(id); }
  bool is_string(TypeId id) const { return kind(id) == CType::Kind::kString; }
  bool is_term(TypeId id) const { return kind(id) == CType::Kind::kTerm; }
  /// Whether this is string, char * or an array of char: the address of a text.
  bool is_text(TypeId id) const;
  /// Whether its values lie in memory and are reached by their address: string, struct, array.
  bool is_by_reference(TypeId id) const { return is_string(id) || is_struct(id) || is_array(id); }
  bool is_signed(TypeId id) const { return base(id).is_signed; }
  std::uint32_t bytes(TypeId id) const { return base(id).bytes; }

  /// Returns the type of an operator with this operand, or with two. Unlike C, D does not promote
  /// types that are narrower than int. The larger type counts, and the unsigned one when the sizes
  /// are equal.
  TypeId of_arithmetic(TypeId id) const;
  TypeId common(TypeId a, TypeId b) const;
  bool same(TypeId a, TypeId b) const;
  std::string name(TypeId id) const { return types_[id].name; }

  TypeId pointer_to(TypeId id);
  TypeId array_of(TypeId id, std::uint32_t count);
  TypeId add(CType type) {
    types_.push_back(std::move(type));
    return static_cast<TypeId>(types_.size() - 1);
  }
  void add_typedef(const std::string& name, TypeId id);
  /// Finds a typedef or built-in type by name. Returns false, with id 0, when there is none.
  bool find(const std::string& name, TypeId& id) const;
  /// "struct point"
  bool find_tag(const std::string& name, TypeId& id) const;
  void add_tag(const std::string& name, TypeId id) { tags_[name] = id; }

  /// Sets the size of every string, which is the option strsize.
  void set_string_bytes(std::uint32_t bytes) { types_[kString].bytes = bytes; }

 private:
  void add_addresses();

  std::vector<CType> types_;
  TypeId builtin_count_ = 0;
  std::map<std::string, TypeId, std::less<>> names_, tags_;
  std::map<TypeId, TypeId> pointers_;
};

/// Finds a member of a struct, also inside members without a name.
struct FoundMember {
  TypeId type = 0;
  std::uint32_t offset = 0;
  std::uint8_t bit_offset = 0, bits = 0;
};
bool find_member(const Types& types, TypeId structure, std::string_view name, FoundMember& found);
/// Returns ", did you mean NAME?" for a name that is similar to a member's, else an empty text.
std::string member_hint(const Types& types, TypeId structure, std::string_view wrong);

/// Lays out a struct or union from its members in their order, as the x86-64 ABI does. bits of a
/// member: -1 for an ordinary one; 0 ends a unit. Returns false when it grows beyond 16 MB.
struct NewMember {
  std::string name;
  TypeId type;
  int bits = -1;
};
bool lay_out(Types& types, CType& structure, const std::vector<NewMember>& members);
std::uint32_t alignment(const Types& types, TypeId id);

}  // namespace vmrun::d::lang
