// Registers are a stack: what an expression needs lies above what is in use, its value is left in
// the lowest of them. Forward jumps only: there are no loops in D.
#include "probes/d/emit.hpp"

#include <map>

#include "probes/d/vocabulary.hpp"
#include "probes/engine/operations.hpp"

namespace vmrun::d::lang {
namespace {

using Kind = Node::Kind;

constexpr unsigned kIntegerRegisters = 32, kTermRegisterCount = 8;

class Emitter {
 public:
  Emitter(Script& script, Types& types, const Symbols& symbols)
      : script_(script), types_(types), symbols_(symbols) {
    program().texts.assign(1, '\0');
    texts_[""] = 0;
  }

  void clause(CheckedClause& checked) {
    Clause out;
    out.probes = checked.matched.enabled;
    out.makes_record = checked.tree.body.empty() || checked.records;
    if (checked.tree.predicate != nullptr) {
      start(out.predicate);
      condition(checked.tree.predicate);
      put(Operation::kRet);
    }
    if (!checked.tree.body.empty()) {
      start(out.body);
      statements(checked.tree.body);
      put(Operation::kRet);
    }
    program().clauses.push_back(std::move(out));
  }

 private:
  Program& program() { return script_.program; }

  void start(std::vector<Instruction>& code) {
    code_ = &code;
    next_ = 0;
    next_term_ = 0;
  }

  std::size_t put(Operation operation, unsigned a = 0, unsigned b = 0, unsigned c = 0, std::int64_t imm = 0) {
    if (code_->size() >= 1 << 20) fail(place_, "D_SYNTAX", "the clause is too long");
    code_->push_back({operation, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b),
                      static_cast<std::uint8_t>(c), static_cast<std::int32_t>(imm)});
    return code_->size() - 1;
  }
  void here(std::size_t jump) { (*code_)[jump].imm = static_cast<std::int32_t>(code_->size()); }

  unsigned take() {
    if (next_ >= kIntegerRegisters)
      fail(place_, "D_NOREG", "insufficient registers to generate code: the expression is too complex");
    return next_++;
  }
  unsigned take_term() {
    if (next_term_ >= kTermRegisterCount)
      fail(place_, "D_NOREG", "insufficient registers for terms: the expression is too complex");
    return next_term_++;
  }

  void number(unsigned to, std::uint64_t value) {
    const auto is = static_cast<std::int64_t>(value);
    if (is >= INT32_MIN && is <= INT32_MAX) {
      put(Operation::kLoad, to, 0, 0, is);
      return;
    }
    const auto [at, is_new] = constants_.try_emplace(value, program().constants.size());
    if (is_new) program().constants.push_back(value);
    put(Operation::kConst, to, 0, 0, static_cast<std::int64_t>(at->second));
  }

  void text(unsigned to, const std::string& value) {
    const auto [at, is_new] = texts_.try_emplace(value, program().texts.size());
    if (is_new) {
      program().texts += value;
      program().texts += '\0';
    }
    put(Operation::kText, to, 0, 0, static_cast<std::int64_t>(at->second));
  }

  /// Cuts a register to a type of less than 64 bits.
  void fit(unsigned r, TypeId type) {
    const std::uint32_t bytes = types_.bytes(type);
    if (!types_.is_integer(type) || bytes >= 8) return;
    put(types_.is_signed(type) ? Operation::kSext : Operation::kZext, r, r, bytes * 8);
  }

  void convert(unsigned r, TypeId from, TypeId to) {
    const CType &f = types_.base(from), &t = types_.base(to);
    if (!types_.is_integer(to) || t.bytes >= 8) return;
    if (types_.is_integer(from)) {
      if (f.bytes < t.bytes && (!f.is_signed || t.is_signed)) return;
      if (f.bytes == t.bytes && f.is_signed == t.is_signed) return;
    }
    fit(r, to);
  }

