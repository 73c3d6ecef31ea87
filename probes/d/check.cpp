#include "probes/d/check.hpp"

#include <algorithm>

#include "probes/d/format.hpp"
#include "probes/engine/operations.hpp"

namespace vmrun::d::lang {
namespace {

using Kind = Node::Kind;

constexpr unsigned kDeepestCheck = 400;
constexpr std::size_t kMostProbes = 65536;  // of a clause; the engine takes no more of a script
constexpr std::uint32_t kMostFrameBytes = 64 << 10;
// What keys of associative arrays are: a bit for each kind of argument and for each built-in.
constexpr std::uint64_t kOtherKey = 1ull << 63;
constexpr unsigned kBuiltinKey = 16;

const std::map<std::string, Aggregating, std::less<>> kAggregatings = {
    {"count", Aggregating::kCount},
    {"sum", Aggregating::kSum},
    {"avg", Aggregating::kAvg},
    {"min", Aggregating::kMin},
    {"max", Aggregating::kMax},
    {"stddev", Aggregating::kStddev},
    {"quantize", Aggregating::kQuantize},
    {"lquantize", Aggregating::kLquantize},
    {"llquantize", Aggregating::kLlquantize}};

constexpr std::string_view kActions[] = {"printf",      "printa", "trace",     "print",   "tracemem",
                                         "ustack",      "jstack", "system",    "freopen", "ftruncate",
                                         "clear",       "trunc",  "exit",      "commit",  "normalize",
                                         "denormalize", "setopt", "speculate", "discard"};

struct Refused {
  std::string_view name, why;
};
constexpr Refused kRefusedFunctions[] = {
    {"stack", "there is no kernel whose stack could be shown: ustack() is the stack of the Erlang process"},
    {"copyin",
     "memory of the target cannot be read: copyinstr(argN), args[N] and targs[N] are what there is"},
    {"copyinto",
     "memory of the target cannot be read: copyinstr(argN), args[N] and targs[N] are what there is"},
    {"copyout", "memory of the target cannot be written"},
    {"copyoutstr", "memory of the target cannot be written"},
    {"raise", "the target is not signalled"},
    {"stop", "the target is not stopped"},
    {"panic", "there is no kernel"},
    {"breakpoint", "there is no kernel"},
    {"chill", "the target is not held up"},
    {"pcap", "there are no packets"},
    {"sym", "there are no symbols of a kernel"},
    {"func", "there are no symbols of a kernel"},
    {"mod", "there are no symbols of a kernel"},
    {"usym", "addresses are not shown by name: ustack() and mfa are the names of Erlang"},
    {"ufunc", "addresses are not shown by name: ustack() and mfa are the names of Erlang"},
    {"umod", "addresses are not shown by name: ustack() and mfa are the names of Erlang"},
    {"uaddr", "addresses are not shown by name: ustack() and mfa are the names of Erlang"},
    {"map_get", "keys of maps cannot be given yet"},
    {"progenyof", "there is no kernel data"},
    {"mutex_owned", "there is no kernel data"},
    {"mutex_owner", "there is no kernel data"},
    {"mutex_type_adaptive", "there is no kernel data"},
    {"mutex_type_spin", "there is no kernel data"},
    {"rw_iswriter", "there is no kernel data"},
    {"rw_read_held", "there is no kernel data"},
    {"rw_write_held", "there is no kernel data"},
    {"getmajor", "there is no kernel data"},
    {"getminor", "there is no kernel data"},
    {"ddi_pathname", "there is no kernel data"},
    {"d_path", "there is no kernel data"},
    {"msgsize", "there is no kernel data"},
    {"msgdsize", "there is no kernel data"},
    {"inet_ntop", "only inet_ntoa is there"},
    {"inet_ntoa6", "only inet_ntoa is there"},
    {"json", "it is not there yet"},
};
constexpr std::string_view kKernelVariables[] = {
    "caller", "ucaller",  "stackdepth", "ustackdepth", "ipl",    "curthread",   "uregs",   "root",
    "cwd",    "zonename", "vmregs",     "curpsinfo",   "curcpu", "curlwpsinfo", "curproc", "regs",
    "fds",    "epid",     "taskid",     "projid",      "pgid",   "sid",         "zoneid"};

template <class Rows>
const auto* row_of(const Rows& rows, std::string_view name) {
  for (const auto& row : rows)
    if (row.name == name) return &row;
  return static_cast<decltype(&rows[0])>(nullptr);
}

std::uint64_t cut(std::uint64_t value, std::uint32_t bytes, bool is_signed) {
  if (bytes >= 8 || bytes == 0) return value;
  const unsigned shift = 64 - 8 * bytes;
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift)
                   : value << shift >> shift;
}

std::string ordinal(std::size_t n) { return '#' + std::to_string(n); }

static_assert(kBuiltinKey + kBuiltinCount < 63);

}  // namespace

bool is_action(const std::string& name) { return std::ranges::find(kActions, name) != std::end(kActions); }

/// Trees are bounded in depth, but what inlines put in adds to it.
class Checker::Deeper {
 public:
  Deeper(Checker& checker, Place place) : checker_(checker) {
    if (++checker.depth_ > kDeepestCheck) {
      checker.depth_--;
      fail(place, "D_SYNTAX", "expression is nested too deeply");
    }
  }
  ~Deeper() { checker_.depth_--; }

 private:
  Checker& checker_;
};

// --- Helpers ---

Node* Checker::integer(Place place, std::uint64_t value, TypeId type) {
  Node* n = tree_.make(Kind::kInteger, place);
  n->value = cut(value, types_.bytes(type), types_.is_signed(type));
  n->type = type;
  n->checked = true;
  return n;
}

Node* Checker::cast_to(Node* n, TypeId type) {
  if (n->kind == Kind::kInteger) return integer(n->place, n->value, type);
  if (types_.base_id(n->type) == types_.base_id(type)) return n;
  Node* out = tree_.make(Kind::kCast, n->place);
  out->children = {n};
  out->type = type;
  out->checked = true;
  return out;
}

Node* Checker::clone(const Node* n, const std::map<std::string, Node*>& bindings) {
  if (n->kind == Kind::kName && n->scope == VariableScope::kGlobal) {
    if (const auto bound = bindings.find(n->text); bound != bindings.end()) return clone(bound->second, {});
  }
  Node* out = tree_.make(n->kind, n->place);
  std::vector<Node*> children;
  for (const Node* child : n->children) children.push_back(clone(child, bindings));
  const std::uint32_t depth = out->depth;
  *out = *n;
  out->depth = depth;
  out->children = std::move(children);
  return out;
}

std::string Checker::described(const Node* n) const { return '"' + types_.name(n->type) + '"'; }

std::uint64_t Checker::argument_kinds(std::uint32_t argument) const {
  std::uint64_t kinds = 0;
  if (matched_ == nullptr) return kOtherKey;
  for (const ProbeInfo* probe : matched_->probes) {
    if (probe == nullptr || argument >= probe->arguments.size()) return kOtherKey;
    kinds |= 1ull << static_cast<unsigned>(probe->arguments[argument].kind);
  }
  return kinds;
}

void Checker::note_key(const Symbol& symbol, std::size_t n, const Node* key) {
  if (key_kinds_.size() <= symbol.index) key_kinds_.resize(symbol.index + 1);
  auto& kinds = key_kinds_[symbol.index];
  if (kinds.size() <= n) kinds.resize(n + 1);
  const bool reference = key->kind == Kind::kReference;
  if (reference && key->where == Where::kArgumentText) kinds[n] |= argument_kinds(key->index);
  else if (reference && key->where == Where::kBuiltin && types_.is_string(key->type))
    kinds[n] |= 1ull << (kBuiltinKey + key->index);
  else kinds[n] |= kOtherKey;
}

bool Checker::key_as_it_is(std::uint32_t variable, std::size_t key) const {
  if (variable >= key_kinds_.size() || key >= key_kinds_[variable].size()) return false;
  const std::uint64_t kinds = key_kinds_[variable][key];
  return kinds != 0 && (kinds & (kinds - 1)) == 0 && kinds != kOtherKey;
}

bool Checker::to_text(Node*& n) {
  if (n->kind == Kind::kReference && n->where == Where::kArgument && n->type == kCharPointer) {
    n->where = Where::kArgumentText;
    n->type = kString;
    return true;
  }
  if (types_.is_term(n->type)) {
    Node* call = tree_.make(Kind::kCall, n->place);
    call->children = {n};
    call->text = "term2str";
    call->type = kString;
    call->checked = true;
    n = call;
    return true;
  }
  return types_.is_text(n->type);
}

void Checker::need_text(Node*& n, const char* tag, const std::string& who) {
  if (!to_text(n)) fail(n->place, tag, who + " must be a string, not of type " + described(n));
}

void Checker::need_integer(Node*& n, const char* tag, const std::string& who) {
  if (!types_.is_scalar(n->type)) {
    const char* hint = types_.is_term(n->type) ? " (term2int makes an integer of it)" : "";
    fail(n->place, tag, who + " must be an integer, not of type " + described(n) + hint);
  }
}

TypeId Checker::kept_type(const Node* value) {
  if (types_.is_term(value->type))
    fail(value->place, "D_OP_DYN",
         "a term cannot be kept in a variable: keep its text, term2str(), or term2int()");
  const CType& type = types_.base(value->type);
  if (type.kind == CType::Kind::kVoid || type.kind == CType::Kind::kFunction)
    fail(value->place, "D_OP_VFPTR", "a variable cannot be of type " + described(value));
  if (type.kind == CType::Kind::kStack)
    fail(value->place, "D_OP_DYN", "a stack cannot be kept in a variable");
  return value->kind == Kind::kReference && value->where == Where::kArgument && value->type == kCharPointer
             ? TypeId{kString}
             : value->type;
}

// --- Names ---

Symbol* Checker::find(VariableScope scope, const std::string& name) {
  auto& table = scope == VariableScope::kGlobal ? globals_ : scope == VariableScope::kSelf ? selfs_ : thises_;
  const auto at = table.find(name);
  return at == table.end() ? nullptr : &at->second;
}

