// SPDX-License-Identifier: Apache-2.0
#include "probes/d/syntax/expression_parser.hpp"

namespace vmrun::d::lang {
namespace {

struct Operator {
  std::string_view sign;
  Op op;
  int precedence = 0;
};
constexpr Operator kBinary[] = {
    {"||", Op::kLogicalOr, 1}, {"^^", Op::kLogicalXor, 2}, {"&&", Op::kLogicalAnd, 3}, {"|", Op::kOr, 4},
    {"^", Op::kXor, 5},        {"&", Op::kAnd, 6},         {"==", Op::kEq, 7},         {"!=", Op::kNe, 7},
    {"<", Op::kLt, 8},         {"<=", Op::kLe, 8},         {">", Op::kGt, 8},          {">=", Op::kGe, 8},
    {"<<", Op::kShl, 9},       {">>", Op::kShr, 9},        {"+", Op::kAdd, 10},        {"-", Op::kSub, 10},
    {"*", Op::kMul, 11},       {"/", Op::kDiv, 11},        {"%", Op::kRem, 11}};

constexpr Operator kAssigning[] = {{"=", Op::kNone}, {"+=", Op::kAdd},  {"-=", Op::kSub}, {"*=", Op::kMul},
                                   {"/=", Op::kDiv}, {"%=", Op::kRem},  {"&=", Op::kAnd}, {"|=", Op::kOr},
                                   {"^=", Op::kXor}, {"<<=", Op::kShl}, {">>=", Op::kShr}};

constexpr Operator kUnary[] = {{"-", Op::kNegate},        {"+", Op::kPlus},         {"~", Op::kNot},
                               {"!", Op::kLogicalNot},    {"*", Op::kDereference},  {"&", Op::kAddress},
                               {"++", Op::kPreIncrement}, {"--", Op::kPreDecrement}};

template <std::size_t n>
const Operator* find_operator(const Operator (&table)[n], const Token& token) {
  if (token.kind != Token::Kind::kSign) return nullptr;
  for (const Operator& row : table)
    if (row.sign == token.text) return &row;
  return nullptr;
}

/// As in C, a constant has the first type that holds it; a decimal one without u stays signed.
TypeId type_of_integer(const Token& token) {
  const bool small = token.value <= INT32_MAX, fits_unsigned = token.value <= UINT32_MAX;
  const bool is_negative_character = !token.text.empty() && token.text[0] == '-';
  if (token.is_character && token.text.size() == 1) return kInt;
  if (token.is_long) return token.is_unsigned || token.value > INT64_MAX ? kUnsignedLong : kLong;
  if (token.is_unsigned) return fits_unsigned ? kUnsigned : kUnsignedLong;
  if (small) return kInt;
  if (is_negative_character) return static_cast<std::int64_t>(token.value) >= INT32_MIN ? kInt : kLong;
  if (fits_unsigned && !token.is_decimal) return kUnsigned;
  return token.value > INT64_MAX ? kUnsignedLong : kLong;
}

}  // namespace

Node* ExpressionParser::expression() {
  Deeper deeper(tokens_);
  Node* left = assignment();
  while (tokens_.peek().is(",")) {
    const Place place = tokens_.take().place;
    left = tree_.make(Node::Kind::kComma, place, {left, assignment()});
  }
  return left;
}

Node* ExpressionParser::assignment() {
  Deeper deeper(tokens_);
  Node* left = conditional();
  const Operator* op = find_operator(kAssigning, tokens_.peek());
  if (op == nullptr) return left;
  const Place place = tokens_.take().place;
  Node* node = tree_.make(Node::Kind::kAssign, place, {left, assignment()});
  node->op = op->op;
  return node;
}

Node* ExpressionParser::conditional() {
  Node* condition = binary(1);
  if (!tokens_.peek().is("?")) return condition;
  Deeper deeper(tokens_);
  const Place place = tokens_.take().place;
  Node* yes = expression();
  tokens_.expect(":");
  return tree_.make(Node::Kind::kConditional, place, {condition, yes, conditional()});
}

Node* ExpressionParser::binary(int least) {
  Deeper deeper(tokens_);
  Node* left = unary();
  for (;;) {
    const Operator* op = find_operator(kBinary, tokens_.peek());
    if (op == nullptr || op->precedence < least) return left;
    const Place place = tokens_.take().place;
    Node* right = binary(op->precedence + 1);
    left = tree_.make(Node::Kind::kBinary, place, {left, right});
    left->op = op->op;
  }
}

Node* ExpressionParser::unary() {
  Deeper deeper(tokens_);
  const Place place = tokens_.peek().place;
  if (const Operator* op = find_operator(kUnary, tokens_.peek())) {
    tokens_.take();
    Node* node = tree_.make(Node::Kind::kUnary, place, {unary()});
    node->op = op->op;
    return node;
  }
  if (tokens_.accept("sizeof")) return size_of(place);
  if (tokens_.accept("stringof")) return tree_.make(Node::Kind::kStringof, place, {unary()});
  if (tokens_.peek().is("(") && types_.begins_type(1)) {
    tokens_.take();
    const TypeId type = types_.type_name();
    tokens_.expect(")");
    Node* node = tree_.make(Node::Kind::kCast, place, {unary()});
    node->type = type;
    return node;
  }
  return postfix();
}

Node* ExpressionParser::size_of(Place place) {
  if (!tokens_.peek().is("(") || !types_.begins_type(1))
    return tree_.make(Node::Kind::kSizeof, place, {unary()});
  tokens_.take();
  Node* node = tree_.make(Node::Kind::kSizeof, place);
  node->is_typed = true;
  node->type = types_.type_name();
  tokens_.expect(")");
  return node;
}

Node* ExpressionParser::postfix() {
  Node* node = primary();
  for (;;) {
    const Place place = tokens_.peek().place;
    if (tokens_.peek().is("[")) {
      node = index(node, place);
    } else if (tokens_.peek().is("(")) {
      node = call(node, place);
    } else if (tokens_.peek().is(".") || tokens_.peek().is("->")) {
      node = member(node, place);
    } else if (tokens_.peek().is("++") || tokens_.peek().is("--")) {
      node = tree_.make(Node::Kind::kUnary, place, {node});
      node->op = tokens_.take().text == "++" ? Op::kPostIncrement : Op::kPostDecrement;
    } else {
      return node;
    }
  }
}

Node* ExpressionParser::index(Node* node, Place place) {
  tokens_.take();
  std::vector<Node*> children = arguments("]", place);
  if (children.empty()) fail(place, "D_SYNTAX", "[ ] needs an index");
  children.insert(children.begin(), node);
  return tree_.make(Node::Kind::kIndex, place, std::move(children));
}

Node* ExpressionParser::call(Node* node, Place place) {
  if (node->kind != Node::Kind::kName || node->scope != VariableScope::kGlobal)
    fail(place, "D_FUNC_IDENT", "function designator is not of function type: an identifier is needed");
  tokens_.take();
  Node* call = tree_.make(Node::Kind::kCall, node->place, arguments(")", place));
  call->text = node->text;
  return call;
}

Node* ExpressionParser::member(Node* node, Place place) {
  if (tokens_.take().text == "->") {
    node = tree_.make(Node::Kind::kUnary, place, {node});
    node->op = Op::kDereference;
    node->text = "->";
  }
  const Place of_name = tokens_.peek().place;
  std::string name = tokens_.member_name();
  node = tree_.make(Node::Kind::kMember, of_name, {node});
  node->text = std::move(name);
  return node;
}

std::vector<Node*> ExpressionParser::arguments(std::string_view end, Place open) {
  std::vector<Node*> out;
  if (tokens_.accept(end)) return out;
  do out.push_back(assignment());
  while (tokens_.accept(","));
  tokens_.expect_closing(end, end == ")" ? "(" : "[", open);
  return out;
}

Node* ExpressionParser::primary() {
  // A sign that is wrong here stays: it may end the statement.
  if (const Token& next = tokens_.peek();
      next.kind == Token::Kind::kEnd || (next.kind == Token::Kind::kSign && !next.is("(")) || next.is("for"))
    tokens_.unexpected(next, next.kind == Token::Kind::kEnd ? "" : ": an expression is expected");
  Token token = tokens_.take();
  switch (token.kind) {
    case Token::Kind::kInteger: return integer(token);
    case Token::Kind::kString: {
      Node* node = tree_.make(Node::Kind::kString, token.place);
      node->text = std::move(token.text);
      node->type = kString;
      return node;
    }
    case Token::Kind::kAggregation: return aggregation(std::move(token));
    case Token::Kind::kName: {
      Node* node = tree_.make(Node::Kind::kName, token.place);
      node->text = std::move(token.text);
      return node;
    }
    case Token::Kind::kKeyword: return keyword(token);
    default: break;
  }
  Node* node = expression();
  tokens_.expect_closing(")", "(", token.place);
  return node;
}

Node* ExpressionParser::integer(const Token& token) {
  Node* node = tree_.make(Node::Kind::kInteger, token.place);
  node->value = token.value;
  node->type = type_of_integer(token);
  return node;
}

Node* ExpressionParser::aggregation(Token token) {
  std::vector<Node*> keys;
  if (const Place open = tokens_.peek().place; tokens_.accept("[")) {
    keys = arguments("]", open);
    if (keys.empty()) fail(token.place, "D_SYNTAX", "[ ] needs a key");
  }
  Node* node = tree_.make(Node::Kind::kAggregation, token.place, std::move(keys));
  node->text = std::move(token.text);
  return node;
}

Node* ExpressionParser::keyword(const Token& token) {
  if (token.is("offsetof")) return offset_of(token.place);
  if (token.is("xlate")) return xlate(token.place);
  if (!token.is("self") && !token.is("this")) tokens_.unexpected(token);
  Node* node = tree_.make(Node::Kind::kName, token.place);
  if (tokens_.accept("->")) {
    node->scope = token.is("self") ? VariableScope::kSelf : VariableScope::kThis;
    node->text = tokens_.member_name();
    return node;
  }
  if (token.is("this")) tokens_.unexpected(token);
  node->text = "self";  // the built-in self is the Erlang process
  return node;
}

Node* ExpressionParser::offset_of(Place place) {
  tokens_.expect("(");
  Node* node = tree_.make(Node::Kind::kOffsetof, place);
  node->type = types_.type_name();
  tokens_.expect(",");
  node->text = tokens_.member_name();
  tokens_.expect(")");
  return node;
}

Node* ExpressionParser::xlate(Place place) {
  tokens_.expect("<");
  const TypeId type = types_.type_name();
  tokens_.expect(">");
  tokens_.expect("(");
  Node* node = tree_.make(Node::Kind::kXlate, place, {expression()});
  node->type = type;
  tokens_.expect(")");
  return node;
}

}  // namespace vmrun::d::lang