  static bool is_boolean(const Node* n) {
    return (n->kind == Kind::kBinary &&
            ((n->op >= Op::kEq && n->op <= Op::kGe) || n->op >= Op::kLogicalAnd)) ||
           (n->kind == Kind::kUnary && n->op == Op::kLogicalNot) ||
           (n->kind == Kind::kInteger && n->value <= 1);
  }

  /// r := r != 0
  void truth(unsigned r) {
    const unsigned zero = take();
    number(zero, 0);
    put(Operation::kSne, r, r, zero);
    next_ = zero;
  }

  // --- Where values live ---

  struct Key {
    enum { kInteger, kText, kArgument, kBuiltin, kTerm, kStack, kBytes } kind;
    unsigned r = 0;
    std::uint32_t number = 0;
  };

  struct Target {
    enum { kVariable, kElement, kMemory } kind = kVariable;
    const Node* node = nullptr;
    bool self = false;
    std::uint32_t index = 0;
    std::vector<Key> keys;
    // Of memory: address, and what has to be stored again, as it is a copy.
    unsigned base = 0;
    std::int64_t offset = 0;
    const Node* copied = nullptr;
    unsigned copy = 0;
  };

  static bool is_reference(const Node* n, Where where) {
    return n->kind == Kind::kReference && n->where == where;
  }

  /// Evaluates what has to be evaluated: between the pushing of keys and their use nothing may push
  /// others.
  std::vector<Key> prepare_keys(const std::vector<Node*>& nodes, const Node* array) {
    std::vector<Key> out;
    for (std::size_t i = 0; i < nodes.size(); i++) {
      const Node* n = nodes[i];
      place_ = n->place;
      const bool as_it_is = array == nullptr || symbols_.key_as_it_is(array->index, i);
      if (as_it_is && is_reference(n, Where::kArgumentText)) {
        out.push_back({Key::kArgument, 0, n->index});
      } else if (as_it_is && is_reference(n, Where::kBuiltin) && types_.is_string(n->type)) {
        out.push_back({Key::kBuiltin, 0, n->index});
      } else if (array == nullptr && n->kind == Kind::kCall && n->text == "term2str") {
        out.push_back({Key::kTerm, term(n->children[0]), 0});
      } else if (types_.kind(n->type) == CType::Kind::kStack) {
        out.push_back({Key::kStack, 0, frames(n)});
      } else {
        const unsigned r = value(n);
        if (types_.is_text(n->type)) out.push_back({Key::kText, r, 0});
        else if (types_.is_by_reference(n->type)) out.push_back({Key::kBytes, r, types_.bytes(n->type)});
        else out.push_back({Key::kInteger, r, 0});
      }
    }
    return out;
  }

  void push_keys(const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      switch (key.kind) {
        case Key::kInteger: put(Operation::kKeyi, key.r); break;
        case Key::kText: put(Operation::kKeys, key.r); break;
        case Key::kArgument: put(Operation::kKeyarg, 0, 0, 0, key.number); break;
        case Key::kBuiltin: put(Operation::kKeybuiltin, 0, 0, 0, key.number); break;
        case Key::kTerm: put(Operation::kKeyterm, key.r); break;
        case Key::kStack: put(Operation::kKeystack, 0, 0, 0, key.number); break;
        case Key::kBytes: put(Operation::kKeyb, key.r, 0, 0, key.number); break;
      }
    }
  }

  std::uint32_t frames(const Node* call) {
    if (call->value != 0) return static_cast<std::uint32_t>(call->value);
    return call->text == "jstack" ? program().options.stack_frames : program().options.ustack_frames;
  }

  /// Registers that it takes stay taken: the caller gives them back.
  Target target(const Node* n) {
    place_ = n->place;
    Target out{.node = n};
    if (is_reference(n, Where::kVariable)) {
      out.self = n->self;
      out.index = n->index;
      if (!n->children.empty()) {
        out.kind = Target::kElement;
        out.keys = prepare_keys(n->children, n);
      }
      return out;
    }
    out.kind = Target::kMemory;
    address(n, out);
    return out;
  }