Symbol& Checker::create(VariableScope scope, const std::string& name, TypeId type, bool associative,
                        Place place) {
  Symbol symbol{.place = place, .type = type, .associative = associative};
  const std::uint32_t bytes = std::max<std::uint32_t>(types_.bytes(type), 1);
  if (!types_.base(type).complete)
    fail(place, "D_DECL_INCOMPLETE", "variable " + name + " is of an incomplete type");
  if (scope == VariableScope::kThis) {
    symbol.kind = Symbol::Kind::kFrame;
    symbol.index = script_.program.frame_bytes;
    if (bytes > kMostFrameBytes || symbol.index + bytes > kMostFrameBytes)
      fail(place, "D_ID_OFLOW", "too many bytes of this-> variables");
    script_.program.frame_bytes = (symbol.index + bytes + 7) & ~7u;
    return thises_[name] = symbol;
  }
  symbol.index = static_cast<std::uint32_t>(script_.program.variables.size());
  const bool by_reference = types_.is_by_reference(type);
  script_.program.variables.push_back({.name = name,
                                       .scope = scope == VariableScope::kSelf ? Scope::kSelf : Scope::kGlobal,
                                       .associative = associative,
                                       .bytes = by_reference ? bytes : 8,
                                       .by_reference = by_reference,
                                       .is_text = types_.is_string(type)});
  return (scope == VariableScope::kSelf ? selfs_ : globals_)[name] = symbol;
}

