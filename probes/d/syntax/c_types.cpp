// SPDX-License-Identifier: Apache-2.0
#include "probes/d/syntax/c_types.hpp"

#include <algorithm>

#include "vm/base/near_name.hpp"

namespace vmrun::d::lang {
namespace {

using TypeKind = CType::Kind;

struct Basic {
  const char* name;
  std::uint32_t bytes;
  bool is_signed;
};
constexpr Basic kIntegers[] = {{"char", 1, true},
                               {"signed char", 1, true},
                               {"unsigned char", 1, false},
                               {"short", 2, true},
                               {"unsigned short", 2, false},
                               {"int", 4, true},
                               {"unsigned int", 4, false},
                               {"long", 8, true},
                               {"unsigned long", 8, false},
                               {"long long", 8, true},
                               {"unsigned long long", 8, false}};

struct Alias {
  const char* name;
  TypeId type;
};
// int64_t to uint32_t come first, because their numbers are fixed.
constexpr Alias kTypedefs[] = {{"int64_t", kLong},
                               {"uint64_t", kUnsignedLong},
                               {"int32_t", kInt},
                               {"uint32_t", kUnsigned},
                               {"int8_t", kSignedChar},
                               {"uint8_t", kUnsignedChar},
                               {"int16_t", kShort},
                               {"uint16_t", kUnsignedShort},
                               {"intptr_t", kLong},
                               {"uintptr_t", kUnsignedLong},
                               {"intmax_t", kLong},
                               {"uintmax_t", kUnsignedLong},
                               {"size_t", kUnsignedLong},
                               {"ssize_t", kLong},
                               {"off_t", kLong},
                               {"time_t", kLong},
                               {"hrtime_t", kLongLong},
                               {"uchar_t", kUnsignedChar},
                               {"ushort_t", kUnsignedShort},
                               {"uint_t", kUnsigned},
                               {"uint", kUnsigned},
                               {"ushort", kUnsignedShort},
                               {"ulong", kUnsignedLong},
                               {"__u8", kUnsignedChar},
                               {"__s8", kSignedChar},
                               {"__u16", kUnsignedShort},
                               {"__s16", kShort},
                               {"__u32", kUnsigned},
                               {"__s32", kInt},
                               {"__u64", kUnsignedLongLong},
                               {"__s64", kLongLong},
                               {"ulong_t", kUnsignedLong},
                               {"longlong_t", kLongLong},
                               {"u_longlong_t", kUnsignedLongLong},
                               {"pid_t", kInt},
                               {"id_t", kInt},
                               {"uid_t", kUnsigned},
                               {"gid_t", kUnsigned},
                               {"processorid_t", kInt},
                               {"chipid_t", kInt},
                               {"dev_t", kUnsignedLong},
                               {"mode_t", kUnsigned},
                               {"ino_t", kUnsignedLong},
                               {"caddr_t", kCharPointer},
                               {"user_addr_t", kUnsignedLong},
                               {"ipaddr_t", kUnsigned},
                               {"_Bool", kUnsignedChar},
                               {"bool", kUnsignedChar}};

}  // namespace

Types::Types() {
  types_.push_back({.kind = TypeKind::kVoid, .name = "void"});
  for (const Basic& b : kIntegers) {
    types_.push_back(
        {.kind = TypeKind::kInteger, .name = b.name, .bytes = b.bytes, .is_signed = b.is_signed});
  }
  // No arithmetic is done with these types. They can be named, and stand in structures.
  types_.push_back({.kind = TypeKind::kVoid, .name = "float", .bytes = 4});
  types_.push_back({.kind = TypeKind::kVoid, .name = "double", .bytes = 8});
  types_.push_back({.kind = TypeKind::kString, .name = "string", .bytes = 257});
  types_.push_back({.kind = TypeKind::kStack, .name = "stack"});
  types_.push_back({.kind = TypeKind::kTerm, .name = "term"});
  pointer_to(kChar);
  pointer_to(kVoid);
  for (const Alias& alias : kTypedefs) add_typedef(alias.name, alias.type);
  names_["string"] = kString;
  add_addresses();
  builtin_count_ = static_cast<TypeId>(types_.size());
}

/// Adds the types that inet_ntoa6() and inet_ntop() take, as in the system's headers.
void Types::add_addresses() {
  const auto make = [&](CType::Kind kind, const char* name, const std::vector<NewMember>& members) {
    CType type{.kind = kind, .name = name};
    lay_out(*this, type, members);
    const TypeId id = add(std::move(type));
    add_tag(name, id);
    return id;
  };
  TypeId word = kUint32;
  find("uint32_t", word);
  make(TypeKind::kStruct, "struct in_addr", {{"s_addr", word}});
  add_typedef("in_addr_t", word);
  TypeId byte = kUnsignedChar, half = kUnsignedShort;
  find("uint8_t", byte), find("uint16_t", half);
  const TypeId words = make(
      TypeKind::kUnion, "union {...}",
      {{"u6_addr8", array_of(byte, 16)}, {"u6_addr16", array_of(half, 8)}, {"u6_addr32", array_of(word, 4)}});
  tags_.erase("union {...}");
  add_typedef("in6_addr_t", make(TypeKind::kStruct, "struct in6_addr", {{"in6_u", words}}));
}

bool Types::is_text(TypeId id) const {
  if (is_string(id)) return true;
  if (!is_pointer(id) && !is_array(id)) return false;
  const CType& element = base(base(id).element);
  return element.kind == TypeKind::kInteger && element.bytes == 1;
}

TypeId Types::of_arithmetic(TypeId id) const { return kind(id) == TypeKind::kEnum ? TypeId{kInt} : id; }

TypeId Types::common(TypeId a, TypeId b) const {
  if (is_pointer(a)) return a;
  if (is_pointer(b)) return b;
  a = of_arithmetic(a), b = of_arithmetic(b);
  const CType &x = base(a), &y = base(b);
  if (x.bytes != y.bytes) return x.bytes > y.bytes ? a : b;
  if (x.is_signed != y.is_signed) return x.is_signed ? b : a;
  return base_id(b) > base_id(a) ? b : a;  // long long wins over long
}

bool Types::same(TypeId a, TypeId b) const {
  a = base_id(a), b = base_id(b);
  while (a != b) {
    const CType &x = types_[a], &y = types_[b];
    if (x.kind != y.kind || (x.kind != TypeKind::kPointer && x.kind != TypeKind::kArray) ||
        x.count != y.count)
      return false;
    a = base_id(x.element), b = base_id(y.element);
  }
  return true;
}

TypeId Types::pointer_to(TypeId id) {
  const auto [at, is_new] = pointers_.try_emplace(id, 0);
  if (is_new) {
    const std::string& to = types_[id].name;
    at->second = add({.kind = TypeKind::kPointer,
                      .name = to + (to.ends_with('*') ? "*" : " *"),
                      .bytes = 8,
                      .element = id});
  }
  return at->second;
}

TypeId Types::array_of(TypeId id, std::uint32_t count) {
  std::string name = types_[id].name;
  const std::string extent = '[' + std::to_string(count) + ']';
  if (kind(id) == TypeKind::kArray && name.find('[') != std::string::npos)
    name.insert(name.find('['), extent);
  else name += ' ' + extent;
  return add(
      {.kind = TypeKind::kArray, .name = name, .bytes = bytes(id) * count, .element = id, .count = count});
}

void Types::add_typedef(const std::string& name, TypeId id) {
  CType alias{.kind = TypeKind::kTypedef,
              .name = name,
              .bytes = bytes(id),
              .is_signed = is_signed(id),
              .element = base_id(id)};
  names_[name] = add(std::move(alias));
}

bool Types::find(const std::string& name, TypeId& id) const {
  const auto at = names_.find(name);
  if (at == names_.end()) return false;
  id = at->second;
  return true;
}

bool Types::find_tag(const std::string& name, TypeId& id) const {
  const auto at = tags_.find(name);
  if (at == tags_.end()) return false;
  id = at->second;
  return true;
}

bool find_member(const Types& types, TypeId structure, std::string_view name, FoundMember& found) {
  for (const CType::Member& member : types.base(structure).members) {
    if (!member.name.empty() && member.name == name) {
      found = {member.type, member.offset, member.bit_offset, member.bits};
      return true;
    }
    if (member.name.empty() && member.bits == 0 && types.is_struct(member.type) &&
        find_member(types, member.type, name, found)) {
      found.offset += member.offset;
      return true;
    }
  }
  return false;
}

std::string member_hint(const Types& types, TypeId structure, std::string_view wrong) {
  NearName near(wrong);
  for (const CType::Member& member : types.base(structure).members) near.offer(member.name);
  return did_you_mean(near.found());
}

std::uint32_t alignment(const Types& types, TypeId id) {
  const CType& type = types.base(id);
  switch (type.kind) {
    case TypeKind::kArray: return alignment(types, type.element);
    case TypeKind::kStruct:
    case TypeKind::kUnion: return std::max<std::uint32_t>(type.alignment, 1);
    case TypeKind::kString: return 1;
    default: return std::max<std::uint32_t>(type.bytes, 1);
  }
}

bool lay_out(Types& types, CType& structure, const std::vector<NewMember>& members) {
  constexpr std::uint64_t kLargest = 16 << 20;
  std::uint64_t bit = 0, most = 0;
  std::uint32_t align = 1;
  for (const NewMember& member : members) {
    const std::uint64_t bytes = types.bytes(member.type);
    const std::uint32_t own = alignment(types, member.type);
    if (structure.kind == TypeKind::kUnion) bit = 0;
    if (member.bits < 0) {
      bit = (bit + own * 8 - 1) / (own * 8) * (own * 8);
      structure.members.push_back(
          {.name = member.name, .type = member.type, .offset = static_cast<std::uint32_t>(bit / 8)});
      bit += bytes * 8;
    } else if (member.bits == 0) {
      bit = (bit + bytes * 8 - 1) / (bytes * 8) * (bytes * 8);
    } else {
      const std::uint64_t bits = static_cast<std::uint64_t>(member.bits);
      if (bit / (bytes * 8) != (bit + bits - 1) / (bytes * 8))
        bit = (bit + bytes * 8 - 1) / (bytes * 8) * (bytes * 8);
      const std::uint64_t unit = bit / (bytes * 8) * bytes;
      structure.members.push_back({.name = member.name,
                                   .type = member.type,
                                   .offset = static_cast<std::uint32_t>(unit),
                                   .bit_offset = static_cast<std::uint8_t>(bit - unit * 8),
                                   .bits = static_cast<std::uint8_t>(bits)});
      bit += bits;
    }
    if (member.bits != 0) align = std::max(align, own);
    most = std::max(most, bit);
    if (most > kLargest * 8) return false;
  }
  const std::uint64_t bytes = (most + 7) / 8;
  structure.bytes = static_cast<std::uint32_t>((bytes + align - 1) / align * align);
  structure.alignment = align;
  structure.complete = true;
  return true;
}

}  // namespace vmrun::d::lang
