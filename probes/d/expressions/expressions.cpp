// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/expressions.hpp"

#include "probes/d/expressions/builtin_variables.hpp"
#include "probes/d/expressions/vocabulary.hpp"
#include "probes/engine/operations.hpp"
#include "vm/base/near_name.hpp"

namespace vmrun::d::lang {

using Kind = Node::Kind;

namespace {

constexpr unsigned kDeepestCheck = 400;

}  // namespace

/// Counts the depth of the walk. Trees are bounded in depth, but inlines that are put in add to it.
class Expressions::Deeper {
 public:
  Deeper(Expressions& expressions, Place place) : expressions_(expressions) {
    if (++expressions.depth_ > kDeepestCheck) {
      expressions.depth_--;
      fail(place, "D_SYNTAX", "expression is nested too deeply");
    }
  }
  ~Deeper() { expressions_.depth_--; }

 private:
  Expressions& expressions_;
};

void Expressions::check_scalar(Node*& n, const char* what) {
  check(n);
  operators_.need_scalar(n, what);
}

/// Puts the value of an inline or of a translator's member in place of n.
void Expressions::put_in(Node*& n, Node* value, TypeId type, const char* tag) {
  check(value);
  conversions_.assignable(value, type, n->place, tag);
  value->lvalue = false;
  n = value;
}

void Expressions::known_symbol(Node*& n, const Symbol& symbol) {
  if (symbol.kind == Symbol::Kind::kEnumerator) {
    n = nodes_.integer(n->place, static_cast<std::uint64_t>(symbol.value), kInt);
    return;
  }
  if (symbol.kind == Symbol::Kind::kInline) {
    if (symbol.associative)
      fail(n->place, "D_IDENT_BADREF", n->text + " takes parameters: " + n->text + "[ ... ]");
    return put_in(n, nodes_.clone(symbol.inlined, {}), symbol.type, "D_OP_INCOMPAT");
  }
  if (symbol.associative)
    fail(n->place, "D_IDENT_BADREF", n->text + " is an associative array: it needs keys in [ ]");
  n->kind = Kind::kReference;
  n->where = symbol.kind == Symbol::Kind::kFrame ? Where::kFrame : Where::kVariable;
  n->index = symbol.index;
  n->self = n->scope == VariableScope::kSelf;
  n->type = symbol.type;
  n->lvalue = true;
}

/// Fails when a built-in does not exist at the probes of the clause.
void Expressions::there(const Node* n) const {
  if (n->kind != Kind::kReference || n->where != Where::kBuiltin) return;
  const BuiltinInfo& info = kBuiltins[n->index];
  if (*info.probes != '\0') arguments_.only_at(n->place, info.name, info.probes);
}

void Expressions::name(Node*& n) {
  if (const Symbol* symbol = symbols_.find(n->scope, n->text)) return known_symbol(n, *symbol);
  if (n->scope != VariableScope::kGlobal) {
    if (const Symbol* symbol = symbols_.find_later(n->scope, n->text, n->place))
      return known_symbol(n, *symbol);
    unknown_member_variable(n);
  }
  if (builtin(n, nodes_)) return there(n);
  if (is_aggregating(n->text) || is_action(n->text))
    fail(n->place, "D_IDENT_BADREF", n->text + " is not a variable");
  if (is_kernel_variable(n->text) || n->text.find('`') != std::string::npos)
    fail(n->place, "D_IDENT_UNDEF",
         "failed to resolve " + n->text + ": data of the kernel is not within reach");
  if (const Symbol* symbol = symbols_.find_later(n->scope, n->text, n->place))
    return known_symbol(n, *symbol);
  unknown_name(n);
}

/// Fails for an unknown self->NAME or this->NAME.
void Expressions::unknown_member_variable(const Node* n) {
  const bool is_self = n->scope == VariableScope::kSelf;
  const std::string scope = is_self ? "self->" : "this->", other = is_self ? "this->" : "self->";
  NearName near(n->text);
  symbols_.offer(n->scope, near);
  std::string meant = near.found().empty() ? "" : scope + std::string(near.found());
  if (symbols_.find(is_self ? VariableScope::kThis : VariableScope::kSelf, n->text) != nullptr)
    meant = other + n->text;
  else if (symbols_.find(VariableScope::kGlobal, n->text) != nullptr) meant = n->text;
  fail(n->place, "D_VAR_UNDEF",
       failures_.is_excused(n->text)
           ? ""
           : scope + n->text + " has not yet been declared or assigned" + did_you_mean(meant));
}

std::string Expressions::name_hint(const Node* n) {
  if (is_function(n->text)) return ": it is a function, which is called with ( )";
  if (symbols_.find(VariableScope::kSelf, n->text) != nullptr) return did_you_mean("self->" + n->text);
  if (symbols_.find(VariableScope::kThis, n->text) != nullptr) return did_you_mean("this->" + n->text);
  NearName near(n->text, NearName::Names::kMany);
  symbols_.offer(VariableScope::kGlobal, near);
  offer_builtins(arguments_, near);
  return did_you_mean(near.found());
}

void Expressions::unknown_name(const Node* n) {
  fail(n->place, "D_IDENT_UNDEF",
       failures_.is_excused(n->text)
           ? ""
           : "failed to resolve " + n->text + ": unknown variable name" + name_hint(n));
}

/// Fails when the name is unknown and similar to one of `words`, which are no variables: self and
/// this before ->, args before [.
void Expressions::must_be_known(const Node* n, std::initializer_list<std::string_view> words) {
  if (n->kind != Kind::kName || n->scope != VariableScope::kGlobal || is_builtin_variable(n->text)) return;
  NearName near(n->text);
  for (const std::string_view known : words) near.offer(known);
  if (near.found().empty() || symbols_.find(VariableScope::kGlobal, n->text) != nullptr ||
      symbols_.find_later(VariableScope::kGlobal, n->text, n->place) != nullptr)
    return;
  fail(n->place, "D_IDENT_UNDEF",
       "failed to resolve " + n->text + ": unknown variable name" + did_you_mean(near.found()));
}

void Expressions::increment(Node* n) {
  target(n->children[0], kInt64);
  const Node* operand = n->children[0];
  if (!types_.is_scalar(operand->type))
    fail(n->place, "D_OP_SCALAR", "++ and -- require an operand of scalar type");
  n->type = operand->type;
}

/// Makes the variable or array that is assigned to, when none has its name yet.
void Expressions::make_target(Node* n, TypeId value) {
  if (n->kind == Kind::kName && symbols_.find(n->scope, n->text) == nullptr) {
    Node* probe = nodes_.clone(n, {});
    if (n->scope == VariableScope::kGlobal) {
      if (builtin(probe, nodes_))
        fail(n->place, "D_OP_WRITE", n->text + " is read-only: it cannot be assigned");
      if (n->text.find('`') != std::string::npos) name(probe);  // it fails
    }
    symbols_.create(n->scope, n->text, value, false, n->place);
  }
  if (n->kind != Kind::kIndex || n->children[0]->kind != Kind::kName) return;
  const Node* array = n->children[0];
  if (symbols_.find(array->scope, array->text) != nullptr || array->text == "args" || array->text == "targs")
    return;
  Node* probe = nodes_.clone(array, {});
  if (array->scope == VariableScope::kGlobal && builtin(probe, nodes_))
    fail(n->place, "D_ARR_BADREF", array->text + " is no array");
  if (array->scope == VariableScope::kThis)
    fail(n->place, "D_ARR_LOCAL",
         "this->" + array->text + ": an associative array cannot be local to a clause");
  symbols_.create(array->scope, array->text, value, true, n->place);
}

/// Checks what is assigned to. An unknown variable is made, with the type of the value.
void Expressions::target(Node*& n, TypeId value) {
  if (n->checked) return;
  make_target(n, value);
  check(n);
  if (n->kind == Kind::kReference &&
      (n->where == Where::kBuiltin || n->where == Where::kArgument || n->where == Where::kTerm))
    fail(n->place, "D_OP_WRITE", "what a probe brings is read-only: it cannot be assigned");
  if (!n->lvalue) fail(n->place, "D_OP_LVAL", "operator = requires a modifiable lvalue as its left operand");
}

void Expressions::assign(Node* n) {
  Node *&to = n->children[0], *&value = n->children[1];
  if (to->kind == Kind::kAggregation)
    fail(n->place, "D_AGG_FUNC", "@" + to->text + " must be assigned an aggregating function");
  if (value->kind == Kind::kCall && is_aggregating(value->text))
    fail(n->place, "D_CG_EXPR", value->text + "( ) may only be assigned to an aggregation");
  check(value);
  if (n->op == Op::kNone) {
    target(to, conversions_.kept_type(value));
    n->type = to->type;
    // Assigning 0 gives a variable of self-> or an element back, whatever its type.
    const bool is_dynamic = to->is_reference(Where::kVariable) && (to->self || !to->children.empty());
    const bool gives_back = is_dynamic && types_.is_struct(to->type) && value->kind == Kind::kInteger &&
                            types_.is_integer(value->type) && value->value == 0;
    if (!gives_back) conversions_.assignable(value, to->type, n->place);
    return;
  }
  target(to, kInt64);
  n->type = to->type;
  if (types_.is_pointer(to->type) && (n->op == Op::kAdd || n->op == Op::kSub) &&
      types_.is_integer(value->type))
    return;
  if (types_.is_pointer(value->type) && types_.is_integer(to->type))
    fail(n->place, "D_OP_VFPTR",
         "operator may not have a pointer, " + nodes_.described(value) + ", as its right operand");
  if (types_.is_integer(to->type) && types_.is_string(value->type))
    fail(n->place, "D_OP_INCOMPAT",
         "operands have incompatible types: " + nodes_.described(to) + " and " + nodes_.described(value));
  if (!types_.is_integer(to->type) || !types_.is_integer(value->type))
    fail(n->place, n->op > Op::kRem ? "D_OP_INT" : "D_OP_ARITH",
         "operator requires operands of integral type, not " + nodes_.described(to) + " and " +
             nodes_.described(value));
  if ((n->op == Op::kDiv || n->op == Op::kRem) && value->kind == Kind::kInteger && value->value == 0)
    fail(n->place, "D_DIV_ZERO", "expression contains division by zero");
}

/// Returns the keys of an element, in the types of the array. The first use of the array says what
/// those are.
std::vector<Node*> Expressions::array_keys(const Node* n, Symbol& array) {
  const std::string& name = n->children[0]->text;
  std::vector<Node*> given(n->children.begin() + 1, n->children.end());
  for (Node*& key : given) {
    check(key);
    const bool is_text = conversions_.to_text(key);
    if (!is_text && !types_.is_scalar(key->type) && !types_.is_struct(key->type))
      fail(key->place, "D_KEY_TYPE", name + "[ ]: a key cannot be of type " + nodes_.described(key));
  }
  if (!array.used_as_array) {
    std::vector<TypeId> keys;
    for (const Node* key : given) keys.push_back(key->type == kCharPointer ? TypeId{kString} : key->type);
    array.take_keys(keys);
  }
  if (given.size() != array.keys.size())
    fail(n->place, "D_PROTO_LEN",
         name + "[ ] prototype mismatch: " + std::to_string(given.size()) + " keys passed, " +
             std::to_string(array.keys.size()) + " expected");
  for (std::size_t i = 0; i < given.size(); i++) {
    const TypeId want = array.keys[i];
    Node*& key = given[i];
    const bool fits = types_.is_text(want)      ? types_.is_text(key->type)
                      : types_.is_integer(want) ? types_.is_integer(key->type)
                      : types_.is_pointer(want) ? types_.is_pointer(key->type)
                                                : types_.same(want, key->type);
    if (!fits)
      fail(key->place, "D_PROTO_ARG",
           name + "[ ] key #" + std::to_string(i + 1) + " is incompatible with its prototype: \"" +
               types_.name(want) + "\" expected, " + nodes_.described(key) + " given");
    if (types_.is_integer(want)) key = nodes_.cast_to(key, want);
    if (types_.is_text(want) && types_.is_pointer(key->type)) key = nodes_.cast_to(key, kString);
    symbols_.note_key(array, i, key, arguments_);
  }
  return given;
}

void Expressions::element(Node* n, Symbol& array) {
  std::vector<Node*> keys = array_keys(n, array);
  n->self = n->children[0]->scope == VariableScope::kSelf;
  n->kind = Kind::kReference;
  n->where = Where::kVariable;
  n->index = array.index;
  n->type = array.type;
  n->children = std::move(keys);
  n->lvalue = true;
}

void Expressions::inlined_call(Node*& n, const Symbol& symbol) {
  const std::size_t given = n->children.size() - 1;
  if (given != symbol.parameters.size())
    fail(n->place, "D_PROTO_LEN",
         n->children[0]->text + "[ ] prototype mismatch: " + std::to_string(given) + " passed, " +
             std::to_string(symbol.parameters.size()) + " expected");
  std::map<std::string, Node*> bindings;
  for (std::size_t i = 0; i < given; i++) {
    Node* value = nodes_.make(Kind::kCast, n->place);
    value->children = {n->children[i + 1]};
    value->type = symbol.keys[i];
    bindings[symbol.parameters[i]] = value;
  }
  put_in(n, nodes_.clone(symbol.inlined, bindings), symbol.type, "D_OP_INCOMPAT");
}

/// Checks args[N] and targs[N].
void Expressions::probe_argument(Node* n) {
  const bool is_term = n->children[0]->text == "targs";
  if (n->children.size() != 2) fail(n->place, "D_ARGS_IDX", "args[ ] takes one integer constant");
  check(n->children[1]);
  const Node* number = n->children[1];
  if (!types_.is_integer(number->type))
    fail(n->place, "D_PROTO_ARG",
         "args[ ] must be referenced using an integer, not " + nodes_.described(number));
  if (number->kind != Kind::kInteger)
    fail(n->place, "D_ARGS_TYPE", "args[ ] must be referenced using an integer constant");
  n->type = arguments_.type(n->place, number->value, is_term);
  n->index = static_cast<std::uint32_t>(number->value);
  n->kind = Kind::kReference;
  n->where = is_term ? Where::kTerm : Where::kArgument;
  n->children.clear();
}

void Expressions::index(Node*& n) {
  const Node* name = n->children[0];
  if (name->kind == Kind::kName) {
    Symbol* symbol = symbols_.find(name->scope, name->text);
    if (symbol != nullptr && symbol->associative)
      return symbol->kind == Symbol::Kind::kInline ? inlined_call(n, *symbol) : element(n, *symbol);
    if (symbol == nullptr && name->scope == VariableScope::kGlobal &&
        (name->text == "args" || name->text == "targs"))
      return probe_argument(n);
    if (symbol == nullptr && name->text.find('`') == std::string::npos)
      symbol = symbols_.find_later(name->scope, name->text, name->place);
    if (symbol != nullptr && symbol->associative) return element(n, *symbol);
  }
  must_be_known(name, {"args", "targs"});
  check_all(n->children);
  operators_.index(n);
}

void Expressions::member(Node*& n) {
  Node* under = n->children[0];
  if (under->kind == Kind::kName && under->scope == VariableScope::kGlobal) {
    const Symbol* symbol = symbols_.find(under->scope, under->text);
    if (symbol != nullptr && symbol->inlined != nullptr && symbol->inlined->kind == Kind::kXlate)
      under = nodes_.clone(symbol->inlined, {});
  }
  if (under->kind == Kind::kUnary && under->op == Op::kDereference &&
      under->children[0]->kind == Kind::kXlate)
    under = under->children[0];
  if (under->kind == Kind::kXlate) {
    check(under->children[0]);
    TypeId type = kVoid;
    Node* value = translators_.member(n, under, type);
    return put_in(n, value, type, "D_XLATE_INCOMPAT");
  }
  check(n->children[0]);
  operators_.member(n);
}

void Expressions::check_all(std::vector<Node*>& list) {
  for (Node*& n : list) check(n);
}

void Expressions::check(Node*& n) {
  if (n->checked) return;
  Deeper deeper(*this, n->place);
  switch (n->kind) {
    case Kind::kInteger:
    case Kind::kString:
    case Kind::kReference: break;
    case Kind::kName: name(n); break;
    case Kind::kUnary:
      if (n->op >= Op::kPreIncrement) {
        increment(n);
        break;
      }
      if (n->op == Op::kAddress && n->children[0]->kind == Kind::kAggregation)
        fail(n->place, "D_ADDROF_VAR", "cannot take the address of an aggregation");
      if (n->text == "->") must_be_known(n->children[0], {"self", "this"});
      check(n->children[0]);
      operators_.unary(n);
      break;
    case Kind::kBinary:
      for (const Node* child : n->children)
        if (child->kind == Kind::kAggregation)
          fail(n->place, "D_OP_INCOMPAT", "@" + child->text + ": operators do not take aggregations");
      check_all(n->children);
      operators_.binary(n);
      break;
    case Kind::kAssign: assign(n); break;
    case Kind::kConditional:
      check_all(n->children);
      operators_.conditional(n);
      break;
    case Kind::kComma:
      check_all(n->children);
      n->type = n->children[1]->type;
      break;
    case Kind::kCall:
      calls_.begin(n, symbols_.find(VariableScope::kGlobal, n->text) != nullptr);
      if (!is_action(n->text)) check_all(n->children);
      calls_.check(n);
      break;
    case Kind::kIndex: index(n); break;
    case Kind::kMember: member(n); break;
    case Kind::kCast:
      if (n->children[0]->kind == Kind::kXlate)
        fail(n->place, "D_CAST_INVAL", "what xlate makes cannot be cast: only its members can be used");
      check_all(n->children);
      operators_.cast(n);
      break;
    case Kind::kSizeof:
      check_all(n->children);
      operators_.size_of(n);
      break;
    case Kind::kOffsetof: operators_.offset_of(n); break;
    case Kind::kStringof:
      check_all(n->children);
      operators_.string_of(n);
      break;
    case Kind::kXlate:
      check_all(n->children);
      fail(n->place, "D_OP_DYN", "only members of what xlate makes can be used: xlate<T>(x).member");
    case Kind::kAggregation:
      fail(n->place, "D_OP_ACT", "@" + n->text + ": an aggregation may not be used in an expression");
  }
  n->checked = true;
}

}  // namespace vmrun::d::lang