  void variable(Operation global, Operation self, const Target& t, unsigned r) {
    put(t.self ? self : global, r, 0, 0, t.index);
  }

  void load(const Target& t, unsigned r) {
    const TypeId type = t.node->type;
    if (t.kind == Target::kVariable) {
      variable(Operation::kLdg, Operation::kLdt, t, r);
      if (symbols_.address_taken(t.index) && !t.self) fit(r, type);
    } else if (t.kind == Target::kElement) {
      push_keys(t.keys);
      variable(Operation::kLda, Operation::kLdta, t, r);
    } else if (types_.is_by_reference(type)) {
      if (t.offset != 0) {
        number(r == t.base ? take() : r, static_cast<std::uint64_t>(t.offset));
        put(Operation::kAdd, r, r == t.base ? next_ - 1 : r, t.base);
      } else if (r != t.base) {
        put(Operation::kMove, r, t.base);
      }
    } else {
      const bool bits = t.node->bits != 0;
      const bool is_signed = types_.is_signed(type) && types_.is_integer(type) && !bits;
      put(Operation::kLd, r, t.base, types_.bytes(type) | (is_signed ? 128u : 0u), t.offset);
      if (!bits) return;
      if (t.node->bit_offset != 0) {
        const unsigned shift = take();
        number(shift, t.node->bit_offset);
        put(Operation::kSrl, r, r, shift);
        next_ = shift;
      }
      put(types_.is_signed(type) ? Operation::kSext : Operation::kZext, r, r, t.node->bits);
    }
  }

  /// What lies in memory that is a copy of an element is stored as a whole.
  void store_copy(const Target& t) {
    if (t.copied == nullptr) return;
    Target whole{.node = t.copied, .self = t.copied->self, .index = t.copied->index, .keys = t.keys};
    whole.kind = t.copied->children.empty() ? Target::kVariable : Target::kElement;
    store(whole, t.copy);
  }

  void store(const Target& t, unsigned r) {
    const TypeId type = t.node->type;
    const unsigned mark = next_;
    if (t.kind == Target::kVariable) {
      variable(Operation::kStg, Operation::kStt, t, r);
      return;
    }
    if (t.kind == Target::kElement) {
      push_keys(t.keys);
      variable(Operation::kSta, Operation::kStta, t, r);
      return;
    }
    if (types_.is_by_reference(type)) {
      unsigned to = t.base;
      if (t.offset != 0) {
        to = take();
        number(to, static_cast<std::uint64_t>(t.offset));
        put(Operation::kAdd, to, to, t.base);
      }
      if (types_.is_string(type)) {
        // NULL is kept as an empty text.
        const std::size_t there = put(Operation::kJnz, 0, r);
        put(Operation::kSt, r, to, 1, 0);
        const std::size_t end = put(Operation::kJump);
        here(there);
        put(Operation::kCopys, to, r, 0, types_.bytes(type));
        here(end);
      } else {
        put(Operation::kCopy, to, r, 0, types_.bytes(type));
      }
    } else if (t.node->bits != 0) {
      const std::uint64_t ones = t.node->bits >= 64 ? ~0ull : (1ull << t.node->bits) - 1;
      const unsigned old = take(), mask = take(), added = take();
      put(Operation::kLd, old, t.base, types_.bytes(type), t.offset);
      number(mask, ~(ones << t.node->bit_offset));
      put(Operation::kAnd, old, old, mask);
      put(Operation::kZext, added, r, t.node->bits);
      number(mask, t.node->bit_offset);
      put(Operation::kSll, added, added, mask);
      put(Operation::kOr, old, old, added);
      put(Operation::kSt, old, t.base, types_.bytes(type), t.offset);
    } else {
      put(Operation::kSt, r, t.base, types_.bytes(type), t.offset);
    }
    store_copy(t);
    next_ = mark;
  }

