#include "probes/d/parser.hpp"

namespace vmrun::d::lang {
namespace {

constexpr unsigned kDeepestNesting = 200;
constexpr std::size_t kMostTypes = 1 << 16;
constexpr std::uint64_t kLargestArray = 16 << 20;

struct BinaryOperator {
  std::string_view sign;
  Op op;
  int precedence;
};
constexpr BinaryOperator kBinary[] = {
    {"||", Op::kLogicalOr, 1}, {"^^", Op::kLogicalXor, 2}, {"&&", Op::kLogicalAnd, 3}, {"|", Op::kOr, 4},
    {"^", Op::kXor, 5},        {"&", Op::kAnd, 6},         {"==", Op::kEq, 7},         {"!=", Op::kNe, 7},
    {"<", Op::kLt, 8},         {"<=", Op::kLe, 8},         {">", Op::kGt, 8},          {">=", Op::kGe, 8},
    {"<<", Op::kShl, 9},       {">>", Op::kShr, 9},        {"+", Op::kAdd, 10},        {"-", Op::kSub, 10},
    {"*", Op::kMul, 11},       {"/", Op::kDiv, 11},        {"%", Op::kRem, 11}};

constexpr BinaryOperator kAssigning[] = {{"=", Op::kNone, 0},  {"+=", Op::kAdd, 0}, {"-=", Op::kSub, 0},
                                         {"*=", Op::kMul, 0},  {"/=", Op::kDiv, 0}, {"%=", Op::kRem, 0},
                                         {"&=", Op::kAnd, 0},  {"|=", Op::kOr, 0},  {"^=", Op::kXor, 0},
                                         {"<<=", Op::kShl, 0}, {">>=", Op::kShr, 0}};

constexpr BinaryOperator kUnary[] = {{"-", Op::kNegate, 0},        {"+", Op::kPlus, 0},
                                     {"~", Op::kNot, 0},           {"!", Op::kLogicalNot, 0},
                                     {"*", Op::kDereference, 0},   {"&", Op::kAddress, 0},
                                     {"++", Op::kPreIncrement, 0}, {"--", Op::kPreDecrement, 0}};

template <std::size_t n>
const BinaryOperator* find_operator(const BinaryOperator (&table)[n], const Token& token) {
  if (token.kind != Token::Kind::kSign) return nullptr;
  for (const BinaryOperator& row : table)
    if (row.sign == token.text) return &row;
  return nullptr;
}

}  // namespace

/// Counts how deep calls of the parser are nested: bytes must not decide how much stack is used.
class Parser::Deeper {
 public:
  explicit Deeper(Parser& parser) : parser_(parser) {
    if (++parser.depth_ > kDeepestNesting) {
      parser.depth_--;
      fail(parser.lexer_.place(), "D_SYNTAX", "nested too deeply");
    }
  }
  ~Deeper() { parser_.depth_--; }

