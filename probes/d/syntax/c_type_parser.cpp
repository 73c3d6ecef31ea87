// SPDX-License-Identifier: Apache-2.0
#include "probes/d/syntax/c_type_parser.hpp"

#include <unordered_set>

namespace vmrun::d::lang {
namespace {

constexpr std::uint64_t kLargestArray = 16 << 20;
constexpr std::size_t kMostMembers = 4096, kMostPointers = 16, kMostDimensions = 32;

struct BasicType {
  std::string_view word;
  TypeId type;
};
constexpr BasicType kBasicTypes[] = {{"char", kChar},     {"int", kInt},   {"float", kFloat},
                                     {"double", kDouble}, {"void", kVoid}, {"string", kString}};

const BasicType* basic_type(std::string_view word) {
  for (const BasicType& basic : kBasicTypes)
    if (basic.word == word) return &basic;
  return nullptr;
}

/// Whether a keyword begins a declaration but is not part of a type.
bool begins_other(const Token& token) {
  return token.text == "inline" || token.text == "translator" || token.text == "provider";
}

/// Returns the type of unsigned, long, short and so on, alone or with int.
TypeId integer_type(const Specifiers& s) {
  if (s.has_short) return s.has_unsigned ? kUnsignedShort : kShort;
  if (s.longs == 1) return s.has_unsigned ? kUnsignedLong : kLong;
  if (s.longs == 2) return s.has_unsigned ? kUnsignedLongLong : kLongLong;
  return s.has_unsigned ? kUnsigned : kInt;
}

/// Returns the type that the words make together.
TypeId combined(const Specifiers& s) {
  if (!s.has_type || s.type == kInt) return integer_type(s);
  if (s.type == kVoid && (s.has_sign() || s.has_length()))
    fail(s.place, "D_DECL_VOIDATTR", "invalid attributes for void type");
  if (s.type == kChar) {
    if (s.has_length()) fail(s.place, "D_DECL_CHARATTR", "invalid attributes for char type");
    if (!s.has_sign()) return kChar;
    return s.has_unsigned ? kUnsignedChar : kSignedChar;
  }
  if (s.has_sign()) fail(s.place, "D_DECL_SIGNINT", "signed and unsigned may only be used with integer type");
  if (s.has_length() && !(s.longs == 1 && s.type == kDouble))
    fail(s.place, "D_DECL_LONGINT", "long and short may only be used with integer or floating-point type");
  return s.type;
}

}  // namespace

bool TypeParser::begins_type(std::size_t n) {
  const Token& token = tokens_.peek(n);
  TypeId id;
  if (token.kind == Token::Kind::kName) return types_.find(token.text, id);
  return token.kind == Token::Kind::kKeyword && begins_declaration(token.text) && token.text != "self" &&
         token.text != "this" && !begins_other(token);
}

// --- Specifiers ---

void TypeParser::specifier_word(Specifiers& s, const Token& token) {
  const std::string& word = token.text;
  const auto set_type = [&](TypeId type) {
    if (s.has_type) fail(token.place, "D_DECL_COMBO", "invalid type combination: " + word);
    s.has_type = true;
    s.type = type;
  };
  if (word == "const" || word == "volatile" || word == "restrict" || word == "userland") return;
  if (const BasicType* basic = basic_type(word)) return set_type(basic->type);
  if (word == "struct" || word == "union") return set_type(structure(word == "union"));
  if (word == "enum") return set_type(enumeration());
  if (word == "signed" || word == "unsigned") {
    if (s.has_sign()) fail(token.place, "D_DECL_COMBO", "signed and unsigned given more than once");
    (word == "signed" ? s.has_signed : s.has_unsigned) = true;
  } else if (word == "short") {
    if (s.longs != 0) fail(token.place, "D_UNKNOWN", "there is no type long short");
    if (s.has_short) fail(token.place, "D_DECL_COMBO", "invalid type combination: short");
    s.has_short = true;
  } else if (word == "long") {
    if (s.has_short) fail(token.place, "D_UNKNOWN", "there is no type short long");
    if (++s.longs > 2) fail(token.place, "D_DECL_COMBO", "invalid type combination: long");
  } else {
    if (!s.storage.empty())
      fail(token.place, "D_DECL_CLASS", "only one storage class allowed in declaration");
    s.storage = word;
  }
}

/// Whether this is self x; or this x; without a type. Fails when a type is missing anywhere else.
bool TypeParser::is_implicit_int(const Specifiers& s) {
  if (s.has_type || s.has_sign() || s.has_length()) return false;
  const Token& next = tokens_.peek();
  TypeId known;
  if (next.kind == Token::Kind::kName) {
    if ((s.storage == "self" || s.storage == "this") && !types_.find(next.text, known)) return true;
    if (s.storage == "typedef") tokens_.unexpected(next);
    if (s.storage == "static" || s.storage == "auto" || s.storage == "register") return true;  // refused
    if (!s.storage.empty()) fail(next.place, "D_DECL_IDENT", "unknown type name: " + next.text);
  }
  tokens_.unexpected(next);
}

Specifiers TypeParser::specifiers() {
  Specifiers s{.place = tokens_.peek().place};
  for (;;) {
    const Token& token = tokens_.peek();
    if (token.kind == Token::Kind::kName) {
      TypeId id;
      if (s.has_type || s.has_sign() || s.has_length() || !types_.find(token.text, id)) break;
      s.has_type = true;
      s.type = id;
      tokens_.take();
    } else if (token.kind == Token::Kind::kKeyword && begins_declaration(token.text)) {
      if (begins_other(token)) tokens_.unexpected(token);
      const Token word = tokens_.take();
      specifier_word(s, word);
    } else {
      break;
    }
  }
  if (!is_implicit_int(s)) s.type = combined(s);
  return s;
}

// --- Structures and enumerations ---

void TypeParser::bit_field(NewMember& member, Place place) {
  const std::int64_t bits = context_.constant("D_DECL_BFCONST");
  if (!types_.is_integer(member.type))
    fail(place, "D_DECL_BFTYPE", "invalid type for bit-field: " + member.name);
  if (bits < 0 || (bits == 0 && !member.name.empty()))
    fail(place, "D_DECL_BFCONST", "a bit-field's size must be a positive constant: " + member.name);
  if (bits > 8 * static_cast<std::int64_t>(types_.bytes(member.type)))
    fail(place, "D_DECL_BFSIZE", "invalid size of bit-field: " + member.name);
  member.bits = static_cast<int>(bits);
}

NewMember TypeParser::member(TypeId base) {
  NewMember member{.name = "", .type = base};
  const Place place = tokens_.peek().place;
  if (!tokens_.peek().is(":")) {
    const Declarator d = declarator(base, false);
    if (d.name.empty()) fail(place, "D_DECL_MNAME", "declaration of a member needs a name");
    member = {.name = d.name, .type = d.type};
  }
  if (tokens_.accept(":")) bit_field(member, place);
  const CType& type = types_.base(member.type);
  if (type.kind == CType::Kind::kFunction || (type.bytes == 0 && type.kind == CType::Kind::kVoid))
    fail(place, "D_DECL_VOIDOBJ", "member " + member.name + " cannot be of type " + types_.name(member.type));
  if (!type.complete) fail(place, "D_DECL_INCOMPLETE", "member " + member.name + " is of an incomplete type");
  return member;
}

void TypeParser::members(std::vector<NewMember>& out, Place open) {
  const auto add = [&](NewMember member, Place place) {
    for (const NewMember& other : out)
      if (!member.name.empty() && other.name == member.name)
        fail(place, "D_UNKNOWN", "member " + member.name + " is there twice");
    if (out.size() >= kMostMembers) fail(place, "D_SYNTAX", "too many members");
    out.push_back(std::move(member));
  };
  while (!tokens_.accept("}")) {
    if (tokens_.peek().kind == Token::Kind::kEnd) tokens_.expect_closing("}", "{", open);
    const Specifiers s = specifiers();
    if (!s.storage.empty())
      fail(s.place, "D_DECL_PARMCLASS", "storage class " + s.storage + " is not allowed for a member");
    if (tokens_.peek().is(";") && types_.is_struct(s.type)) {
      add({.name = "", .type = s.type}, s.place);
    } else {
      do {
        const Place place = tokens_.peek().place;
        add(member(s.type), place);
      } while (tokens_.accept(","));
    }
    tokens_.expect(";");
  }
}

TypeId TypeParser::structure(bool is_union) {
  Deeper deeper(tokens_);
  const Place place = tokens_.peek().place;
  std::string tag;
  if (!tokens_.peek().is("{")) tag = tokens_.name();
  const std::string named = (is_union ? "union " : "struct ") + (tag.empty() ? "{...}" : tag);
  const auto kind = is_union ? CType::Kind::kUnion : CType::Kind::kStruct;
  TypeId id;
  if (tag.empty() || !types_.find_tag(named, id)) {
    id = types_.add({.kind = kind, .name = named, .complete = false});
    if (!tag.empty()) types_.add_tag(named, id);
  }
  const Place open = tokens_.peek().place;
  if (!tokens_.accept("{")) return id;
  if (types_[id].complete) fail(place, "D_DECL_TYPERED", named + " is declared twice");
  std::vector<NewMember> list;
  members(list, open);
  CType laid = types_[id];
  if (laid.complete || !lay_out(types_, laid, list)) fail(place, "D_DECL_ARRBIG", named + " is too large");
  types_[id] = std::move(laid);
  return id;
}

void TypeParser::enumerators(TypeId id, Place open) {
  std::int64_t value = 0;
  std::unordered_set<std::string> names;
  do {
    if (tokens_.peek().is("}")) break;
    const Place place = tokens_.peek().place;
    const std::string name = tokens_.name();
    if (tokens_.accept("=")) value = context_.constant("D_DECL_ENCONST");
    if (value > INT32_MAX || value < INT32_MIN)
      fail(place, "D_DECL_ENOFLOW", "enumerator " + name + " overflows INT_MAX");
    if (!names.insert(name).second) fail(place, "D_UNKNOWN", "enumerator " + name + " is there twice");
    context_.enumerator(place, name, value);
    types_[id].enumerators.emplace_back(name, value++);
  } while (tokens_.accept(","));
  tokens_.expect_closing("}", "{", open);
}

TypeId TypeParser::enumeration() {
  const Place place = tokens_.peek().place;
  std::string tag;
  if (!tokens_.peek().is("{")) tag = tokens_.name();
  const std::string named = "enum " + (tag.empty() ? "{...}" : tag);
  TypeId id;
  if (tag.empty() || !types_.find_tag(named, id)) {
    id = types_.add(
        {.kind = CType::Kind::kEnum, .name = named, .bytes = 4, .is_signed = true, .complete = false});
    if (!tag.empty()) types_.add_tag(named, id);
  }
  const Place open = tokens_.peek().place;
  if (!tokens_.accept("{")) return id;
  if (types_[id].complete) fail(place, "D_DECL_TYPERED", named + " is declared twice");
  types_[id].complete = true;
  enumerators(id, open);
  return id;
}

// --- Declarators ---

std::vector<TypeId> TypeParser::parameter_types(std::string_view end, std::vector<std::string>* names,
                                                bool* varargs) {
  Deeper deeper(tokens_);
  std::vector<TypeId> out;
  std::vector<std::string> given;
  if (tokens_.accept(end)) return out;
  do {
    if (tokens_.accept("...")) {
      if (varargs != nullptr) *varargs = true;
      break;
    }
    const Specifiers s = specifiers();
    if (!s.storage.empty() && s.storage != "register")
      fail(s.place, "D_DECL_PARMCLASS", "storage class " + s.storage + " is not allowed for a parameter");
    const Declarator d = declarator(s.type, false);
    if (d.associative)
      fail(d.place, "D_DECL_PROTO_TYPE",
           "a prototype may not use an associative array as parameter: " + d.name);
    given.push_back(d.name);
    out.push_back(d.type);
  } while (tokens_.accept(","));
  tokens_.expect(end);
  if (names != nullptr) *names = std::move(given);
  return out;
}

void TypeParser::function_parameters() {
  const Place place = tokens_.take().place;  // (
  std::vector<std::string> names;
  const std::vector<TypeId> types = parameter_types(")", &names, nullptr);
  for (std::size_t i = 0; i < types.size(); i++) {
    if (types_.base_id(types[i]) != kVoid) continue;
    if (types.size() > 1) fail(place, "D_DECL_PROTO_VOID", "void must be the sole parameter");
    if (!names[i].empty()) fail(place, "D_DECL_PROTO_NAME", "void may not have a name: " + names[i]);
  }
}

std::vector<TypeId> TypeParser::key_types(std::vector<std::string>* names) {
  const Place place = tokens_.peek().place;
  std::vector<std::string> given;
  bool varargs = false;
  std::vector<TypeId> out = parameter_types("]", &given, &varargs);
  if (varargs) fail(place, "D_DECL_PROTO_VARARGS", "a variable number of keys is not allowed");
  for (const TypeId type : out)
    if (types_.base_id(type) == kVoid)
      fail(place, "D_DECL_PROTO_TYPE", "array prototype may not use a parameter of type void");
  if (names != nullptr) *names = std::move(given);
  return out;
}

void TypeParser::array_suffix(std::vector<Modifier>& modifiers, Declarator& out) {
  const Place place = tokens_.take().place;  // [
  if (begins_type(0) || tokens_.peek().is("...")) {
    out.associative = true;
    out.keys = key_types(nullptr);
    return;
  }
  if (tokens_.accept("]"))
    fail(place, "D_DECL_ARRNULL", "array declaration requires an array dimension or tuple signature");
  const std::int64_t count = context_.constant("D_DECL_ARRSUB");
  if (count < 0)
    fail(place, "D_DECL_ARRSUB", "positive integral constant expression or tuple signature expected");
  if (count > static_cast<std::int64_t>(kLargestArray))
    fail(place, "D_DECL_ARRBIG", "array dimension is too large");
  tokens_.expect("]");
  modifiers.push_back({Modifier::kArray, static_cast<std::uint32_t>(count)});
}

/// Parses the name in the middle of a declarator, or another declarator in ( ).
void TypeParser::declared_name(std::vector<Modifier>& modifiers, Declarator& out) {
  out.place = tokens_.peek().place;
  if (tokens_.peek().is("(") && !begins_type(1) && !tokens_.peek(1).is(")")) {
    tokens_.take();
    declarator_part(modifiers, out);
    tokens_.expect(")");
  } else if (tokens_.peek().kind == Token::Kind::kName) {
    out.name = tokens_.take().text;
    if (tokens_.peek().is("::") || out.name.find('`') != std::string::npos)
      fail(out.place, "D_DECL_SCOPE", "scoping operator may not be used in a declaration");
  }
}

/// Collects modifiers in the order in which one reads a declaration: `*x[4]` is an array of
/// pointers.
void TypeParser::declarator_part(std::vector<Modifier>& modifiers, Declarator& out) {
  Deeper deeper(tokens_);
  std::size_t pointers = 0;
  for (;;) {
    if (tokens_.accept("*")) pointers++;
    else if (!tokens_.accept("const") && !tokens_.accept("volatile") && !tokens_.accept("restrict")) break;
    if (pointers > kMostPointers) fail(tokens_.place(), "D_SYNTAX", "too many pointers");
  }
  declared_name(modifiers, out);
  while (tokens_.peek().is("[") || tokens_.peek().is("(")) {
    if (modifiers.size() > kMostDimensions) fail(tokens_.place(), "D_SYNTAX", "too many dimensions");
    if (tokens_.peek().is("[")) {
      array_suffix(modifiers, out);
    } else {
      function_parameters();
      modifiers.push_back({Modifier::kFunction});
    }
  }
  for (std::size_t n = 0; n < pointers; n++) modifiers.push_back({Modifier::kPointer});
}

TypeId TypeParser::modified(TypeId type, const Modifier& modifier, Place place) {
  if (modifier.kind == Modifier::kPointer) return types_.pointer_to(type);
  if (modifier.kind == Modifier::kFunction)
    return types_.add({.kind = CType::Kind::kFunction, .name = types_.name(type) + " ()", .element = type});
  const CType& element = types_.base(type);
  if (element.kind == CType::Kind::kFunction || element.bytes == 0 || !element.complete)
    fail(place, "D_DECL_INCOMPLETE", "array of an incomplete type: " + types_.name(type));
  if (std::uint64_t{element.bytes} * modifier.count > kLargestArray)
    fail(place, "D_DECL_ARRBIG", "array dimension is too large");
  return types_.array_of(type, modifier.count);
}

Declarator TypeParser::declarator(TypeId base, bool needs_name) {
  Declarator out;
  std::vector<Modifier> modifiers;
  declarator_part(modifiers, out);
  if (needs_name && out.name.empty()) tokens_.unexpected(tokens_.peek());
  out.type = base;
  for (auto m = modifiers.rbegin(); m != modifiers.rend(); ++m) out.type = modified(out.type, *m, out.place);
  return out;
}

TypeId TypeParser::type_name() {
  Deeper deeper(tokens_);
  const Specifiers s = specifiers();
  if (!s.storage.empty()) fail(s.place, "D_SYNTAX", "storage class in a type name: " + s.storage);
  const Declarator d = declarator(s.type, false);
  if (!d.name.empty()) fail(d.place, "D_SYNTAX", "syntax error near \"" + d.name + '"');
  return d.type;
}

}  // namespace vmrun::d::lang