  void index_address(const Node* n, Target& out) {
    const Node *base = n->children[0], *index = n->children[1];
    if (types_.is_array(base->type)) address(base, out);
    else out.base = value(base);
    const std::int64_t bytes = std::max<std::int64_t>(types_.bytes(n->type), 1);
    if (index->kind == Kind::kInteger) {
      const std::int64_t offset = static_cast<std::int64_t>(index->value);
      std::int64_t at;
      if (!__builtin_mul_overflow(offset, bytes, &at) && !__builtin_add_overflow(at, out.offset, &at) &&
          at <= INT32_MAX && at >= INT32_MIN) {
        out.offset = at;
        return;
      }
    }
    const unsigned r = value(index);
    scale(r, static_cast<std::uint64_t>(bytes));
    // The base may be what has to be stored again, so the sum is another register.
    put(Operation::kAdd, r, r, out.base);
    out.base = r;
  }

  void scale(unsigned r, std::uint64_t bytes) {
    if (bytes == 1) return;
    const unsigned factor = take();
    number(factor, bytes);
    put(Operation::kMul, r, r, factor);
    next_ = factor;
  }

  void address(const Node* n, Target& out) {
    place_ = n->place;
    if (is_reference(n, Where::kFrame)) {
      out.base = take();
      put(Operation::kFrame, out.base, 0, 0, n->index);
    } else if (is_reference(n, Where::kVariable) && n->children.empty() && !n->self) {
      out.base = take();
      put(Operation::kAddrg, out.base, 0, 0, n->index);
    } else if (is_reference(n, Where::kVariable)) {
      Target whole = target(n);
      out.keys = whole.keys;
      out.base = out.copy = take();
      out.copied = n;
      load(whole, out.base);
      // Nothing was stored there yet: zeros.
      const std::size_t there = put(Operation::kJnz, 0, out.base);
      number(out.base, std::max<std::uint32_t>(types_.bytes(n->type), 1));
      put(Operation::kAlloc, out.base, out.base);
      here(there);
    } else if (n->kind == Kind::kMember) {
      address(n->children[0], out);
      out.offset += n->offset;
    } else if (n->kind == Kind::kIndex) {
      index_address(n, out);
    } else if (n->kind == Kind::kUnary && n->op == Op::kDereference) {
      out.base = value(n->children[0]);
    } else {
      out.base = value(n);
    }
  }

  // --- Expressions ---

  /// Leaves the value, or the address of what is reached by one, in a new register; returns it.
  unsigned value(const Node* n) {
    place_ = n->place;
    const unsigned r = take();
    next_ = r;
    value_in(n, r);
    next_ = r + 1;
    return r;
  }

  void value_in(const Node* n, unsigned r) {
    switch (n->kind) {
      case Kind::kInteger: number(r, n->value); return;
      case Kind::kString: text(r, n->text); return;
      case Kind::kReference: return reference(n, r);
      case Kind::kUnary: return unary(n, r);
      case Kind::kBinary: return binary(n, r);
      case Kind::kAssign: return assign(n, r);
      case Kind::kConditional: {
        value(n->children[0]);
        const std::size_t no = put(Operation::kJz, 0, r);
        next_ = r;
        value(n->children[1]);
        const std::size_t end = put(Operation::kJump);
        here(no);
        next_ = r;
        value(n->children[2]);
        here(end);
        return;
      }
      case Kind::kComma:
        value(n->children[0]);
        next_ = r;
        value(n->children[1]);
        return;
      case Kind::kCall: return call(n, r);
      case Kind::kMember:
      case Kind::kIndex: {
        next_ = r + 1;
        const Target t = target(n);
        load(t, r);
        return;
      }
      case Kind::kCast:
        value(n->children[0]);
        convert(r, n->children[0]->type, n->type);
        return;
      default: fail(n->place, "D_UNKNOWN", "this expression cannot be compiled");
    }
  }