 private:
  Parser& parser_;
};

const Token& Parser::peek(std::size_t n) {
  while (ahead_.size() <= n) ahead_.push_back(lexer_.next());
  return ahead_[n];
}

Token Parser::take() {
  peek();
  Token token = std::move(ahead_.front());
  ahead_.pop_front();
  return token;
}

bool Parser::accept(std::string_view text) {
  if (!peek().is(text)) return false;
  take();
  return true;
}

void Parser::unexpected(const Token& token) {
  fail(token.place, "D_SYNTAX", "syntax error near " + token.shown());
}

void Parser::expect(std::string_view text) {
  if (!accept(text)) unexpected(peek());
}

std::string Parser::name() {
  if (peek().kind != Token::Kind::kName) unexpected(peek());
  return take().text;
}

void Parser::parse(bool bodies_needed) {
  const auto is_type = [this](const std::string& word) {
    TypeId id;
    return types_.find(word, id);
  };
  while (!lexer_.at_end()) {
    if (lexer_.peek() == ';') take();
    else if (lexer_.at_description(is_type)) clause(bodies_needed);
    else declaration();
    if (types_.all().size() > kMostTypes) fail(lexer_.place(), "D_SYNTAX", "too many types");
  }
}

// --- Clauses ---

void Parser::clause(bool bodies_needed) {
  ClauseTree clause;
  do {
    if (!clause.descriptions.empty()) take();  // the comma
    lexer_.peek();
    const Place place = lexer_.place();
    clause.descriptions.push_back(lexer_.description());
    clause.description_places.push_back(place);
    if (clause.descriptions.back().empty()) unexpected(peek());
  } while (lexer_.peek() == ',');
  clause.place = clause.description_places.front();
  if (lexer_.peek() == '/') {
    expect("/");
    clause.predicate = expression();
    expect("/{");
  }
  if (lexer_.peek() == '{') {
    take();
    clause.has_body = true;
    clause.body = block();
  } else if (bodies_needed && clause.predicate == nullptr) {
    if (const Token& next = peek(); next.kind != Token::Kind::kEnd && !next.is(";")) unexpected(next);
    fail(lexer_.place(), "D_SYNTAX", "expected predicate and/or actions following probe description");
  }
  listener_.clause(std::move(clause));
}

std::vector<Statement> Parser::block() {
  std::vector<Statement> out;
  while (!accept("}")) {
    if (peek().kind == Token::Kind::kEnd) unexpected(peek());
    if (!accept(";")) statement(out);
  }
  return out;
}

std::vector<Statement> Parser::branch() {
  Deeper deeper(*this);
  if (accept("{")) return block();
  std::vector<Statement> out;
  if (!accept(";")) statement(out);
  return out;
}

void Parser::statement(std::vector<Statement>& out) {
  Statement statement{.place = peek().place};
  if (accept("if")) {
    statement.kind = Statement::Kind::kIf;
    expect("(");
    statement.expression = expression();
    expect(")");
    statement.then = branch();
    if (accept("else")) statement.otherwise = branch();
    out.push_back(std::move(statement));
    return;
  }
  if (peek().kind == Token::Kind::kAggregation) {
    statement.kind = Statement::Kind::kAggregation;
    statement.expression = primary();
    if (peek().is("["))
      fail(peek().place, "D_AGG_MDIM",
           "improper use of an aggregation as a multi-dimensional array: keys are @a[k1, k2]");
    if (accept("=")) statement.function = assignment();
    else if (!peek().is(";") && !peek().is("}")) unexpected(peek());
  } else {
    statement.expression = expression();
  }
  if (!peek().is("}")) expect(";");
  out.push_back(std::move(statement));
}

// --- Expressions ---

Node* Parser::expression() {
  Deeper deeper(*this);
  Node* left = assignment();
  while (peek().is(",")) {
    const Place place = take().place;
    left = tree_.make(Node::Kind::kComma, place, {left, assignment()});
  }
  return left;
}

Node* Parser::assignment() {
  Deeper deeper(*this);
  Node* left = conditional();
  const BinaryOperator* op = find_operator(kAssigning, peek());
  if (op == nullptr) return left;
  const Place place = take().place;
  Node* node = tree_.make(Node::Kind::kAssign, place, {left, assignment()});
  node->op = op->op;
  return node;
}

Node* Parser::conditional() {
  Node* condition = binary(1);
  if (!peek().is("?")) return condition;
  Deeper deeper(*this);
  const Place place = take().place;
  Node* yes = expression();
  expect(":");
  return tree_.make(Node::Kind::kConditional, place, {condition, yes, conditional()});
}

Node* Parser::binary(int least) {
  Deeper deeper(*this);
  Node* left = unary();
  for (;;) {
    const BinaryOperator* op = find_operator(kBinary, peek());
    if (op == nullptr || op->precedence < least) return left;
    const Place place = take().place;
    Node* right = binary(op->precedence + 1);
    left = tree_.make(Node::Kind::kBinary, place, {left, right});
    left->op = op->op;
  }
}

Node* Parser::unary() {
  Deeper deeper(*this);
  const Token& token = peek();
  const Place place = token.place;
  if (const BinaryOperator* op = find_operator(kUnary, token)) {
    take();
    Node* node = tree_.make(Node::Kind::kUnary, place, {unary()});
    node->op = op->op;
    return node;
  }
  if (accept("sizeof")) {
    if (peek().is("(") && begins_type(1)) {
      take();
      Node* node = tree_.make(Node::Kind::kSizeof, place);
      node->is_typed = true;
      node->type = type_name();
      expect(")");
      return node;
    }
    return tree_.make(Node::Kind::kSizeof, place, {unary()});
  }
  if (accept("stringof")) return tree_.make(Node::Kind::kStringof, place, {unary()});
  if (token.is("(") && begins_type(1)) {
    take();
    const TypeId type = type_name();
    expect(")");
    Node* node = tree_.make(Node::Kind::kCast, place, {unary()});
    node->type = type;
    return node;
  }
  return postfix();
}

std::vector<Node*> Parser::arguments(std::string_view end) {
  std::vector<Node*> out;
  if (accept(end)) return out;
  do out.push_back(assignment());
  while (accept(","));
  expect(end);
  return out;
}

Node* Parser::postfix() {
  Node* node = primary();
  for (;;) {
    const Token& token = peek();
    const Place place = token.place;
    if (token.is("[")) {
      take();
      std::vector<Node*> children = arguments("]");
      if (children.empty()) fail(place, "D_SYNTAX", "[ ] needs an index");
      children.insert(children.begin(), node);
      node = tree_.make(Node::Kind::kIndex, place, std::move(children));
    } else if (token.is("(")) {
      if (node->kind != Node::Kind::kName || node->scope != VariableScope::kGlobal)
        fail(place, "D_FUNC_IDENT", "function designator is not of function type: an identifier is needed");
      take();
      Node* call = tree_.make(Node::Kind::kCall, node->place, arguments(")"));
      call->text = node->text;
      node = call;
    } else if (token.is(".") || token.is("->")) {
      if (take().text == "->") {
        node = tree_.make(Node::Kind::kUnary, place, {node});
        node->op = Op::kDereference;
        node->text = "->";
      }
      if (peek().kind != Token::Kind::kName && peek().kind != Token::Kind::kKeyword) unexpected(peek());
      node = tree_.make(Node::Kind::kMember, place, {node});
      node->text = take().text;
    } else if (token.is("++") || token.is("--")) {
      node = tree_.make(Node::Kind::kUnary, place, {node});
      node->op = take().text == "++" ? Op::kPostIncrement : Op::kPostDecrement;
    } else {
      return node;
    }
  }
}

Node* Parser::primary() {
  Token token = take();
  const Place place = token.place;
  if (token.kind == Token::Kind::kInteger) {
    Node* node = tree_.make(Node::Kind::kInteger, place);
    node->value = token.value;
    const bool small = token.value <= INT32_MAX, fits_unsigned = token.value <= UINT32_MAX;
    if (token.is_character && token.text.size() == 1) node->type = kInt;
    else if (token.is_long) node->type = token.is_unsigned || token.value > INT64_MAX ? kUnsignedLong : kLong;
    else if (token.is_unsigned) node->type = fits_unsigned ? kUnsigned : kUnsignedLong;
    else if (small) node->type = kInt;
    else if (!token.text.empty() && token.text[0] == '-')
      node->type = static_cast<std::int64_t>(token.value) >= INT32_MIN ? kInt : kLong;
    else if (fits_unsigned && !token.is_decimal) node->type = kUnsigned;
    else node->type = token.value > INT64_MAX ? kUnsignedLong : kLong;
    return node;
  }
  if (token.kind == Token::Kind::kString) {
    Node* node = tree_.make(Node::Kind::kString, place);
    node->text = std::move(token.text);
    node->type = kString;
    return node;
  }
  if (token.kind == Token::Kind::kAggregation) {
    std::vector<Node*> keys;
    if (accept("[")) {
      keys = arguments("]");
      if (keys.empty()) fail(place, "D_SYNTAX", "[ ] needs a key");
    }
    Node* node = tree_.make(Node::Kind::kAggregation, place, std::move(keys));
    node->text = std::move(token.text);
    return node;
  }
  if (token.kind == Token::Kind::kName) {
    Node* node = tree_.make(Node::Kind::kName, place);
    node->text = std::move(token.text);
    return node;
  }
  if ((token.is("self") || token.is("this")) && peek().is("->")) {
    take();
    Node* node = tree_.make(Node::Kind::kName, place);
    node->scope = token.text == "self" ? VariableScope::kSelf : VariableScope::kThis;
    if (peek().kind != Token::Kind::kName && peek().kind != Token::Kind::kKeyword) unexpected(peek());
    node->text = take().text;
    return node;
  }
  if (token.is("self")) {  // the built-in: the Erlang process
    Node* node = tree_.make(Node::Kind::kName, place);
    node->text = "self";
    return node;
  }
  if (token.is("(")) {
    Node* node = expression();
    expect(")");
    return node;
  }
  if (token.is("offsetof")) {
    expect("(");
    Node* node = tree_.make(Node::Kind::kOffsetof, place);
    node->type = type_name();
    expect(",");
    if (peek().kind != Token::Kind::kName && peek().kind != Token::Kind::kKeyword) unexpected(peek());
    node->text = take().text;
    expect(")");
    return node;
  }
  if (token.is("xlate")) {
    expect("<");
    const TypeId type = type_name();
    expect(">");
    expect("(");
    Node* node = tree_.make(Node::Kind::kXlate, place, {expression()});
    node->type = type;
    expect(")");
    return node;
  }
  unexpected(token);
}

// --- Declarations ---

struct Parser::Specifiers {
  Place place;
  std::string storage;  // typedef, self, this, ...
  bool has_signed = false, has_unsigned = false, has_short = false;
  int longs = 0;
  bool has_type = false;
  TypeId type = kInt;
};

struct Parser::Declarator {
  Place place;
  std::string name;
  TypeId type = 0;
  bool associative = false;
  std::vector<TypeId> keys;
};

struct Parser::Modifier {
  enum { kPointer, kArray, kFunction } kind;
  std::uint32_t count = 0;
};

bool Parser::begins_type(std::size_t n) {
  const Token& token = peek(n);
  TypeId id;
  if (token.kind == Token::Kind::kName) return types_.find(token.text, id);
  return token.kind == Token::Kind::kKeyword && begins_declaration(token.text) && token.text != "self" &&
         token.text != "this" && token.text != "inline" && token.text != "translator" &&
         token.text != "provider";
}

void Parser::specifier_word(Specifiers& s, const Token& token) {
  const std::string& word = token.text;
  const auto set_type = [&](TypeId type) {
    if (s.has_type) fail(token.place, "D_DECL_COMBO", "invalid type combination: " + word);
    s.has_type = true;
    s.type = type;
  };
  if (word == "const" || word == "volatile" || word == "restrict" || word == "userland") return;
  if (word == "signed" || word == "unsigned") {
    if (s.has_signed || s.has_unsigned)
      fail(token.place, "D_DECL_COMBO", "signed and unsigned given more than once");
    (word == "signed" ? s.has_signed : s.has_unsigned) = true;
  } else if (word == "short") {
    if (s.has_short || s.longs != 0) fail(token.place, "D_DECL_COMBO", "invalid type combination: short");
    s.has_short = true;
  } else if (word == "long") {
    if (s.has_short || ++s.longs > 2) fail(token.place, "D_DECL_COMBO", "invalid type combination: long");
  } else if (word == "char") {
    set_type(kChar);
  } else if (word == "int") {
    set_type(kInt);
  } else if (word == "float") {
    set_type(kFloat);
  } else if (word == "double") {
    set_type(kDouble);
  } else if (word == "void") {
    set_type(kVoid);
  } else if (word == "string") {
    set_type(kString);
  } else if (word == "struct" || word == "union") {
    const TypeId type = structure(word == "union");
    set_type(type);
  } else if (word == "enum") {
    const TypeId type = enumeration();
    set_type(type);
  } else {
    if (!s.storage.empty())
      fail(token.place, "D_DECL_CLASS", "only one storage class allowed in declaration");
    s.storage = word;
  }
}

Parser::Specifiers Parser::specifiers() {
  Specifiers s{.place = peek().place};
  for (;;) {
    const Token& token = peek();
    if (token.kind == Token::Kind::kName) {
      TypeId id;
      if (s.has_type || s.has_signed || s.has_unsigned || s.has_short || s.longs != 0 ||
          !types_.find(token.text, id))
        break;
      s.has_type = true;
      s.type = id;
      take();
    } else if (token.kind == Token::Kind::kKeyword && begins_declaration(token.text)) {
      if (token.text == "inline" || token.text == "translator" || token.text == "provider") unexpected(token);
      const Token word = take();
      specifier_word(s, word);
    } else {
      break;
    }
  }
  const bool has_sign = s.has_signed || s.has_unsigned;
  if (!s.has_type && !has_sign && !s.has_short && s.longs == 0) {
    TypeId known;
    if ((s.storage == "self" || s.storage == "this") && peek().kind == Token::Kind::kName &&
        !types_.find(peek().text, known))
      return s;  // self x; is an int
    if (peek().kind == Token::Kind::kName && !s.storage.empty())
      fail(peek().place, "D_DECL_IDENT", "unknown type name: " + peek().text);
    unexpected(peek());
  }
  if (s.type == kVoid && s.has_type && (has_sign || s.has_short || s.longs != 0))
    fail(s.place, "D_DECL_VOIDATTR", "invalid attributes for void type");
  if (s.type == kChar && s.has_type) {
    if (s.has_short || s.longs != 0) fail(s.place, "D_DECL_CHARATTR", "invalid attributes for char type");
    if (has_sign) s.type = s.has_unsigned ? kUnsignedChar : kSignedChar;
    return s;
  }
  if (s.has_type && s.type != kInt) {
    if (has_sign) fail(s.place, "D_DECL_SIGNINT", "signed and unsigned may only be used with integer type");
    if (s.longs == 1 && s.type == kDouble) return s;
    if (s.has_short || s.longs != 0)
      fail(s.place, "D_DECL_LONGINT", "long and short may only be used with integer or floating-point type");
    return s;
  }
  if (s.has_short) s.type = s.has_unsigned ? kUnsignedShort : kShort;
  else if (s.longs == 1) s.type = s.has_unsigned ? kUnsignedLong : kLong;
  else if (s.longs == 2) s.type = s.has_unsigned ? kUnsignedLongLong : kLongLong;
  else s.type = s.has_unsigned ? kUnsigned : kInt;
  return s;
}

void Parser::members(std::vector<NewMember>& out) {
  while (!accept("}")) {
    const Specifiers s = specifiers();
    if (!s.storage.empty())
      fail(s.place, "D_DECL_PARMCLASS", "storage class " + s.storage + " is not allowed for a member");
    if (peek().is(";") && types_.is_struct(s.type)) {
      out.push_back({.name = "", .type = s.type});
    } else {
      do {
        NewMember member{.name = "", .type = s.type};
        const Place place = peek().place;
        if (!peek().is(":")) {
          const Declarator d = declarator(s.type, false);
          if (d.name.empty()) fail(place, "D_DECL_MNAME", "declaration of a member needs a name");
          member = {.name = d.name, .type = d.type};
        }
        if (accept(":")) {
          const std::int64_t bits = listener_.constant(conditional(), "D_DECL_BFCONST");
          if (!types_.is_integer(member.type))
            fail(place, "D_DECL_BFTYPE", "invalid type for bit-field: " + member.name);
          if (bits < 0 || bits > 8 * static_cast<std::int64_t>(types_.bytes(member.type)) ||
              (bits == 0 && !member.name.empty()))
            fail(place, "D_DECL_BFSIZE", "invalid size of bit-field: " + member.name);
          member.bits = static_cast<int>(bits);
        }
        const CType& type = types_.base(member.type);
        if (type.kind == CType::Kind::kFunction || (type.bytes == 0 && type.kind == CType::Kind::kVoid))
          fail(place, "D_DECL_VOIDOBJ",
               "member " + member.name + " cannot be of type " + types_.name(member.type));
        if (!type.complete)
          fail(place, "D_DECL_INCOMPLETE", "member " + member.name + " is of an incomplete type");
        if (!member.name.empty()) {
          for (const NewMember& other : out)
            if (other.name == member.name)
              fail(place, "D_DECL_IDRED", "member " + member.name + " is there twice");
        }
        if (out.size() >= 4096) fail(place, "D_SYNTAX", "too many members");
        out.push_back(std::move(member));
      } while (accept(","));
    }
    expect(";");
  }
}

TypeId Parser::structure(bool is_union) {
  Deeper deeper(*this);
  const Place place = peek().place;
  std::string tag;
  if (peek().kind == Token::Kind::kName) tag = take().text;
  else if (!peek().is("{")) unexpected(peek());
  const std::string named = (is_union ? "union " : "struct ") + (tag.empty() ? "{...}" : tag);
  const auto kind = is_union ? CType::Kind::kUnion : CType::Kind::kStruct;
  TypeId id;
  if (tag.empty() || !types_.find_tag(named, id)) {
    id = types_.add({.kind = kind, .name = named, .complete = false});
    if (!tag.empty()) types_.add_tag(named, id);
  }
  if (!accept("{")) return id;
  if (types_[id].complete) fail(place, "D_DECL_TYPERED", named + " is declared twice");
  std::vector<NewMember> list;
  members(list);
  CType laid = types_[id];
  if (laid.complete || !lay_out(types_, laid, list)) fail(place, "D_DECL_ARRBIG", named + " is too large");
  types_[id] = std::move(laid);
  return id;
}

TypeId Parser::enumeration() {
  const Place place = peek().place;
  std::string tag;
  if (peek().kind == Token::Kind::kName) tag = take().text;
  else if (!peek().is("{")) unexpected(peek());
  const std::string named = "enum " + (tag.empty() ? "{...}" : tag);
  TypeId id;
  if (tag.empty() || !types_.find_tag(named, id)) {
    id = types_.add(
        {.kind = CType::Kind::kEnum, .name = named, .bytes = 4, .is_signed = true, .complete = false});
    if (!tag.empty()) types_.add_tag(named, id);
  }
  if (!accept("{")) return id;
  if (types_[id].complete) fail(place, "D_DECL_TYPERED", named + " is declared twice");
  types_[id].complete = true;
  std::int64_t value = 0;
  do {
    if (peek().is("}")) break;
    const Place at = peek().place;
    const std::string enumerator = name();
    if (accept("=")) value = listener_.constant(conditional(), "D_DECL_ENCONST");
    if (value > INT32_MAX || value < INT32_MIN)
      fail(at, "D_DECL_ENOFLOW", "enumerator " + enumerator + " overflows INT_MAX");
    listener_.enumerator(at, enumerator, value);
    types_[id].enumerators.emplace_back(enumerator, value++);
  } while (accept(","));
  expect("}");
  return id;
}

std::vector<TypeId> Parser::parameter_types(std::string_view end, std::vector<std::string>* names,
                                            bool* varargs) {
  Deeper deeper(*this);
  std::vector<TypeId> out;
  if (accept(end)) return out;
  do {
    if (accept("...")) {
      if (varargs != nullptr) *varargs = true;
      break;
    }
    const Specifiers s = specifiers();
    if (!s.storage.empty() && s.storage != "register")
      fail(s.place, "D_DECL_PARMCLASS", "storage class " + s.storage + " is not allowed for a parameter");
    const Declarator d = declarator(s.type, false);
    if (names != nullptr) names->push_back(d.name);
    out.push_back(d.type);
  } while (accept(","));
  expect(end);
  return out;
}

/// Parameters in [ ]: of an associative array or an inline.
std::vector<TypeId> Parser::key_types(std::vector<std::string>* names) {
  const Place place = peek().place;
  std::vector<std::string> given;
  bool varargs = false;
  std::vector<TypeId> out = parameter_types("]", &given, &varargs);
  if (varargs) fail(place, "D_DECL_PROTO_VARARGS", "a variable number of keys is not allowed");
  for (std::size_t i = 0; i < out.size(); i++) {
    if (types_.base_id(out[i]) != kVoid) continue;
    if (out.size() > 1) fail(place, "D_DECL_PROTO_VOID", "void must be the sole parameter");
    if (!given[i].empty()) fail(place, "D_DECL_PROTO_NAME", "void may not have a name: " + given[i]);
  }
  if (names != nullptr) *names = std::move(given);
  return out;
}

void Parser::array_suffix(std::vector<Modifier>& modifiers, Declarator& out) {
  const Place place = take().place;  // [
  if (begins_type(0)) {
    out.associative = true;
    out.keys = key_types(nullptr);
    return;
  }
  if (accept("]"))
    fail(place, "D_DECL_ARRNULL", "array declaration requires an array dimension or tuple signature");
  const std::int64_t count = listener_.constant(conditional(), "D_DECL_ARRSUB");
  if (count < 0)
    fail(place, "D_DECL_ARRSUB", "positive integral constant expression or tuple signature expected");
  if (count > static_cast<std::int64_t>(kLargestArray))
    fail(place, "D_DECL_ARRBIG", "array dimension is too large");
  expect("]");
  modifiers.push_back({Modifier::kArray, static_cast<std::uint32_t>(count)});
}

void Parser::declarator_part(std::vector<Modifier>& modifiers, Declarator& out) {
  Deeper deeper(*this);
  std::size_t pointers = 0;
  for (;;) {
    if (accept("*")) pointers++;
    else if (!accept("const") && !accept("volatile") && !accept("restrict")) break;
    if (pointers > 16) fail(lexer_.place(), "D_SYNTAX", "too many pointers");
  }
  out.place = peek().place;
  if (peek().is("(") && !begins_type(1) && !peek(1).is(")")) {
    take();
    declarator_part(modifiers, out);
    expect(")");
  } else if (peek().kind == Token::Kind::kName) {
    out.name = take().text;
    if (peek().is("::") || out.name.find('`') != std::string::npos)
      fail(out.place, "D_DECL_SCOPE", "scoping operator may not be used in a declaration");
  }
  while (peek().is("[") || peek().is("(")) {
    if (modifiers.size() > 32) fail(lexer_.place(), "D_SYNTAX", "too many dimensions");
    if (peek().is("[")) {
      array_suffix(modifiers, out);
    } else {
      take();
      parameter_types(")", nullptr, nullptr);
      modifiers.push_back({Modifier::kFunction});
    }
  }
  for (std::size_t n = 0; n < pointers; n++) modifiers.push_back({Modifier::kPointer});
}

Parser::Declarator Parser::declarator(TypeId base, bool needs_name) {
  Declarator out;
  std::vector<Modifier> modifiers;
  declarator_part(modifiers, out);
  if (needs_name && out.name.empty()) unexpected(peek());
  out.type = base;
  for (auto m = modifiers.rbegin(); m != modifiers.rend(); ++m) {
    if (m->kind == Modifier::kPointer) {
      out.type = types_.pointer_to(out.type);
    } else if (m->kind == Modifier::kFunction) {
      out.type = types_.add(
          {.kind = CType::Kind::kFunction, .name = types_.name(out.type) + " ()", .element = out.type});
    } else {
      const CType& element = types_.base(out.type);
      if (element.kind == CType::Kind::kFunction || element.bytes == 0 || !element.complete)
        fail(out.place, "D_DECL_INCOMPLETE", "array of an incomplete type: " + types_.name(out.type));
      if (std::uint64_t{element.bytes} * m->count > kLargestArray)
        fail(out.place, "D_DECL_ARRBIG", "array dimension is too large");
      out.type = types_.array_of(out.type, m->count);
    }
  }
  return out;
}

TypeId Parser::type_name() {
  Deeper deeper(*this);
  const Specifiers s = specifiers();
  if (!s.storage.empty()) fail(s.place, "D_SYNTAX", "storage class in a type name: " + s.storage);
  const Declarator d = declarator(s.type, false);
  if (!d.name.empty()) fail(d.place, "D_SYNTAX", "syntax error near \"" + d.name + '"');
  return d.type;
}

void Parser::inline_declaration() {
  take();
  const Specifiers s = specifiers();
  Listener::Declared declared{.place = peek().place};
  // inline int f[int a, string b] = ...: parameters have names, so this is no plain declarator.
  TypeId type = s.type;
  while (accept("*")) type = types_.pointer_to(type);
  declared.name = name();
  declared.type = type;
  std::vector<std::string> parameters;
  if (accept("[")) {
    declared.associative = true;
    declared.keys = key_types(&parameters);
  }
  expect("=");
  Node* value = assignment();
  expect(";");
  listener_.inlined(declared, parameters, value);
}

void Parser::translator_declaration() {
  const Place place = take().place;
  const TypeId to = type_name();
  expect("<");
  const Specifiers s = specifiers();
  const Declarator from = declarator(s.type, true);
  expect(">");
  expect("{");
  std::vector<Listener::Member> members;
  while (!accept("}")) {
    Listener::Member member{.place = peek().place};
    if (peek().kind != Token::Kind::kName && peek().kind != Token::Kind::kKeyword) unexpected(peek());
    member.name = take().text;
    expect("=");
    member.value = assignment();
    expect(";");
    members.push_back(std::move(member));
  }
  expect(";");
  listener_.translator(place, to, from.type, from.name, std::move(members));
}

void Parser::declaration() {
  if (peek().is("inline")) return inline_declaration();
  if (peek().is("translator")) return translator_declaration();
  if (peek().is("provider"))
    fail(peek().place, "D_SYNTAX", "provider declarations are for dtrace -h: a script cannot have one");
  const Specifiers s = specifiers();
  if (s.storage == "static" || s.storage == "auto" || s.storage == "register" || s.storage == "counter")
    fail(s.place, "D_DECL_BADCLASS", "storage class " + s.storage + " is not supported in D");
  if (peek().is(";")) {
    take();
    if (!types_.is_struct(s.type) && types_.kind(s.type) != CType::Kind::kEnum)
      fail(s.place, "D_DECL_USELESS", "useless declaration");
    return;
  }
  do {
    const Declarator d = declarator(s.type, true);
    if (s.storage == "typedef") {
      TypeId known;
      if (d.associative) fail(d.place, "D_DECL_DYNOBJ", "a type cannot be an associative array: " + d.name);
      if (types_.find(d.name, known)) {
        if (!types_.same(known, d.type)) fail(d.place, "D_DECL_TYPERED", "type redeclared: " + d.name);
      } else {
        types_.add_typedef(d.name, d.type);
      }
      continue;
    }
    if (types_.kind(d.type) == CType::Kind::kFunction) continue;  // a prototype: nothing to be done
    Listener::Declared declared{
        .place = d.place, .name = d.name, .type = d.type, .associative = d.associative, .keys = d.keys};
    if (s.storage == "self") declared.scope = VariableScope::kSelf;
    if (s.storage == "this") declared.scope = VariableScope::kThis;
    listener_.variable(declared);
  } while (accept(","));
  if (peek().is("="))
    fail(peek().place, "D_SYNTAX", "a declaration cannot have an initial value: assign it in BEGIN");
  expect(";");
}

}  // namespace vmrun::d::lang
