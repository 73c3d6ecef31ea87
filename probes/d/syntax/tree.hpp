// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "probes/d/syntax/failure.hpp"

/// The syntax tree. The parser makes it, and check and emit walk it. Nodes live in a Tree, as long
/// as the compilation. Their depth is bounded where they are made, so the walks may recurse.
namespace vmrun::d::lang {

using TypeId = std::uint32_t;  // index in the type table

enum class Op : std::uint8_t {
  kNone,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kNegate,
  kPlus,
  kNot,
  kLogicalNot,
  kDereference,
  kAddress,
  kPreIncrement,
  kPreDecrement,
  kPostIncrement,
  kPostDecrement,
};

enum class VariableScope : std::uint8_t { kGlobal, kThis, kSelf };

/// How a name is reached once it was found.
enum class Where : std::uint8_t {
  kNowhere,
  kVariable,      // index: among the program's variables
  kFrame,         // index: byte of the this-> frame
  kArgumentText,  // index: number of the argument, as a text
  kArgument,      // index: number of the argument (argN, args[N])
  kBuiltin,       // index: number of the built-in
  kTerm,          // targs[index]
};

struct Node {
  enum class Kind : std::uint8_t {
    kInteger,      // value
    kString,       // text
    kName,         // text, scope
    kUnary,        // op, children[0]
    kBinary,       // op, children[0], [1]; the comma is kComma
    kAssign,       // op (kNone: plain), children[0], [1]
    kConditional,  // children[0] ? [1] : [2]
    kComma,
    kCall,         // text, children: arguments
    kIndex,        // children[0] [ children[1], ... ]
    kMember,       // children[0] . text; p->m is the member of *p
    kCast,         // type, children[0]
    kSizeof,       // type, or children[0]
    kOffsetof,     // type, text
    kStringof,     // children[0]
    kXlate,        // type, children[0]
    kAggregation,  // text, children: keys
    // These are made by check:
    kReference,  // where, index; children: keys of an associative array
  };
  Kind kind = Kind::kInteger;
  Op op = Op::kNone;
  VariableScope scope = VariableScope::kGlobal;
  bool is_typed = false;  // kSizeof of a type
  Place place;
  std::string text;
  std::uint64_t value = 0;
  std::vector<Node*> children;
  TypeId type = 0;
  std::uint32_t depth = 1;

  // These are filled in by check.
  bool checked = false, lvalue = false;
  Where where = Where::kNowhere;
  std::uint32_t index = 0;
  std::uint32_t offset = 0;               // of a member
  std::uint8_t bit_offset = 0, bits = 0;  // of a bit-field
  bool self = false;                      // a variable of self->

  bool is_reference(Where to) const { return kind == Kind::kReference && where == to; }
  bool is_call(std::string_view function) const { return kind == Kind::kCall && text == function; }
};

struct Statement {
  enum class Kind : std::uint8_t {
    kExpression,   // expression
    kAggregation,  // expression (the @a[...]), function
    kIf,           // expression, then, otherwise
  };
  Kind kind = Kind::kExpression;
  Place place;
  Node* expression = nullptr;
  Node* function = nullptr;
  std::vector<Statement> then, otherwise;
};

struct ClauseTree {
  Place place;
  std::vector<std::string> descriptions;  // macros replaced
  std::vector<Place> description_places;
  Node* predicate = nullptr;
  bool has_body = false;
  std::vector<Statement> body;
};

/// The owner of the nodes.
class Tree {
 public:
  static constexpr std::uint32_t kDeepest = 250;
  static constexpr std::size_t kMostNodes = 1 << 20;

  Node* make(Node::Kind kind, Place place, std::vector<Node*> children = {}) {
    if (nodes_.size() >= kMostNodes) fail(place, "D_SYNTAX", "the program is too large");
    Node& node = nodes_.emplace_back();
    node.kind = kind;
    node.place = place;
    node.children = std::move(children);
    for (const Node* child : node.children) node.depth = std::max(node.depth, child->depth + 1);
    if (node.depth > kDeepest) fail(place, "D_SYNTAX", "expression is nested too deeply");
    return &node;
  }

 private:
  std::deque<Node> nodes_;
};

}  // namespace vmrun::d::lang