  void reference(const Node* n, unsigned r) {
    next_ = r + 1;
    switch (n->where) {
      case Where::kArgument: put(Operation::kArg, r, 0, 0, n->index); return;
      case Where::kArgumentText: put(Operation::kArgtext, r, 0, 0, n->index); return;
      case Where::kBuiltin: put(Operation::kBuiltin, r, 0, 0, n->index); return;
      case Where::kVariable:
        // A structure that is the script's own lies where it lies; all else is a copy.
        if (types_.is_by_reference(n->type) && !types_.is_string(n->type)) {
          Target t{.node = n};
          address(n, t);
          if (t.base != r) put(Operation::kMove, r, t.base);
          return;
        }
        load(target(n), r);
        return;
      case Where::kFrame: {
        Target t{.kind = Target::kMemory, .node = n};
        put(Operation::kFrame, r, 0, 0, n->index);
        t.base = r;
        load(t, r);
        return;
      }
      default: fail(n->place, "D_OP_DYN", "a term has no value of its own: term2int() or term2str()");
    }
  }

  void unary(const Node* n, unsigned r) {
    const Node* operand = n->children[0];
    switch (n->op) {
      case Op::kPreIncrement:
      case Op::kPreDecrement:
      case Op::kPostIncrement:
      case Op::kPostDecrement: return increment(n, r);
      case Op::kAddress: {
        next_ = r + 1;
        Target t{.kind = Target::kMemory, .node = operand};
        address(operand, t);
        number(r, static_cast<std::uint64_t>(t.offset));
        put(Operation::kAdd, r, r, t.base);
        return;
      }
      case Op::kDereference: {
        next_ = r + 1;
        const Target t = target(n);
        load(t, r);
        return;
      }
      case Op::kLogicalNot: {
        condition(operand);
        const unsigned zero = take();
        number(zero, 0);
        put(Operation::kSeq, r, r, zero);
        return;
      }
      default: break;
    }
    value(operand);
    if (n->op == Op::kNegate) put(Operation::kNeg, r, r);
    if (n->op == Op::kNot) put(Operation::kNot, r, r);
    if (n->op != Op::kPlus) fit(r, n->type);
  }

  void increment(const Node* n, unsigned r) {
    next_ = r + 1;
    const bool post = n->op == Op::kPostIncrement || n->op == Op::kPostDecrement;
    const bool up = n->op == Op::kPreIncrement || n->op == Op::kPostIncrement;
    const Target t = target(n->children[0]);
    load(t, r);
    const unsigned step = take();
    number(step, types_.is_pointer(n->type) ? pointed_bytes(n->type) : 1);
    const unsigned result = post ? step : r;
    put(up ? Operation::kAdd : Operation::kSub, result, r, step);
    fit(result, n->type);
    store(t, result);
  }

  std::uint64_t pointed_bytes(TypeId pointer) {
    return std::max<std::uint32_t>(types_.bytes(types_.base(pointer).element), 1);
  }

  /// a := a op b, of operands of one type.
  void arithmetic(Op op, TypeId type, unsigned a, unsigned b) {
    const bool is_signed = types_.is_signed(type);
    const auto with = [&](Operation operation) { put(operation, a, a, b); };
    switch (op) {
      case Op::kAdd: with(Operation::kAdd); break;
      case Op::kSub: with(Operation::kSub); break;
      case Op::kMul: with(Operation::kMul); break;
      case Op::kDiv: with(is_signed ? Operation::kSdiv : Operation::kUdiv); break;
      case Op::kRem: with(is_signed ? Operation::kSrem : Operation::kUrem); return;
      case Op::kAnd: with(Operation::kAnd); return;
      case Op::kOr: with(Operation::kOr); return;
      case Op::kXor: with(Operation::kXor); return;
      case Op::kShl: with(Operation::kSll); break;
      case Op::kShr: with(is_signed ? Operation::kSra : Operation::kSrl); return;
      default: return;
    }
    fit(a, type);
  }