void Checker::known_symbol(Node*& n, const Symbol& symbol) {
  switch (symbol.kind) {
    case Symbol::Kind::kEnumerator:
      n = integer(n->place, static_cast<std::uint64_t>(symbol.value), kInt);
      return;
    case Symbol::Kind::kInline: {
      if (symbol.associative)
        fail(n->place, "D_IDENT_BADREF", n->text + " takes parameters: " + n->text + "[ ... ]");
      Node* body = clone(symbol.inlined, {});
      check(body);
      assignable(body, symbol.type, n->place);
      body->lvalue = false;
      n = body;
      return;
    }
    default: break;
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

bool Checker::builtin(Node*& n) {
  const std::string& word = n->text;
  if (word == "NULL") {
    n = integer(n->place, 0, kVoidPointer);
    return true;
  }
  if (word.size() >= 4 && word.size() <= 5 && word.starts_with("arg") &&
      std::all_of(word.begin() + 3, word.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    const int number = std::stoi(word.substr(3));
    if (number > 11) return false;
    n->kind = Kind::kReference;
    n->where = Where::kArgument;
    n->index = static_cast<std::uint32_t>(number);
    n->type = kInt64;
    return true;
  }
  if (word == "args" || word == "targs")
    fail(n->place, "D_IDENT_BADREF", word + " needs the number of an argument: " + word + "[0]");
  for (unsigned number = 0; number < kBuiltinCount; number++) {
    if (kBuiltins[number].name != word) continue;
    n->kind = Kind::kReference;
    n->where = Where::kBuiltin;
    n->index = number;
    switch (kBuiltins[number].type) {
      case ValueType::kInt32: n->type = kInt; break;
      case ValueType::kUint32: n->type = kUint32; break;
      case ValueType::kInt64: n->type = kInt64; break;
      case ValueType::kUint64: n->type = kUint64; break;
      default: n->type = kString; break;
    }
    return true;
  }
  return false;
}

void Checker::name(Node*& n) {
  if (const Symbol* symbol = find(n->scope, n->text)) return known_symbol(n, *symbol);
  if (n->scope != VariableScope::kGlobal)
    fail(n->place, "D_VAR_UNDEF",
         (n->scope == VariableScope::kSelf ? "self->" : "this->") + n->text +
             " has not yet been declared or assigned");
  if (builtin(n)) return;
  if (aggregations_.contains(n->text) || kAggregatings.contains(n->text) || is_action(n->text))
    fail(n->place, "D_IDENT_BADREF", n->text + " is not a variable");
  if (std::ranges::find(kKernelVariables, n->text) != std::end(kKernelVariables) ||
      n->text.find('`') != std::string::npos)
    fail(n->place, "D_IDENT_UNDEF",
         "failed to resolve " + n->text + ": data of the kernel is not within reach");
  fail(n->place, "D_IDENT_UNDEF", "failed to resolve " + n->text + ": unknown variable name");
}

// --- Expressions ---

void Checker::fold(Node*& n) {
  for (const Node* child : n->children)
    if (child->kind != Kind::kInteger || !types_.is_integer(child->type)) return;
  const std::uint64_t a = n->children[0]->value;
  const std::uint64_t b = n->children.size() > 1 ? n->children[1]->value : 0;
  const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
  const TypeId operand = n->children[0]->type;
  const bool is_signed = types_.is_signed(operand);
  std::uint64_t out = 0;
  switch (n->op) {
    case Op::kAdd: out = a + b; break;
    case Op::kSub: out = a - b; break;
    case Op::kMul: out = a * b; break;
    case Op::kDiv:
    case Op::kRem:
      if (is_signed && sb == -1) out = n->op == Op::kDiv ? 0 - a : 0;
      else if (is_signed) out = static_cast<std::uint64_t>(n->op == Op::kDiv ? sa / sb : sa % sb);
      else out = n->op == Op::kDiv ? a / b : a % b;
      break;
    case Op::kAnd: out = a & b; break;
    case Op::kOr: out = a | b; break;
    case Op::kXor: out = a ^ b; break;
    case Op::kShl: out = a << (b & 63); break;
    case Op::kShr: out = is_signed ? static_cast<std::uint64_t>(sa >> (b & 63)) : a >> (b & 63); break;
    case Op::kEq: out = a == b; break;
    case Op::kNe: out = a != b; break;
    case Op::kLt: out = is_signed ? sa < sb : a < b; break;
    case Op::kLe: out = is_signed ? sa <= sb : a <= b; break;
    case Op::kGt: out = is_signed ? sa > sb : a > b; break;
    case Op::kGe: out = is_signed ? sa >= sb : a >= b; break;
    case Op::kLogicalAnd: out = a != 0 && b != 0; break;
    case Op::kLogicalOr: out = a != 0 || b != 0; break;
    case Op::kLogicalXor: out = (a != 0) != (b != 0); break;
    case Op::kNegate: out = 0 - a; break;
    case Op::kPlus: out = a; break;
    case Op::kNot: out = ~a; break;
    case Op::kLogicalNot: out = a == 0; break;
    default: return;
  }
  n = integer(n->place, out, n->type);
}

void Checker::check_scalar(Node*& n, const char* what) {
  check(n);
  if (!types_.is_scalar(n->type))
    fail(n->place, "D_OP_SCALAR",
         std::string(what) + " requires an operand of scalar type, not " + described(n));
}

void Checker::increment(Node*& n) {
  target(n->children[0], kInt64);
  const Node* operand = n->children[0];
  if (!types_.is_scalar(operand->type))
    fail(n->place, "D_OP_SCALAR", "++ and -- require an operand of scalar type");
  n->type = operand->type;
}

void Checker::unary(Node*& n) {
  if (n->op >= Op::kPreIncrement) return increment(n);
  Node*& operand = n->children[0];
  if (n->op == Op::kAddress) {
    check(operand);
    if (operand->bits != 0) fail(n->place, "D_ADDROF_BITFIELD", "cannot take the address of a bit-field");
    if (!operand->lvalue) fail(n->place, "D_ADDROF_LVAL", "unary & operator requires an lvalue");
    const Node* root = operand;
    while ((root->kind == Kind::kMember || root->kind == Kind::kIndex) &&
           types_.is_by_reference(root->children[0]->type))
      root = root->children[0];
    if (root->kind == Kind::kReference && (root->self || !root->children.empty()))
      fail(n->place, "D_ADDROF_VAR", "cannot take the address of a dynamic variable");
    if (root->kind == Kind::kReference && root->where == Where::kVariable) {
      if (addressed_.size() <= root->index) addressed_.resize(root->index + 1);
      addressed_[root->index] = true;
    }
    n->type = types_.pointer_to(operand->type);
    return;
  }
  check(operand);
  switch (n->op) {
    case Op::kDereference: {
      const bool arrow = n->text == "->";
      if (!types_.is_pointer(operand->type) && !(types_.is_array(operand->type) && !arrow))
        fail(n->place, arrow ? "D_OP_PTR" : "D_DEREF_NONPTR",
             arrow ? "-> requires a pointer, not an operand of type " + described(operand)
                   : "cannot dereference a non-pointer type: " + described(operand));
      n->type = types_.base(operand->type).element;
      if (types_.kind(n->type) == CType::Kind::kVoid)
        fail(n->place, "D_DEREF_VOID", "cannot dereference a pointer to void");
      if (types_.kind(n->type) == CType::Kind::kFunction)
        fail(n->place, "D_DEREF_FUNC", "cannot dereference a pointer to a function");
      n->lvalue = true;
      return;
    }
    case Op::kLogicalNot:
      if (!types_.is_scalar(operand->type))
        fail(n->place, "D_OP_SCALAR", "! requires an operand of scalar type");
      n->type = kInt;
      break;
    default:
      if (!types_.is_integer(operand->type))
        fail(n->place, n->op == Op::kNot ? "D_OP_INT" : "D_OP_ARITH",
             "operator requires an operand of integral type, not " + described(operand));
      n->type = types_.promoted(operand->type);
      operand = cast_to(operand, n->type);
      break;
  }
  fold(n);
}

void Checker::comparison(Node*& n) {
  Node *&a = n->children[0], *&b = n->children[1];
  n->type = kInt;
  const auto textual = [&](const Node* x) { return types_.is_text(x->type) || types_.is_term(x->type); };
  if (textual(a) && textual(b)) {
    to_text(a);
    to_text(b);
    return;
  }
  const auto word = [&](const Node* x) {
    return types_.is_scalar(x->type) || types_.is_text(x->type) || types_.is_array(x->type);
  };
  const bool is_pointers = !types_.is_integer(a->type) || !types_.is_integer(b->type);
  if (types_.is_term(a->type) || types_.is_term(b->type))
    fail(n->place, "D_OP_INCOMPAT", "a term is compared by term2int() or term2str()");
  if (!word(a) || !word(b) || (types_.is_string(a->type) && b->kind != Kind::kInteger) ||
      (types_.is_string(b->type) && a->kind != Kind::kInteger))
    fail(n->place, "D_OP_INCOMPAT",
         "operands have incompatible types: " + described(a) + " and " + described(b));
  if (is_pointers) return;
  const TypeId type = types_.common(a->type, b->type);
  a = cast_to(a, type);
  b = cast_to(b, type);
  fold(n);
}

void Checker::binary(Node*& n) {
  check(n->children[0]);
  check(n->children[1]);
  Node *&a = n->children[0], *&b = n->children[1];
  switch (n->op) {
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe: return comparison(n);
    case Op::kLogicalAnd:
    case Op::kLogicalOr:
    case Op::kLogicalXor:
      if (!types_.is_scalar(a->type) || !types_.is_scalar(b->type))
        fail(n->place, "D_OP_SCALAR",
             "logical operators require operands of scalar type, not " + described(a) + " and " +
                 described(b));
      n->type = kInt;
      return fold(n);
    default: break;
  }
  const auto pointer = [&](const Node* x) {
    return types_.is_pointer(x->type) || (types_.is_array(x->type));
  };
  if ((n->op == Op::kAdd || n->op == Op::kSub) && (pointer(a) || pointer(b))) {
    if (n->op == Op::kSub && pointer(a) && pointer(b)) {
      n->type = kLong;
    } else if (pointer(a) && types_.is_integer(b->type)) {
      n->type = types_.is_array(a->type) ? types_.pointer_to(types_.base(a->type).element) : a->type;
    } else if (n->op == Op::kAdd && types_.is_integer(a->type)) {
      std::swap(a, b);
      n->type = types_.is_array(a->type) ? types_.pointer_to(types_.base(a->type).element) : a->type;
    } else {
      fail(n->place, "D_OP_INCOMPAT",
           "operands have incompatible types: " + described(a) + " and " + described(b));
    }
    return;
  }
  const bool bitwise =
      n->op != Op::kAdd && n->op != Op::kSub && n->op != Op::kMul && n->op != Op::kDiv && n->op != Op::kRem;
  if (!types_.is_integer(a->type) || !types_.is_integer(b->type)) {
    const bool is_term = types_.is_term(a->type) || types_.is_term(b->type);
    fail(n->place, bitwise ? "D_OP_INT" : "D_OP_ARITH",
         "operator requires operands of integral type, not " + described(a) + " and " + described(b) +
             (is_term ? " (term2int makes an integer of a term)" : ""));
  }
  if (n->op == Op::kShl || n->op == Op::kShr) {
    n->type = types_.promoted(a->type);
    a = cast_to(a, n->type);
  } else {
    n->type = types_.common(a->type, b->type);
    a = cast_to(a, n->type);
    b = cast_to(b, n->type);
  }
  if ((n->op == Op::kDiv || n->op == Op::kRem) && b->kind == Kind::kInteger && b->value == 0)
    fail(n->place, "D_DIV_ZERO", "expression contains division by zero");
  fold(n);
}

void Checker::assignable(Node*& value, TypeId to, Place place) {
  if (types_.is_term(value->type)) kept_type(value);  // fails
  if (types_.is_integer(to) && types_.is_integer(value->type)) {
    value = cast_to(value, to);
    return;
  }
  const bool is_null = value->kind == Kind::kInteger && value->value == 0;
  if (types_.is_string(to)) {
    if (is_null || to_text(value)) return;
  } else if (types_.is_pointer(to)) {
    if (is_null || types_.is_pointer(value->type) || types_.is_array(value->type) ||
        (types_.is_string(value->type) && types_.is_text(to))) {
      if (value->kind != Kind::kString) value = is_null ? integer(value->place, 0, to) : value;
      return;
    }
  } else if (types_.same(to, value->type) && (types_.is_struct(to) || types_.is_array(to))) {
    return;
  }
  fail(place, "D_OP_INCOMPAT",
       "operands have incompatible types: \"" + types_.name(to) + "\" = " + described(value));
}

/// What is assigned to. An unknown variable is made, of the type of the value.
void Checker::target(Node*& n, TypeId value) {
  if (n->checked) return;
  if (n->kind == Kind::kName && find(n->scope, n->text) == nullptr) {
    const Node before = *n;
    if (n->scope == VariableScope::kGlobal) {
      if (builtin(n)) fail(before.place, "D_OP_WRITE", before.text + " is read-only: it cannot be assigned");
      if (n->text.find('`') != std::string::npos) name(n);  // fails
    }
    create(n->scope, n->text, value, false, n->place);
  }
  if (n->kind == Kind::kIndex && n->children[0]->kind == Kind::kName) {
    Node* array = n->children[0];
    Symbol* symbol = find(array->scope, array->text);
    if (symbol == nullptr && array->text != "args" && array->text != "targs") {
      Node* probe = clone(array, {});
      if (array->scope == VariableScope::kGlobal && builtin(probe))
        fail(n->place, "D_ARR_BADREF", array->text + " is no array");
      if (array->scope == VariableScope::kThis)
        fail(n->place, "D_ARR_LOCAL",
             "this->" + array->text + ": an associative array cannot be local to a clause");
      symbol = &create(array->scope, array->text, value, true, n->place);
    }
  }
  check(n);
  if (n->kind == Kind::kReference &&
      (n->where == Where::kBuiltin || n->where == Where::kArgument || n->where == Where::kTerm))
    fail(n->place, "D_OP_WRITE", "what a probe brings is read-only: it cannot be assigned");
  if (!n->lvalue) fail(n->place, "D_OP_LVAL", "operator = requires a modifiable lvalue as its left operand");
}

void Checker::assign(Node*& n) {
  Node *&to = n->children[0], *&value = n->children[1];
  if (to->kind == Kind::kAggregation)
    fail(n->place, "D_AGG_FUNC", "@" + to->text + " must be assigned an aggregating function");
  if (value->kind == Kind::kCall && kAggregatings.contains(value->text))
    fail(n->place, "D_CG_EXPR", value->text + "( ) may only be assigned to an aggregation");
  check(value);
  if (n->op == Op::kNone) {
    target(to, kept_type(value));
    n->type = to->type;
    assignable(value, to->type, n->place);
    return;
  }
  target(to, kInt64);
  n->type = to->type;
  if (types_.is_pointer(to->type) && (n->op == Op::kAdd || n->op == Op::kSub) &&
      types_.is_integer(value->type))
    return;
  if (!types_.is_integer(to->type) || !types_.is_integer(value->type))
    fail(n->place, n->op > Op::kRem ? "D_OP_INT" : "D_OP_ARITH",
         "operator requires operands of integral type, not " + described(to) + " and " + described(value));
  if ((n->op == Op::kDiv || n->op == Op::kRem) && value->kind == Kind::kInteger && value->value == 0)
    fail(n->place, "D_DIV_ZERO", "expression contains division by zero");
}

void Checker::conditional(Node*& n) {
  check_scalar(n->children[0], "?:");
  check(n->children[1]);
  check(n->children[2]);
  Node *&a = n->children[1], *&b = n->children[2];
  const auto is_null = [](const Node* x) { return x->kind == Kind::kInteger && x->value == 0; };
  if (types_.is_integer(a->type) && types_.is_integer(b->type)) {
    n->type = types_.common(a->type, b->type);
    a = cast_to(a, n->type);
    b = cast_to(b, n->type);
  } else if ((types_.is_text(a->type) || types_.is_term(a->type) || is_null(a)) &&
             (types_.is_text(b->type) || types_.is_term(b->type) || is_null(b))) {
    to_text(a);
    to_text(b);
    n->type = kString;
  } else if (types_.is_pointer(a->type) && (types_.is_pointer(b->type) || is_null(b))) {
    n->type = a->type;
  } else if (types_.is_pointer(b->type) && is_null(a)) {
    n->type = b->type;
  } else if (types_.same(a->type, b->type) && types_.is_by_reference(a->type)) {
    n->type = a->type;
  } else {
    fail(n->place, "D_OP_INCOMPAT",
         "operator ?: operands must have compatible types, not " + described(a) + " and " + described(b));
  }
  if (n->children[0]->kind == Kind::kInteger) n = n->children[0]->value != 0 ? a : b;
}

void Checker::cast(Node*& n) {
  check(n->children[0]);
  Node*& operand = n->children[0];
  const TypeId to = n->type;
  if (types_.kind(to) == CType::Kind::kVoid && types_.bytes(to) == 0) return;
  if (types_.is_string(to)) {
    if (operand->kind == Kind::kInteger && operand->value == 0) return;
    need_text(operand, "D_CAST_INVAL", "what is cast to string");
    operand->type = kString;
    n = operand;
    return;
  }
  const bool from_address = types_.is_by_reference(operand->type) && !types_.is_struct(operand->type);
  if (!types_.is_scalar(to) || !(types_.is_scalar(operand->type) || from_address))
    fail(n->place, "D_CAST_INVAL",
         "invalid cast expression: " + described(operand) + " to \"" + types_.name(to) + '"');
  if (operand->kind == Kind::kInteger) n = integer(n->place, operand->value, to);
}

void Checker::size_of(Node*& n) {
  TypeId type = n->type;
  if (!n->is_typed) {
    check(n->children[0]);
    if (n->children[0]->bits != 0) fail(n->place, "D_SIZEOF_BITFIELD", "cannot apply sizeof to a bit-field");
    type = n->children[0]->type;
  }
  const CType& t = types_.base(type);
  if (t.bytes == 0 || !t.complete || t.kind == CType::Kind::kFunction || t.kind == CType::Kind::kTerm)
    fail(n->place, "D_SIZEOF_TYPE", "cannot apply sizeof to type \"" + types_.name(type) + '"');
  n = integer(n->place, t.bytes, kUnsignedLong);
}

void Checker::probe_argument(Node*& n) {
  const bool typed = n->children[0]->text == "targs";
  if (n->children.size() != 2) fail(n->place, "D_ARGS_IDX", "args[ ] takes one integer constant");
  check(n->children[1]);
  const Node* number = n->children[1];
  if (number->kind != Kind::kInteger || !types_.is_integer(number->type))
    fail(n->place, "D_ARGS_TYPE", "args[ ] must be referenced using an integer constant");
  if (matched_ == nullptr) fail(n->place, "D_ARGS_NONE", "args[ ] may not be referenced outside of a clause");
  const std::uint64_t wanted = number->value;
  if (wanted > 11)
    fail(n->place, "D_ARGS_IDX", "index " + std::to_string(wanted) + " is out of range for args[ ]");
  const std::uint32_t index = static_cast<std::uint32_t>(wanted);
  TypeId type = typed ? kTermType : kVoid;
  for (const ProbeInfo* probe : matched_->probes) {
    if (probe == nullptr)
      fail(n->place, "D_ARGS_NONE", "args[ ] may not be referenced: " + clause_text_ + " has none");
    if (index >= probe->arguments.size())
      fail(n->place, "D_ARGS_IDX",
           "index " + std::to_string(index) + " is out of range for " + probe->name + " args[ ]");
    TypeId one;
    switch (probe->arguments[index].kind) {
      case ArgumentKind::kInt: one = kInt; break;
      case ArgumentKind::kUint32: one = kUint32; break;
      case ArgumentKind::kInt64: one = kInt64; break;
      default: one = kCharPointer; break;
    }
    if (typed) continue;
    if (type != kVoid && type != one)
      fail(
          n->place, "D_ARGS_MULTI",
          "args[ ] may not be referenced because " + clause_text_ + " matches probes whose arguments differ");
    type = one;
  }
  if (type == kVoid) type = kCharPointer;  // nothing matched (-Z): it never runs
  n->children.clear();
  n->kind = Kind::kReference;
  n->where = typed ? Where::kTerm : Where::kArgument;
  n->index = index;
  n->type = type;
}

void Checker::element(Node*& n, Symbol& symbol, TypeId) {
  const std::string name = n->children[0]->text;
  const bool self = n->children[0]->scope == VariableScope::kSelf;
  std::vector<Node*> given(n->children.begin() + 1, n->children.end());
  for (Node*& key : given) {
    check(key);
    const bool is_text = to_text(key);
    if (!is_text && !types_.is_scalar(key->type) && !types_.is_struct(key->type))
      fail(key->place, "D_KEY_TYPE", name + "[ ]: a key cannot be of type " + described(key));
  }
  if (!symbol.used_as_array) {
    std::vector<TypeId> keys;
    for (const Node* key : given) keys.push_back(key->type == kCharPointer ? TypeId{kString} : key->type);
    take_keys(symbol, keys);
  }
  if (given.size() != symbol.keys.size())
    fail(n->place, "D_PROTO_LEN",
         name + "[ ] prototype mismatch: " + std::to_string(given.size()) + " keys passed, " +
             std::to_string(symbol.keys.size()) + " expected");
  for (std::size_t i = 0; i < given.size(); i++) {
    const TypeId want = symbol.keys[i];
    Node*& key = given[i];
    const bool fits = types_.is_text(want)      ? types_.is_text(key->type)
                      : types_.is_integer(want) ? types_.is_integer(key->type)
                      : types_.is_pointer(want) ? types_.is_pointer(key->type)
                                                : types_.same(want, key->type);
    if (!fits)
      fail(key->place, "D_PROTO_ARG",
           name + "[ ] key " + ordinal(i + 1) + " is incompatible with its prototype: \"" +
               types_.name(want) + "\" expected, " + described(key) + " given");
    if (types_.is_integer(want)) key = cast_to(key, want);
    note_key(symbol, i, key);
  }
  n->kind = Kind::kReference;
  n->where = Where::kVariable;
  n->index = symbol.index;
  n->self = self;
  n->type = symbol.type;
  n->children = std::move(given);
  n->lvalue = true;
}

void Checker::index(Node*& n) {
  Node* base = n->children[0];
  if (base->kind == Kind::kName) {
    Symbol* symbol = find(base->scope, base->text);
    if (symbol != nullptr && symbol->kind == Symbol::Kind::kInline && symbol->associative) {
      if (n->children.size() - 1 != symbol->parameters.size())
        fail(n->place, "D_PROTO_LEN",
             base->text + "[ ] prototype mismatch: " + std::to_string(n->children.size() - 1) + " passed, " +
                 std::to_string(symbol->parameters.size()) + " expected");
      std::map<std::string, Node*> bindings;
      for (std::size_t i = 0; i < symbol->parameters.size(); i++) {
        Node* value = tree_.make(Kind::kCast, n->place);
        value->children = {n->children[i + 1]};
        value->type = symbol->keys[i];
        bindings[symbol->parameters[i]] = value;
      }
      const TypeId type = symbol->type;
      Node* body = clone(symbol->inlined, bindings);
      check(body);
      assignable(body, type, n->place);
      body->lvalue = false;
      n = body;
      return;
    }
    if (symbol != nullptr && symbol->associative) return element(n, *symbol, 0);
    if (symbol == nullptr && base->scope == VariableScope::kGlobal &&
        (base->text == "args" || base->text == "targs"))
      return probe_argument(n);
  }
  check(n->children[0]);
  base = n->children[0];
  const bool is_text = types_.is_string(base->type);
  if (!types_.is_array(base->type) && !types_.is_pointer(base->type) && !is_text)
    fail(n->place, "D_ARR_BADREF", "[ ] requires an array or pointer, not " + described(base));
  if (n->children.size() != 2) fail(n->place, "D_ARR_BADREF", "an array of C has one index");
  check(n->children[1]);
  if (!types_.is_integer(n->children[1]->type))
    fail(n->place, "D_ARR_BADREF", "the index of an array must be an integer");
  n->type = is_text ? TypeId{kChar} : types_.base(base->type).element;
  if (types_.kind(n->type) == CType::Kind::kVoid)
    fail(n->place, "D_DEREF_VOID", "cannot dereference a pointer to void");
  if (types_.is_array(base->type) && n->children[1]->kind == Kind::kInteger &&
      n->children[1]->value >= types_.base(base->type).count)
    fail(n->place, "D_ARR_BOUNDS",
         "index outside array bounds: " + std::to_string(static_cast<std::int64_t>(n->children[1]->value)));
  n->lvalue = !is_text;
}

void Checker::translated(Node*& n, Node* xlate) {
  check(xlate->children[0]);
  TypeId to = xlate->type;
  if (types_.is_pointer(to)) to = types_.base(to).element;
  if (!types_.is_struct(to))
    fail(n->place, "D_XLATE_SOU", "xlate requires a struct or union type, or a pointer to one");
  const Node* from = xlate->children[0];
  for (const Translator& t : translators_) {
    if (!types_.same(t.to, to)) continue;
    if (!types_.same(t.from, from->type) && !(types_.is_integer(t.from) && types_.is_integer(from->type)) &&
        !(types_.is_text(t.from) && types_.is_text(from->type)))
      continue;
    for (const Member& member : t.members) {
      if (member.name != n->text) continue;
      Node* value = clone(member.value, {{t.variable, xlate->children[0]}});
      check(value);
      FoundMember found;
      find_member(types_, to, member.name, found);
      assignable(value, found.type, n->place);
      value->lvalue = false;
      n = value;
      return;
    }
    fail(n->place, "D_XLATE_NOCONV", "translator does not define conversion for member: " + n->text);
  }
  fail(n->place, "D_XLATE_NONE",
       "cannot translate from " + described(from) + " to \"" + types_.name(to) + '"');
}

void Checker::member(Node*& n) {
  Node* under = n->children[0];
  if (under->kind == Kind::kUnary && under->op == Op::kDereference &&
      under->children[0]->kind == Kind::kXlate)
    return translated(n, under->children[0]);
  if (under->kind == Kind::kXlate) return translated(n, under);
  check(n->children[0]);
  under = n->children[0];
  if (!types_.is_struct(under->type))
    fail(n->place, "D_OP_SOU", "operator . requires a struct or union, not " + described(under));
  if (!types_.base(under->type).complete)
    fail(n->place, "D_OP_INCOMPLETE", "an incomplete type has no members: " + described(under));
  FoundMember found;
  if (!find_member(types_, under->type, n->text, found))
    fail(n->place, "D_TYPE_MEMBER", n->text + " is not a member of " + types_.name(under->type));
  n->type = found.type;
  n->offset = found.offset;
  n->bit_offset = found.bit_offset;
  n->bits = found.bits;
  n->lvalue = true;
}

// --- Calls in expressions ---

void Checker::arguments(const Node* call, std::size_t least, std::size_t most, const char* tag) {
  const std::size_t given = call->children.size();
  if (given >= least && given <= most) return;
  fail(call->place, tag,
       call->text + "( ) prototype mismatch: " + std::to_string(given) + " args passed, " +
           (least == most   ? ""
            : given < least ? "at least "
                            : "at most ") +
           std::to_string(given < least ? least : most) + " expected");
}

void Checker::copyinstr(Node*& n) {
  arguments(n, 1, 2);
  check(n->children[0]);
  Node* source = n->children[0];
  while (source->kind == Kind::kCast && types_.bytes(source->type) == 8) source = source->children[0];
  Node* text;
  if (source->kind == Kind::kReference &&
      (source->where == Where::kArgument || source->where == Where::kArgumentText)) {
    text = clone(source, {});
    text->where = Where::kArgumentText;
    text->type = kString;
  } else if (types_.is_text(source->type) || types_.is_term(source->type)) {
    to_text(n->children[0]);
    text = n->children[0];
  } else {
    fail(n->place, "D_PROTO_ARG",
         "copyinstr( ) takes an argument of the probe, argN or args[N], as it is: memory of the target "
         "cannot be read");
  }
  if (n->children.size() == 1) {
    n = text;
    return;
  }
  check(n->children[1]);
  need_integer(n->children[1], "D_PROTO_ARG", "copyinstr( ) argument #2");
  Node* length = n->children[1];
  n->text = "substr";
  n->index = static_cast<std::uint32_t>(Subroutine::kSubstr);
  n->children = {text, integer(n->place, 0, kInt), length};
  n->type = kString;
}

void Checker::term_call(Node*& n, unsigned subroutine) {
  const SubroutineInfo& info = kSubroutines[subroutine];
  arguments(n, info.parameter_count, info.parameter_count);
  for (Node*& argument : n->children) check(argument);
  if (!types_.is_term(n->children[0]->type))
    fail(n->place, "D_PROTO_ARG",
         n->text + "( ) argument #1 must be a term, as targs[0], not " + described(n->children[0]));
  if (n->children.size() > 1) need_integer(n->children[1], "D_PROTO_ARG", n->text + "( ) argument #2");
  n->index = subroutine;
  n->type = info.result == ParameterType::kTerm                          ? TypeId{kTermType}
            : subroutine == static_cast<unsigned>(Subroutine::kTerm2int) ? TypeId{kInt64}
                                                                         : TypeId{kInt};
}

void Checker::call_subroutine(Node*& n) {
  unsigned number = 0;
  while (number < kSubroutineCount && kSubroutines[number].name != n->text) number++;
  if (number == kSubroutineCount) {
    if (find(VariableScope::kGlobal, n->text) != nullptr)
      fail(n->place, "D_FUNC_IDKIND", n->text + " is not a function");
    fail(n->place, "D_FUNC_UNDEF", "undefined function name: " + n->text);
  }
  const SubroutineInfo& info = kSubroutines[number];
  if (info.of_term) return term_call(n, number);
  const auto which = static_cast<Subroutine>(number);
  const bool optional = which == Subroutine::kSubstr || which == Subroutine::kIndex ||
                        which == Subroutine::kRindex || which == Subroutine::kStrtoll ||
                        which == Subroutine::kLltostr;
  arguments(n, info.parameter_count - (optional ? 1 : 0), info.parameter_count);
  for (std::size_t i = 0; i < n->children.size(); i++) {
    Node*& argument = n->children[i];
    check(argument);
    const std::string who = n->text + "( ) argument " + ordinal(i + 1);
    if (info.parameters[i] == ParameterType::kString) {
      // strtok(NULL, ...) goes on.
      if (which == Subroutine::kStrtok && i == 0 && argument->kind == Kind::kInteger && argument->value == 0)
        continue;
      need_text(argument, "D_PROTO_ARG", who);
    } else if (info.parameters[i] == ParameterType::kBytes) {
      if (!types_.is_pointer(argument->type) && !types_.is_array(argument->type))
        fail(argument->place, "D_PROTO_ARG", who + " must be a pointer, not of type " + described(argument));
    } else {
      need_integer(argument, "D_PROTO_ARG", who);
    }
  }
  if (n->children.size() < info.parameter_count) {
    const bool base = which == Subroutine::kStrtoll || which == Subroutine::kLltostr;
    n->children.push_back(integer(n->place, base ? 10 : which == Subroutine::kIndex ? 0 : INT64_MAX, kInt64));
  }
  n->index = number;
  switch (which) {
    case Subroutine::kStrlen: n->type = kUnsignedLong; break;
    case Subroutine::kHtons:
    case Subroutine::kNtohs: n->type = kUnsignedShort; break;
    case Subroutine::kHtonl:
    case Subroutine::kNtohl: n->type = kUint32; break;
    case Subroutine::kHtonll:
    case Subroutine::kNtohll: n->type = kUint64; break;
    case Subroutine::kStrtoll: n->type = kInt64; break;
    default: n->type = info.result == ParameterType::kString ? kString : kInt; break;
  }
}

void Checker::call(Node*& n) {
  const std::string& name = n->text;
  if (const Refused* refused = row_of(kRefusedFunctions, name))
    fail(n->place, "D_FUNC_UNDEF", name + "( ) is not available: " + std::string(refused->why));
  if (is_action(name))
    fail(n->place, "D_CG_EXPR",
         name + "( ) may not be called from a D expression (D program context required)");
  if (kAggregatings.contains(name))
    fail(n->place, "D_CG_EXPR", name + "( ) may only be assigned to an aggregation");
  if (name == "copyinstr") return copyinstr(n);
  if (name == "speculation") {
    arguments(n, 0, 0);
    n->type = kInt;
  } else if (name == "alloca") {
    arguments(n, 1, 1);
    check(n->children[0]);
    need_integer(n->children[0], "D_PROTO_ARG", "alloca( ) argument #1");
    n->type = kVoidPointer;
  } else if (name == "bcopy") {
    arguments(n, 3, 3);
    for (Node*& argument : n->children) check(argument);
    for (int i = 0; i < 2; i++) {
      const TypeId type = n->children[static_cast<std::size_t>(i)]->type;
      if (!types_.is_pointer(type) && !types_.is_by_reference(type))
        fail(n->place, "D_PROTO_ARG",
             "bcopy( ) argument " + ordinal(static_cast<std::size_t>(i) + 1) + " must be a pointer");
    }
    if (n->children[2]->kind != Kind::kInteger || n->children[2]->value == 0 || n->children[2]->value > 65536)
      fail(n->place, "D_PROTO_ARG", "bcopy( ) argument #3 must be a positive constant here");
    n->type = kVoid;
  } else if (name == "term2str") {
    arguments(n, 1, 1);
    check(n->children[0]);
    if (!types_.is_term(n->children[0]->type))
      fail(n->place, "D_PROTO_ARG", "term2str( ) argument #1 must be a term, as targs[0]");
    n->type = kString;
  } else {
    call_subroutine(n);
  }
}

void Checker::check(Node*& n) {
  if (n->checked) return;
  Deeper deeper(*this, n->place);
  switch (n->kind) {
    case Kind::kInteger:
    case Kind::kString:
    case Kind::kReference: break;
    case Kind::kName: name(n); break;
    case Kind::kUnary: unary(n); break;
    case Kind::kBinary: binary(n); break;
    case Kind::kAssign: assign(n); break;
    case Kind::kConditional: conditional(n); break;
    case Kind::kComma:
      check(n->children[0]);
      check(n->children[1]);
      n->type = n->children[1]->type;
      break;
    case Kind::kCall: call(n); break;
    case Kind::kIndex: index(n); break;
    case Kind::kMember: member(n); break;
    case Kind::kCast: cast(n); break;
    case Kind::kSizeof: size_of(n); break;
    case Kind::kOffsetof: {
      if (!types_.is_struct(n->type) || !types_.base(n->type).complete)
        fail(n->place, "D_OFFSETOF_TYPE",
             "offsetof requires a complete struct or union type, not \"" + types_.name(n->type) + '"');
      FoundMember found;
      if (!find_member(types_, n->type, n->text, found))
        fail(n->place, "D_TYPE_MEMBER", n->text + " is not a member of " + types_.name(n->type));
      if (found.bits != 0)
        fail(n->place, "D_OFFSETOF_BITFIELD", "cannot take the offset of a bit-field: " + n->text);
      n = integer(n->place, found.offset, kUnsignedLong);
      break;
    }
    case Kind::kStringof:
      check(n->children[0]);
      if (n->children[0]->kind == Kind::kReference && n->children[0]->where == Where::kArgument)
        n->children[0]->type = kCharPointer;
      need_text(n->children[0], "D_STRINGOF_TYPE", "the operand of stringof");
      n = n->children[0];
      n->lvalue = false;
      if (n->kind != Kind::kReference) n->type = kString;
      break;
    case Kind::kXlate:
      check(n->children[0]);
      fail(n->place, "D_OP_DYN", "only members of what xlate makes can be used: xlate<T>(x).member");
    case Kind::kAggregation:
      fail(n->place, "D_OP_ACT", "@" + n->text + ": an aggregation may not be used in an expression");
  }
  n->checked = true;
}

// --- Declarations ---

std::int64_t Checker::constant(Node* expression, const char* tag) {
  check(expression);
  if (expression->kind != Kind::kInteger || !types_.is_integer(expression->type))
    fail(expression->place, tag, "a constant integral expression is needed here");
  return static_cast<std::int64_t>(expression->value);
}

void Checker::enumerator(Place place, const std::string& name, std::int64_t value) {
  if (find(VariableScope::kGlobal, name) != nullptr)
    fail(place, "D_DECL_IDRED", "identifier redeclared: " + name);
  globals_[name] = {.kind = Symbol::Kind::kEnumerator, .place = place, .type = kInt, .value = value};
}

void Checker::variable(const Declared& d) {
  const CType& type = types_.base(d.type);
  if (type.kind == CType::Kind::kVoid && type.bytes == 0)
    fail(d.place, "D_DECL_VOIDOBJ", "cannot declare a void object: " + d.name);
  if (!type.complete) fail(d.place, "D_DECL_INCOMPLETE", "incomplete type for: " + d.name);
  if (type.kind == CType::Kind::kVoid)
    fail(d.place, "D_DECL_DYNOBJ", "floating-point variables are not available: " + d.name);
  if (d.associative && d.scope == VariableScope::kThis)
    fail(d.place, "D_DECL_LOCASSC", "cannot declare a clause-local associative array: " + d.name);
  if (d.name.starts_with('`'))
    fail(d.place, "D_DECL_SCOPE", "scoping operator may not be used in a declaration");
  for (const TypeId key : d.keys)
    if (!types_.is_scalar(key) && !types_.is_text(key) && !types_.is_struct(key))
      fail(d.place, "D_DECL_PROTO_TYPE",
           "type \"" + types_.name(key) + "\" may not be used as a key of " + d.name);
  if (const Symbol* known = find(d.scope, d.name)) {
    if (known->kind == Symbol::Kind::kEnumerator || known->kind == Symbol::Kind::kInline ||
        !types_.same(known->type, d.type) || known->associative != d.associative ||
        known->keys.size() != d.keys.size())
      fail(d.place, "D_DECL_IDRED", "identifier redeclared: " + d.name);
    return;
  }
  if (d.scope == VariableScope::kGlobal) {
    Node* n = tree_.make(Kind::kName, d.place);
    n->text = d.name;
    if (d.name == "args" || d.name == "targs" || builtin(n))
      fail(d.place, "D_DECL_IDRED", "identifier redeclared: " + d.name);
  }
  Symbol& symbol = create(d.scope, d.name, d.type, d.associative, d.place);
  if (d.associative) take_keys(symbol, d.keys);
}

void Checker::inlined(const Declared& d, const std::vector<std::string>& parameters, Node* value) {
  if (find(VariableScope::kGlobal, d.name) != nullptr)
    fail(d.place, "D_DECL_IDRED", "identifier redeclared: " + d.name);
  if (types_.kind(d.type) == CType::Kind::kVoid)
    fail(d.place, "D_DECL_VOIDOBJ", "an inline cannot be of type void: " + d.name);
  if (parameters.size() != d.keys.size() || std::ranges::find(parameters, "") != parameters.end())
    fail(d.place, "D_DECL_PROTO_FORM", "each parameter of " + d.name + " needs a name");
  if (!d.associative) {
    Node* trial = clone(value, {});
    check(trial);
    assignable(trial, d.type, d.place);
  }
  globals_[d.name] = {.kind = Symbol::Kind::kInline,
                      .place = d.place,
                      .type = d.type,
                      .associative = d.associative,
                      .used_as_array = d.associative,
                      .keys = d.keys,
                      .inlined = value,
                      .parameters = parameters};
}

void Checker::translator(Place place, TypeId to, TypeId from, const std::string& variable,
                         std::vector<Member> members) {
  if (!types_.is_struct(to))
    fail(place, "D_XLATE_SOU", "a translator makes a struct or union, not \"" + types_.name(to) + '"');
  for (const Translator& t : translators_)
    if (types_.same(t.to, to) && types_.same(t.from, from))
      fail(place, "D_XLATE_REDECL",
           "translator from \"" + types_.name(from) + "\" to \"" + types_.name(to) + "\" is declared twice");
  for (const Member& member : members) {
    FoundMember found;
    if (!find_member(types_, to, member.name, found))
      fail(member.place, "D_XLATE_MEMB",
           "translator member " + member.name + " is not a member of " + types_.name(to));
  }
  translators_.push_back({to, from, variable, std::move(members)});
}

// --- Statements ---

Field Checker::field(Node*& n, const char* tag) {
  if (to_text(n))
    return {.kind = Field::Kind::kText,
            .bytes = 0,
            .is_signed = false,
            .type = n->type,
            .most = types_.bytes(kString)};
  const CType& type = types_.base(n->type);
  if (types_.is_scalar(n->type))
    return {.kind = Field::Kind::kInteger,
            .bytes = static_cast<std::uint8_t>(type.bytes),
            .is_signed = type.is_signed,
            .type = n->type};
  if (types_.is_by_reference(n->type))
    return {.kind = Field::Kind::kBytes, .bytes = 0, .is_signed = false, .type = n->type, .most = type.bytes};
  fail(n->place, tag, "a value of type " + described(n) + " cannot be recorded");
}

ActionInfo& Checker::new_action(ActionKind kind, Node* call) {
  if (script_.actions.size() >= 65535) fail(call->place, "D_ID_OFLOW", "too many actions");
  const auto clause = static_cast<std::uint16_t>(clauses_.size());
  script_.program.actions.push_back({.clause = clause});
  script_.actions.push_back({.kind = kind, .clause = clause, .line = call->place.line});
  call->index = static_cast<std::uint32_t>(script_.actions.size() - 1);
  return script_.actions.back();
}

/// An action that records data: what may not come before and after commit() and speculate().
void Checker::data(Node* call, bool destructive) {
  if (flags_.committed) fail(call->place, "D_DREC_COMM", "data-recording actions may not follow commit( )");
  if (destructive && flags_.speculating)
    fail(call->place, "D_ACT_SPEC", call->text + "( ) may not follow speculate( )");
  flags_.recorded = true;
  clauses_.back().records = true;
}

std::uint32_t Checker::aggregation_of(Node* n, const char* tag_argument, const char* tag_unknown,
                                      const std::string& who) {
  if (n->kind != Kind::kAggregation) fail(n->place, tag_argument, who + " must be an aggregation");
  if (!n->children.empty()) fail(n->place, tag_argument, who + " must be an aggregation without keys");
  const auto known = aggregations_.find(n->text);
  if (known == aggregations_.end()) fail(n->place, tag_unknown, "undefined aggregation: @" + n->text);
  return known->second;
}

void Checker::on_aggregation(ActionInfo& info, Node* call, const char* prefix, std::size_t least,
                             std::size_t most) {
  // Tags are static texts: kept here for the four there are.
  struct Tags {
    std::string_view prefix;
    const char *proto, *argument, *unknown, *scalar;
  };
  static constexpr Tags kTags[] = {
      {"CLEAR", "D_CLEAR_PROTO", "D_CLEAR_AGGARG", "D_CLEAR_AGGBAD", "D_CLEAR_AGGARG"},
      {"TRUNC", "D_TRUNC_PROTO", "D_TRUNC_AGGARG", "D_TRUNC_AGGBAD", "D_TRUNC_SCALAR"},
      {"NORMALIZE", "D_NORMALIZE_PROTO", "D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD", "D_NORMALIZE_SCALAR"}};
  const Tags& tags = *std::ranges::find(kTags, prefix, &Tags::prefix);
  arguments(call, least, most, tags.proto);
  info.aggregations.push_back(
      aggregation_of(call->children[0], tags.argument, tags.unknown, call->text + "( ) argument #1"));
  if (call->children.size() < 2) return;
  check(call->children[1]);
  if (!types_.is_scalar(call->children[1]->type))
    fail(call->place, tags.scalar, call->text + "( ) argument #2 must be of scalar type");
  info.fields.push_back(field(call->children[1], tags.scalar));
}

void Checker::action_of_text(ActionInfo& info, Node* call) {
  if (call->children.empty()) arguments(call, 1, 64);
  const Node* format = call->children[0];
  if (format->kind != Kind::kString)
    fail(call->place, "D_PRINTF_ARG_FMT",
         call->text + "( ) argument #1 must be a string constant: the format");
  if (format->text.empty() && info.kind != ActionKind::kFreopen)
    fail(call->place, "D_PRINTF_FMT_EMPTY", call->text + "( ) format string must not be empty");
  info.format = format->text;
  std::size_t next = 1;
  const auto take = [&](const std::string& conversion, const char* tag) -> Node*& {
    if (next >= call->children.size())
      fail(call->place, tag,
           call->text + "( ) prototype mismatch: conversion " + conversion + " is missing its argument");
    Node*& argument = call->children[next++];
    if (argument->kind == Kind::kAggregation)
      fail(call->place, "D_PRINTF_ARG_TYPE",
           call->text + "( ) argument " + ordinal(next) + " is an aggregation: printa( ) shows those");
    check(argument);
    return argument;
  };
  std::size_t number = 0;
  for (const Conversion& c : parse_format(format->text, call->place)) {
    const std::string shown = ordinal(++number) + " (%" + c.what + ")";
    if (c.aggregation)
      fail(call->place, "D_PRINTF_AGG_CONV",
           call->text + "( ) conversion " + shown + ": %@ is for printa( )");
    for (int star = 0; star < (c.star_width ? 1 : 0) + (c.star_precision ? 1 : 0); star++) {
      Node*& width = take(shown, "D_PRINTF_DYN_PROTO");
      if (!types_.is_integer(width->type))
        fail(call->place, "D_PRINTF_DYN_TYPE",
             call->text + "( ) argument " + ordinal(next) + " must be an integer: a width or precision");
      info.fields.push_back(field(width, "D_PRINTF_DYN_TYPE"));
    }
    Node*& value = take(shown, "D_PRINTF_ARG_PROTO");
    bool fits = true;
    switch (type_of(c.what)) {
      case ConversionType::kText: fits = to_text(value); break;
      case ConversionType::kInteger:
      case ConversionType::kCharacter:
        fits = types_.is_integer(value->type) ||
               (c.what != 'c' && types_.is_pointer(value->type) && value->where != Where::kArgument);
        break;
      case ConversionType::kAddress:
        fits = types_.is_scalar(value->type) || types_.is_array(value->type);
        break;
      case ConversionType::kTime: fits = types_.is_integer(value->type); break;
      case ConversionType::kStack: fits = types_.kind(value->type) == CType::Kind::kStack; break;
      default: fits = false; break;
    }
    if (!fits)
      fail(call->place, "D_PRINTF_ARG_TYPE",
           call->text + "( ) argument " + ordinal(next) + " of type " + described(value) +
               " is incompatible with conversion " + shown);
    Field f = field(value, "D_PRINTF_ARG_TYPE");
    if (f.kind == Field::Kind::kBytes)
      f = {.kind = Field::Kind::kInteger, .bytes = 8, .is_signed = false, .type = kVoidPointer};
    info.fields.push_back(f);
  }
  if (next < call->children.size())
    fail(call->place, "D_PRINTF_ARG_EXTRA",
         call->text + "( ) prototype mismatch: only " + std::to_string(next - 1) +
             " arguments are required by this format string");
}

void Checker::printa(ActionInfo& info, Node* call) {
  if (call->children.empty())
    fail(call->place, "D_PRINTA_PROTO", "printa( ) prototype mismatch: an aggregation is expected");
  std::size_t first = 0;
  if (call->children[0]->kind == Kind::kString) {
    info.format = call->children[0]->text;
    if (info.format.empty())
      fail(call->place, "D_PRINTF_FMT_EMPTY", "printa( ) format string must not be empty");
    parse_format(info.format, call->place);
    first = 1;
  } else if (call->children[0]->kind != Kind::kAggregation || call->children.size() > 1) {
    fail(call->place, "D_PRINTA_AGGARG",
         "printa( ) takes an aggregation, or a format and the aggregations it is for");
  }
  if (first == call->children.size())
    fail(call->place, "D_PRINTA_PROTO", "printa( ) prototype mismatch: an aggregation is expected");
  for (std::size_t i = first; i < call->children.size(); i++)
    info.aggregations.push_back(aggregation_of(call->children[i], "D_PRINTA_AGGARG", "D_PRINTA_AGGBAD",
                                               "printa( ) argument " + ordinal(i + 1)));
  const auto& keys = script_.aggregations[info.aggregations[0]].keys;
  for (const std::uint32_t other : info.aggregations) {
    const auto& theirs = script_.aggregations[other].keys;
    if (keys.size() != theirs.size())
      fail(call->place, "D_PRINTA_AGGKEY", "printa( ): its aggregations have different numbers of keys");
    if (!std::ranges::equal(keys, theirs, {}, &Field::kind, &Field::kind))
      fail(call->place, "D_PRINTA_AGGPROTO", "printa( ): the keys of its aggregations differ");
  }
  if (info.format.empty()) return;
  std::size_t key = 0;
  for (const Conversion& c : parse_format(info.format, call->place)) {
    if (c.aggregation) continue;
    if (key >= keys.size())
      fail(call->place, "D_PRINTF_ARG_PROTO",
           std::string("printa( ) prototype mismatch: conversion %") + c.what + " is missing a key");
    const Field::Kind kind = keys[key++].kind;
    const ConversionType wants = type_of(c.what);
    const bool fits = wants == ConversionType::kText    ? kind == Field::Kind::kText
                      : wants == ConversionType::kStack ? kind == Field::Kind::kStack
                                                        : kind == Field::Kind::kInteger;
    if (!fits)
      fail(call->place, "D_PRINTF_ARG_TYPE",
           "printa( ) key " + ordinal(key) + " is incompatible with its conversion %" + c.what);
  }
}

void Checker::tracemem(ActionInfo& info, Node* call) {
  arguments(call, 2, 3, "D_TRACEMEM_ARGS");
  for (Node*& argument : call->children) check(argument);
  if (!types_.is_scalar(call->children[0]->type) && !types_.is_by_reference(call->children[0]->type))
    fail(call->place, "D_TRACEMEM_ADDR", "tracemem( ) argument #1 must be an address");
  const Node* size = call->children[1];
  if (size->kind != Kind::kInteger || size->value == 0 || size->value > 65536)
    fail(call->place, "D_TRACEMEM_SIZE",
         "tracemem( ) argument #2 must be a non-zero positive integral constant expression");
  info.fields.push_back({.kind = Field::Kind::kBytes,
                         .bytes = 0,
                         .is_signed = false,
                         .most = static_cast<std::uint32_t>(size->value)});
  if (call->children.size() < 3) return;
  if (!types_.is_integer(call->children[2]->type))
    fail(call->place, "D_TRACEMEM_DYNSIZE", "tracemem( ) argument #3 must be an integer");
  info.fields.push_back(field(call->children[2], "D_TRACEMEM_DYNSIZE"));
}

/// False: the call is no action.
bool Checker::action(Node* call) {
  const std::string& name = call->text;
  if (!is_action(name)) return false;
  if (name == "speculate" || name == "commit" || name == "discard") {
    arguments(call, 1, 1);
    check(call->children[0]);
    need_integer(call->children[0], "D_PROTO_ARG", name + "( ) argument #1");
    if (name == "speculate") {
      if (flags_.speculating) fail(call->place, "D_SPEC_SPEC", "speculate( ) may not follow speculate( )");
      if (flags_.committed) fail(call->place, "D_SPEC_COMM", "speculate( ) may not follow commit( )");
      if (flags_.recorded)
        fail(call->place, "D_SPEC_DREC", "speculate( ) may not follow data-recording actions");
      flags_.speculating = true;
      clauses_.back().records = true;
    } else if (name == "commit") {
      if (flags_.committed) fail(call->place, "D_COMM_COMM", "commit( ) may not follow commit( )");
      if (flags_.recorded)
        fail(call->place, "D_COMM_DREC", "commit( ) may not follow data-recording actions");
      flags_.committed = true;
    }
    return true;
  }
  const auto make = [&](ActionKind kind, bool destructive = false) -> ActionInfo& {
    data(call, destructive);
    return new_action(kind, call);
  };
  if (name == "printf") {
    action_of_text(make(ActionKind::kPrintf), call);
  } else if (name == "system") {
    action_of_text(make(ActionKind::kSystem, true), call);
  } else if (name == "freopen") {
    action_of_text(make(ActionKind::kFreopen, true), call);
  } else if (name == "ftruncate") {
    arguments(call, 0, 0);
    make(ActionKind::kFtruncate, true);
  } else if (name == "printa") {
    printa(make(ActionKind::kPrinta), call);
  } else if (name == "trace" || name == "print") {
    arguments(call, 1, 1);
    if (call->children[0]->kind == Kind::kAggregation)
      fail(call->place, "D_TRACE_DYN", name + "( ) may not be applied to an aggregation");
    check(call->children[0]);
    if (types_.kind(call->children[0]->type) == CType::Kind::kVoid)
      fail(call->place, "D_TRACE_VOID", name + "( ) may not be applied to a void expression");
    ActionInfo& info = make(name == "trace" ? ActionKind::kTrace : ActionKind::kPrint);
    info.fields.push_back(field(call->children[0], "D_TRACE_DYN"));
  } else if (name == "tracemem") {
    tracemem(make(ActionKind::kTracemem), call);
  } else if (name == "ustack" || name == "jstack") {
    arguments(call, 0, 2, "D_USTACK_PROTO");
    ActionInfo& info = make(name == "ustack" ? ActionKind::kUstack : ActionKind::kJstack);
    std::vector<Field> fields;
    std::vector<Node*> key = {call};
    keys(key, fields, true, name);
    info.fields = fields;
  } else if (name == "clear") {
    on_aggregation(make(ActionKind::kClear), call, "CLEAR", 1, 1);
  } else if (name == "denormalize") {
    on_aggregation(make(ActionKind::kDenormalize), call, "NORMALIZE", 1, 1);
  } else if (name == "trunc") {
    on_aggregation(make(ActionKind::kTrunc), call, "TRUNC", 1, 2);
  } else if (name == "normalize") {
    on_aggregation(make(ActionKind::kNormalize), call, "NORMALIZE", 2, 2);
  } else if (name == "setopt") {
    arguments(call, 1, 2);
    ActionInfo& info = make(ActionKind::kSetopt);
    for (Node*& argument : call->children) {
      check(argument);
      need_text(argument, "D_PROTO_ARG", "setopt( ) arguments");
      info.fields.push_back(field(argument, "D_PROTO_ARG"));
    }
  } else if (name == "exit") {
    arguments(call, 1, 1);
    check(call->children[0]);
    if (!types_.is_integer(call->children[0]->type))
      fail(call->place, "D_PROTO_ARG", "exit( ) argument #1 must be an integer");
    if (flags_.speculating) fail(call->place, "D_EXIT_SPEC", "exit( ) may not follow speculate( )");
    make(ActionKind::kExit)
        .fields.push_back(field(call->children[0] = cast_to(call->children[0], kInt), "D_PROTO_ARG"));
  }
  return true;
}

/// Keys of an aggregation, and the one field of ustack().
void Checker::keys(std::vector<Node*>& keys, std::vector<Field>& fields, bool is_new,
                   const std::string& what) {
  std::vector<Field> given;
  for (Node*& key : keys) {
    if (key->kind == Kind::kCall && (key->text == "ustack" || key->text == "jstack")) {
      arguments(key, 0, 2, "D_USTACK_PROTO");
      std::int64_t frames = 0;
      for (std::size_t i = 0; i < key->children.size(); i++) {
        check(key->children[i]);
        const Node* number = key->children[i];
        if (number->kind != Kind::kInteger || static_cast<std::int64_t>(number->value) < 0 ||
            (i == 0 && number->value == 0) || number->value > 65535)
          fail(key->place, i == 0 ? "D_USTACK_FRAMES" : "D_USTACK_STRSIZE",
               key->text + "( ) argument " + ordinal(i + 1) + " must be a positive integer constant");
        if (i == 0) frames = static_cast<std::int64_t>(number->value);
      }
      key->type = kStackType;
      key->value = static_cast<std::uint64_t>(frames);
      key->checked = true;
      given.push_back({.kind = Field::Kind::kStack,
                       .bytes = 0,
                       .is_signed = false,
                       .type = kStackType,
                       .most = static_cast<std::uint32_t>(frames)});
      continue;
    }
    if (key->kind == Kind::kAggregation || (key->kind == Kind::kCall && is_action(key->text)))
      fail(key->place, "D_KEY_TYPE", "@" + what + "[ ]: a key cannot be an aggregation or an action");
    check(key);
    if (types_.kind(key->type) == CType::Kind::kVoid || types_.kind(key->type) == CType::Kind::kFunction)
      fail(key->place, "D_KEY_TYPE", "@" + what + "[ ]: a key cannot be of type " + described(key));
    given.push_back(field(key, "D_KEY_TYPE"));
  }
  if (is_new) {
    fields = std::move(given);
    return;
  }
  if (given.size() != fields.size())
    fail(keys.empty() ? Place{} : keys[0]->place, "D_PROTO_LEN",
         "@" + what + "[ ] prototype mismatch: " + std::to_string(given.size()) + " keys passed, " +
             std::to_string(fields.size()) + " expected");
  for (std::size_t i = 0; i < given.size(); i++) {
    if (given[i].kind != fields[i].kind)
      fail(keys[i]->place, "D_PROTO_ARG",
           "@" + what + "[ ] key " + ordinal(i + 1) + " is incompatible with its prototype: \"" +
               types_.name(fields[i].type) + "\" expected, " + described(keys[i]) + " given");
    if (given[i].kind == Field::Kind::kInteger) keys[i] = cast_to(keys[i], fields[i].type);
  }
}

void Checker::quantize_parameters(Aggregation& a, Node* function, bool is_new) {
  struct Parameter {
    const char *type, *value, *match, *name;
  };
  static constexpr Parameter kLinear[] = {
      {"D_LQUANT_BASETYPE", "D_LQUANT_BASEVAL", "D_LQUANT_MATCHBASE", "base"},
      {"D_LQUANT_LIMTYPE", "D_LQUANT_LIMVAL", "D_LQUANT_MATCHLIM", "limit"},
      {"D_LQUANT_STEPTYPE", "D_LQUANT_STEPVAL", "D_LQUANT_MATCHSTEP", "step"}};
  static constexpr Parameter kLog[] = {
      {"D_LLQUANT_FACTORTYPE", "D_LLQUANT_FACTORVAL", "D_LLQUANT_MATCHFACTOR", "factor"},
      {"D_LLQUANT_LMAGTYPE", "D_LLQUANT_LMAGVAL", "D_LLQUANT_MATCHLMAG", "low magnitude"},
      {"D_LLQUANT_HMAGTYPE", "D_LLQUANT_HMAGVAL", "D_LLQUANT_MATCHHMAG", "high magnitude"},
      {"D_LLQUANT_STEPTYPE", "D_LLQUANT_STEPVAL", "D_LLQUANT_MATCHSTEPS", "number of steps"}};
  const bool linear = a.how == Aggregating::kLquantize;
  const std::size_t count = linear ? 3 : 4;
  std::int64_t values[4] = {0, 0, 1, 0};
  for (std::size_t i = 0; i < count; i++) {
    const Parameter& p = linear ? kLinear[i] : kLog[i];
    if (i + 1 >= function->children.size()) {
      if (linear && i == 2) continue;  // the step is 1
      fail(function->place, p.type, function->text + "( ) lacks an argument: the " + p.name);
    }
    Node*& argument = function->children[i + 1];
    check(argument);
    if (argument->kind != Kind::kInteger || !types_.is_integer(argument->type))
      fail(function->place, p.type,
           function->text + "( ) argument " + ordinal(i + 2) + " must be an integer constant: the " + p.name);
    values[i] = static_cast<std::int64_t>(argument->value);
    if (values[i] > INT32_MAX || values[i] < INT32_MIN || (!linear && (values[i] < 0 || values[i] > 65535)))
      fail(function->place, p.value,
           function->text + "( ) argument " + ordinal(i + 2) + " is out of range: the " + p.name);
    if (!is_new && values[i] != a.parameters[i])
      fail(function->place, p.match,
           function->text + "( ): the " + p.name + " differs from what @" + a.name + " had before");
  }
  if (linear) {
    if (values[1] < values[0])
      fail(function->place, "D_LQUANT_MISMATCH", "lquantize( ) limit is less than its base");
    if (values[2] <= 0) fail(function->place, "D_LQUANT_STEPVAL", "lquantize( ) step must be positive");
    const std::int64_t levels = (values[1] - values[0]) / values[2];
    if (levels == 0)
      fail(function->place, "D_LQUANT_STEPLARGE", "lquantize( ) step is too large: there would be no bucket");
    if (levels > 65534)
      fail(function->place, "D_LQUANT_STEPSMALL",
           "lquantize( ) step is too small: there would be too many buckets");
  } else {
    const std::int64_t factor = values[0], low = values[1], high = values[2], steps = values[3];
    if (factor < 2) fail(function->place, "D_LLQUANT_FACTORVAL", "llquantize( ) factor must be at least 2");
    if (low >= high)
      fail(function->place, "D_LLQUANT_HMAGVAL",
           "llquantize( ) high magnitude must be greater than its low magnitude");
    if (steps < factor)
      fail(function->place, "D_LLQUANT_STEPVAL", "llquantize( ) needs as many steps as its factor, or more");
    std::int64_t power = 1;
    for (std::int64_t i = 0; i < high + 1; i++)
      if (__builtin_mul_overflow(power, factor, &power))
        fail(function->place, "D_LLQUANT_HMAGVAL",
             "llquantize( ) factor ^ high magnitude is more than 64 bits hold");
    bool even = steps % factor == 0;
    for (std::int64_t v = factor; even && v < steps; v *= factor) even = steps % v == 0 || v * factor > steps;
    if (!even)
      fail(function->place, "D_LLQUANT_STEPVAL", "llquantize( ) steps must be a multiple of its factor");
  }
  std::copy_n(values, 4, a.parameters);
}

void Checker::aggregating(Aggregation& a, std::uint32_t number, Node* function, bool is_new) {
  const bool linear = a.how == Aggregating::kLquantize, log = a.how == Aggregating::kLlquantize;
  const std::size_t most = a.how == Aggregating::kCount      ? 0
                           : linear                          ? 5
                           : log                             ? 6
                           : a.how == Aggregating::kQuantize ? 2
                                                             : 1;
  arguments(function, 0, most);
  if (most == 0) return;
  if (function->children.empty())
    fail(function->place, "D_AGG_SCALAR", function->text + "( ) needs the value that is taken in");
  check(function->children[0]);
  if (!types_.is_scalar(function->children[0]->type))
    fail(function->place, "D_AGG_SCALAR",
         function->text + "( ) argument #1 must be of scalar type, not " + described(function->children[0]));
  if (is_new) a.is_signed = types_.is_signed(function->children[0]->type);
  if (linear || log) quantize_parameters(a, function, is_new);
  const std::size_t increment = linear ? 4 : log ? 5 : 1;
  if (a.how >= Aggregating::kQuantize && function->children.size() > increment) {
    check(function->children[increment]);
    need_integer(function->children[increment], "D_PROTO_ARG", function->text + "( ) increment");
  }
  function->index = number;
}

void Checker::aggregation(Statement& s) {
  Node* target = s.expression;
  if (s.function == nullptr)
    fail(s.place, "D_AGG_NULL",
         "@" + target->text + ": expression is an aggregation by itself, which does nothing");
  Node* function = s.function;
  if (function->kind != Kind::kCall || !kAggregatings.contains(function->text)) {
    if (function->kind == Kind::kName && !kAggregatings.contains(function->text))
      check(function);  // may be unknown
    if (function->kind == Kind::kCall) {
      std::size_t n = 0;
      while (n < kSubroutineCount && kSubroutines[n].name != function->text) n++;
      if (n == kSubroutineCount && !is_action(function->text) && function->text != "copyinstr")
        fail(s.place, "D_FUNC_UNDEF", "undefined function name: " + function->text);
    }
    fail(
        s.place, "D_AGG_FUNC",
        "@" + target->text + " must be assigned the result of an aggregating function: count( ), sum( ) ...");
  }
  if (flags_.committed) fail(s.place, "D_AGG_COMM", "aggregating actions may not follow commit( )");
  if (flags_.speculating) fail(s.place, "D_AGG_SPEC", "aggregating actions may not follow speculate( )");
  const Aggregating how = kAggregatings.find(function->text)->second;
  const auto known = aggregations_.find(target->text);
  const bool is_new = known == aggregations_.end();
  if (is_new) {
    Aggregation a{.name = target->text, .how = how};
    const auto number = static_cast<std::uint32_t>(script_.aggregations.size());
    std::vector<Field> fields;
    keys(target->children, fields, true, target->text);
    aggregating(a, number, function, true);
    script_.program.aggregations.push_back(std::move(a));
    script_.aggregations.push_back({.keys = std::move(fields)});
    aggregations_[target->text] = number;
    target->index = number;
    return;
  }
  const std::uint32_t number = known->second;
  Aggregation& a = script_.program.aggregations[number];
  if (a.how != how)
    fail(s.place, "D_AGG_REDEF", "aggregation redefined: @" + target->text + " is of another function");
  if (target->children.empty() && !script_.aggregations[number].keys.empty())
    fail(s.place, "D_PROTO_LEN",
         "@" + target->text + "[ ] prototype mismatch: 0 keys passed, " +
             std::to_string(script_.aggregations[number].keys.size()) + " expected");
  keys(target->children, script_.aggregations[number].keys, false, target->text);
  aggregating(a, number, function, false);
  target->index = number;
}

void Checker::statement(Statement& s) {
  switch (s.kind) {
    case Statement::Kind::kAggregation: return aggregation(s);
    case Statement::Kind::kIf: {
      check_scalar(s.expression, "if");
      // What one branch records does not come before what the other does.
      const Flags before = flags_;
      statements(s.then);
      const Flags then = flags_;
      flags_ = before;
      statements(s.otherwise);
      flags_.committed |= then.committed;
      flags_.speculating |= then.speculating;
      flags_.recorded |= then.recorded;
      return;
    }
    case Statement::Kind::kExpression: break;
  }
  if (s.expression->kind == Kind::kCall && action(s.expression)) return;
  check(s.expression);
}

void Checker::statements(std::vector<Statement>& list) {
  for (Statement& s : list) statement(s);
}

void Checker::clause(ClauseTree tree) {
  if (clauses_.size() >= 65535) fail(tree.place, "D_ID_OFLOW", "too many clauses");
  static const std::vector<ProbeInfo> kNone;
  const std::vector<ProbeInfo>& probes = options_.probes == nullptr ? kNone : *options_.probes;
  clauses_.emplace_back();
  CheckedClause& clause = clauses_.back();
  clause.tree = std::move(tree);
  clause_text_.clear();
  for (std::size_t i = 0; i < clause.tree.descriptions.size(); i++) {
    const std::string& text = clause.tree.descriptions[i];
    const Place place = clause.tree.description_places[i];
    clause_text_ += (i == 0 ? "" : ",") + text;
    const std::size_t count =
        match(parse_description(text, source_kind_, place), probes, script_.program, clause.matched);
    script_.matched += count;
    if (count == 0 && !options_.zero_matches)
      fail(place, "D_PDESC_ZERO", "probe description " + text + " does not match any probes");
    if (clause.matched.enabled.size() > kMostProbes) fail(place, "D_PDESC_INVAL", "too many probes: " + text);
  }
  script_.clauses.push_back(
      {.description = clause_text_, .file = clause.tree.place.file, .line = clause.tree.place.line});
  matched_ = &clause.matched;
  flags_ = {};
  if (clause.tree.predicate != nullptr) {
    check(clause.tree.predicate);
    if (!types_.is_scalar(clause.tree.predicate->type))
      fail(clause.tree.predicate->place, "D_PRED_SCALAR",
           "predicate result must be of scalar type, not " + described(clause.tree.predicate));
  }
  statements(clause.tree.body);
  matched_ = nullptr;
}

}  // namespace vmrun::d::lang