  void compare(Op op, bool is_signed, unsigned r, unsigned a, unsigned b) {
    const bool swapped = op == Op::kGt || op == Op::kGe;
    if (swapped) std::swap(a, b);
    switch (op) {
      case Op::kEq: put(Operation::kSeq, r, a, b); return;
      case Op::kNe: put(Operation::kSne, r, a, b); return;
      case Op::kLt:
      case Op::kGt: put(is_signed ? Operation::kSlt : Operation::kSult, r, a, b); return;
      default: put(is_signed ? Operation::kSle : Operation::kSule, r, a, b); return;
    }
  }

  /// A register that is 0 or not: what && and || leave need not be 1.
  unsigned condition(const Node* n) {
    if (n->kind != Kind::kBinary || (n->op != Op::kLogicalAnd && n->op != Op::kLogicalOr)) return value(n);
    place_ = n->place;
    const unsigned r = take();
    next_ = r;
    condition(n->children[0]);
    const std::size_t end = put(n->op == Op::kLogicalAnd ? Operation::kJz : Operation::kJnz, 0, r);
    next_ = r;
    condition(n->children[1]);
    here(end);
    next_ = r + 1;
    return r;
  }

  void binary(const Node* n, unsigned r) {
    const Node *left = n->children[0], *right = n->children[1];
    if (n->op == Op::kLogicalAnd || n->op == Op::kLogicalOr) {
      condition(n);
      if (!is_boolean(left) || !is_boolean(right) || left->op >= Op::kLogicalAnd ||
          right->op >= Op::kLogicalAnd)
        truth(r);
      return;
    }
    value(left);
    if (n->op == Op::kLogicalXor) {
      truth(r);
      const unsigned b = value(right);
      truth(b);
      put(Operation::kXor, r, r, b);
      return;
    }
    const unsigned b = value(right);
    if (n->op >= Op::kEq && n->op <= Op::kGe) {
      if (types_.is_text(left->type) && types_.is_text(right->type)) {
        put(Operation::kScmp, r, r, b);
        number(b, 0);
        compare(n->op, true, r, r, b);
      } else {
        const bool is_signed =
            types_.is_integer(left->type) && types_.is_integer(right->type) && types_.is_signed(left->type);
        compare(n->op, is_signed, r, r, b);
      }
      return;
    }
    const bool left_address = !types_.is_integer(left->type), right_address = !types_.is_integer(right->type);
    if (left_address && right_address) {
      put(Operation::kSub, r, r, b);
      const std::uint64_t bytes = std::max<std::uint32_t>(types_.bytes(types_.base(left->type).element), 1);
      if (bytes > 1) {
        number(b, bytes);
        put(Operation::kSdiv, r, r, b);
      }
    } else if (left_address) {
      scale(b, pointed_bytes(n->type));
      put(n->op == Op::kAdd ? Operation::kAdd : Operation::kSub, r, r, b);
    } else {
      arithmetic(n->op, n->type, r, b);
    }
  }

  void assign(const Node* n, unsigned r) {
    const Node *to = n->children[0], *from = n->children[1];
    if (n->op == Op::kNone) {
      value(from);
      const Target t = target(to);
      store(t, r);
      return;
    }
    next_ = r + 1;
    const Target t = target(to);
    load(t, r);
    const unsigned b = value(from);
    if (types_.is_pointer(to->type)) {
      scale(b, pointed_bytes(to->type));
      put(n->op == Op::kAdd ? Operation::kAdd : Operation::kSub, r, r, b);
    } else {
      const bool shift = n->op == Op::kShl || n->op == Op::kShr;
      const TypeId type = shift ? types_.promoted(to->type) : types_.common(to->type, from->type);
      convert(r, to->type, type);
      if (!shift) convert(b, from->type, type);
      arithmetic(n->op, type, r, b);
      convert(r, type, to->type);
    }
    store(t, r);
  }

  /// t := the value of a key; no term where there is none. t: the next register of terms.
  void map_value(const Node* n, unsigned t) {
    const Node *key = n->children[0], *map = n->children[1];
    const unsigned mark = next_, r = value(key);
    term(map);
    put(types_.is_integer(key->type) ? Operation::kTgeti : Operation::kTgets, t, t, r);
    next_ = mark;
    next_term_ = t + 1;
  }

  unsigned term(const Node* n) {
    place_ = n->place;
    const unsigned t = take_term();
    if (is_reference(n, Where::kTerm)) {
      put(Operation::kTarg, t, 0, 0, n->index);
      return t;
    }
    if (is_reference(n, Where::kBuiltin)) {
      put(Operation::kTbuiltin, t, 0, 0, n->index);
      return t;
    }
    if (n->kind != Kind::kCall)
      fail(n->place, "D_OP_DYN", "a term can only be an argument, or a part of one");
    next_term_ = t;
    if (n->text == "map_get") {
      map_value(n, t);
      return t;
    }
    term(n->children[0]);
    const unsigned mark = next_, which = n->children.size() > 1 ? value(n->children[1]) : take();
    if (n->children.size() < 2) number(which, 0);
    put(Operation::kTcall, t, t, which, n->index);
    next_ = mark;
    return t;
  }

  void call(const Node* n, unsigned r) {
    const std::string& name = n->text;
    if (name == "speculation") {
      put(Operation::kSpec, r);
    } else if (name == "alloca") {
      value(n->children[0]);
      put(Operation::kAlloc, r, r);
    } else if (name == "bcopy") {
      value(n->children[0]);
      const unsigned to = value(n->children[1]);
      put(Operation::kCopy, to, r, 0, static_cast<std::int64_t>(n->children[2]->value));
    } else if (name == "copyinstr") {
      value(n->children[0]);
      put(Operation::kArgof, r, r);
    } else if (name == "is_map_key") {
      const unsigned mark = next_term_;
      map_value(n, mark);
      put(Operation::kTis, r, mark);
      next_term_ = mark;
    } else if (name == "term2str") {
      const unsigned mark = next_term_;
      put(Operation::kTtext, r, term(n->children[0]));
      next_term_ = mark;
    } else if (kSubroutines[n->index].of_term) {
      const unsigned mark = next_term_;
      put(Operation::kTint, r, term(n->children[0]), 0, n->index);
      next_term_ = mark;
    } else {
      if (n->children.empty()) number(r, 0);
      for (const Node* argument : n->children) value(argument);
      put(Operation::kCall, r, r, static_cast<unsigned>(n->children.size()), n->index);
      if (types_.is_integer(n->type)) fit(r, n->type);
    }
  }

  // --- Statements ---

  void field(const Node* n, const Field& f) {
    const unsigned mark = next_, terms = next_term_;
    if (f.kind == Field::Kind::kText && n->kind == Kind::kConditional) {
      // arg1 != 0 ? copyinstr(arg1) : "": each way puts its own, so that no text is made.
      const std::size_t no = put(Operation::kJz, 0, condition(n->children[0]));
      next_ = mark;
      field(n->children[1], f);
      const std::size_t end = put(Operation::kJump);
      here(no);
      field(n->children[2], f);
      here(end);
      return;
    }
    switch (f.kind) {
      case Field::Kind::kText:
        if (is_reference(n, Where::kArgumentText)) put(Operation::kFarg, 0, 0, 0, n->index);
        else if (is_reference(n, Where::kBuiltin)) put(Operation::kFbuiltin, 0, 0, 0, n->index);
        else if (n->kind == Kind::kCall && n->text == "term2str")
          put(Operation::kFterm, term(n->children[0]), 0, 0, f.most);
        else put(Operation::kFs, value(n));
        break;
      case Field::Kind::kInteger: put(Operation::kFi, value(n)); break;
      case Field::Kind::kBytes: put(Operation::kFb, value(n), 0, 0, f.most); break;
      case Field::Kind::kStack: put(Operation::kFstack, 0, 0, 0, frames(n)); break;
    }
    next_ = mark;
    next_term_ = terms;
  }

  void action(const Node* call) {
    if (call->text == "speculate" || call->text == "commit" || call->text == "discard") {
      const unsigned r = value(call->children[0]);
      put(call->text == "speculate" ? Operation::kSpecto
          : call->text == "commit"  ? Operation::kCommit
                                    : Operation::kDiscard,
          r);
      return;
    }
    const ActionInfo& info = script_.actions[call->index];
    put(Operation::kBegin, 0, 0, 0, call->index);
    switch (info.kind) {
      case ActionKind::kUstack:
      case ActionKind::kJstack: field(call, info.fields[0]); return;
      case ActionKind::kPrinta: return;
      case ActionKind::kTracemem:
        field(call->children[0], info.fields[0]);
        if (info.fields.size() > 1) field(call->children[2], info.fields[1]);
        return;
      case ActionKind::kTrace:
      case ActionKind::kPrint:
      case ActionKind::kSetopt:
        for (std::size_t i = 0; i < info.fields.size(); i++) field(call->children[i], info.fields[i]);
        return;
      case ActionKind::kExit: {
        const unsigned r = value(call->children[0]);
        put(Operation::kFi, r);
        put(Operation::kExit, r);
        return;
      }
      default:  // the first argument is a format or an aggregation
        for (std::size_t i = 0; i < info.fields.size(); i++) field(call->children[i + 1], info.fields[i]);
        return;
    }
  }

  void aggregation(const Statement& s) {
    const Node *target = s.expression, *function = s.function;
    const Aggregation& a = program().aggregations[target->index];
    const std::vector<Key> keys = prepare_keys(target->children, nullptr);
    const unsigned what = take();
    next_ = what;
    unsigned times = what;
    if (a.how == Aggregating::kCount) {
      number(take(), 1);
    } else {
      value(function->children[0]);
      const std::size_t increment = a.how == Aggregating::kLquantize    ? 4
                                    : a.how == Aggregating::kLlquantize ? 5
                                                                        : 1;
      if (function->children.size() > increment && a.how >= Aggregating::kQuantize)
        times = value(function->children[increment]);
      else number(times = take(), 1);
    }
    push_keys(keys);
    put(Operation::kAgg, what, times, 0, target->index);
  }

  void statement(const Statement& s) {
    place_ = s.place;
    next_ = next_term_ = 0;
    switch (s.kind) {
      case Statement::Kind::kAggregation: return aggregation(s);
      case Statement::Kind::kIf: {
        const std::size_t no = put(Operation::kJz, 0, condition(s.expression));
        statements(s.then);
        if (s.otherwise.empty()) {
          here(no);
          return;
        }
        const std::size_t end = put(Operation::kJump);
        here(no);
        statements(s.otherwise);
        here(end);
        return;
      }
      case Statement::Kind::kExpression: break;
    }
    if (s.expression->kind == Kind::kCall && is_action(s.expression->text)) return action(s.expression);
    value(s.expression);
  }

  void statements(const std::vector<Statement>& list) {
    for (const Statement& s : list) statement(s);
  }

  Script& script_;
  Types& types_;
  const Symbols& symbols_;
  std::vector<Instruction>* code_ = nullptr;
  std::map<std::uint64_t, std::size_t> constants_;
  std::map<std::string, std::size_t> texts_;
  unsigned next_ = 0, next_term_ = 0;
  Place place_;
};

}  // namespace

void emit(Script& script, Types& types, Checker& checker) {
  Emitter emitter(script, types, checker.symbols());
  for (CheckedClause& clause : checker.clauses()) emitter.clause(clause);
}

}  // namespace vmrun::d::lang
