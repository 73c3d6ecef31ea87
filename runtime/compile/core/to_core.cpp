// Lowering of modules and functions; nodes, literals and scopes for the other to_core_*.cpp files.

#include "runtime/compile/core/to_core.hpp"

#include <algorithm>

#include "runtime/compile/core/to_core_state.hpp"
#include "runtime/compile/syntax/ast_walk.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/map.hpp"

namespace vmrun::compile {

core::Module to_core(Session& session, ModuleTables& tables, vmrun::Heap& literals,
                     const LowerOptions& options) {
  return Lowering(session, tables, literals).run(options);
}

// --- nodes and literals --------------------------------------------------------------------------

Term Lowering::atom(std::string_view name) {
  auto [it, fresh] = atoms_.try_emplace(name);
  if (fresh) it->second = try_intern_atom(name);
  if (!it->second.is_value()) {
    session_.diagnostics.error({}, "the atom table is full");
    it->second = Term::nil();
  }
  return it->second;
}

core::Expr* Lowering::integer_literal(Loc loc, int64_t v) { return literal(loc, make_integer(heap_, v)); }

core::Var* Lowering::fresh(std::string_view name) { return make<Var>(Var{name}); }

core::Expr* Lowering::call(Loc loc, std::string_view module, std::string_view name,
                           std::initializer_list<CExpr*> args) {
  return make<core::Call>(loc, atom_literal({}, module), atom_literal({}, name),
                          arena_.copy(args.begin(), args.size()));
}

core::Expr* Lowering::tuple(Loc loc, const std::vector<CExpr*>& elements) {
  if (!std::all_of(elements.begin(), elements.end(), is_literal))
    return make<core::Tuple>(loc, keep(elements));
  if (elements.empty()) return literal(loc, empty_tuple());
  Term* hp = heap_.alloc(elements.size() + 1);
  hp[0] = Term::header(Term::Sub::kTuple, elements.size());
  for (size_t i = 0; i < elements.size(); i++) hp[i + 1] = literal_of(elements[i]);
  return literal(loc, Term::boxed(hp));
}

core::Expr* Lowering::cons(Loc loc, CExpr* head, CExpr* tail) {
  if (!is_literal(head) || !is_literal(tail)) return make<core::Cons>(loc, head, tail);
  Term* hp = heap_.alloc(2);
  return literal(loc, make_cons(hp, literal_of(head), literal_of(tail)));
}

Term Lowering::string_term(std::u32string_view chars, Term tail) {
  if (chars.empty()) return tail;
  Term* hp = heap_.alloc(chars.size() * 2);
  for (size_t i = chars.size(); i-- > 0;)
    tail = make_cons(hp, Term::small(static_cast<SWord>(chars[i])), tail);
  return tail;
}

Term Lowering::integer_term(const IntegerExpr& e) {
  if (!e.big()) return make_integer(heap_, e.value);
  Term t = integer_from_text(heap_, e.digits, e.base);
  if (t.is_value()) return t;
  session_.diagnostics.error(e.loc, "integer literal is too large");
  return Term::small(0);
}

core::Expr* Lowering::fold_operator(Loc loc, std::string_view name, const std::vector<CExpr*>& args) {
  if (!std::all_of(args.begin(), args.end(), is_literal)) return nullptr;
  struct Row {
    std::string_view name;
    size_t arity;
    ArithOp op;
  };
  static constexpr Row kRows[] = {
      {"+", 2, ArithOp::kAdd},     {"-", 2, ArithOp::kSubtract}, {"*", 2, ArithOp::kMultiply},
      {"/", 2, ArithOp::kDivide},  {"div", 2, ArithOp::kDiv},    {"rem", 2, ArithOp::kRem},
      {"band", 2, ArithOp::kBand}, {"bor", 2, ArithOp::kBor},    {"bxor", 2, ArithOp::kBxor},
      {"bsl", 2, ArithOp::kBsl},   {"bsr", 2, ArithOp::kBsr},    {"-", 1, ArithOp::kNegate},
      {"+", 1, ArithOp::kPlus},    {"bnot", 1, ArithOp::kBnot},
  };
  for (const Row& row : kRows) {
    if (row.name != name || row.arity != args.size()) continue;
    Term a = literal_of(args[0]), b = args.size() > 1 ? literal_of(args[1]) : Term::small(0);
    if (!a.is_number() || !b.is_number()) return nullptr;
    // A program that says `1 bsl 1000000` means to compute it when it runs, not to carry it in its
    // file.
    if (row.op == ArithOp::kBsl && (!b.is_small() || b.small_value() > 1024)) return nullptr;
    Term t = arith(row.op, heap_, a, b);
    return t.is_value() ? literal(loc, t) : nullptr;
  }
  return nullptr;
}

Term Lowering::constant(const Expr& e, bool attribute) {
  switch (e.kind) {
    case ExprKind::kAtom: return atom(e.as<AtomExpr>().name);
    case ExprKind::kInteger: return integer_term(e.as<IntegerExpr>());
    case ExprKind::kFloat: {
      Term* hp = heap_.alloc(2);
      return make_float(hp, e.as<FloatExpr>().value);
    }
    case ExprKind::kString: return string_term(e.as<StringExpr>().chars, Term::nil());
    case ExprKind::kNil: return Term::nil();
    case ExprKind::kCons: {
      const auto& c = e.as<ConsExpr>();
      Term tail = constant(*c.tail, attribute);
      for (size_t i = c.elements.size(); i-- > 0 && tail.is_value();) {
        Term head = constant(*c.elements[i], attribute);
        if (!head.is_value()) return head;
        Term* hp = heap_.alloc(2);
        tail = make_cons(hp, head, tail);
      }
      return tail;
    }
    case ExprKind::kTuple: {
      std::vector<CExpr*> items;
      for (const Expr* item : e.as<TupleExpr>().elements) {
        Term t = constant(*item, attribute);
        if (!t.is_value()) return t;
        items.push_back(literal({}, t));
      }
      return literal_of(tuple({}, items));
    }
    case ExprKind::kMap: {
      const auto& m = e.as<MapExpr>();
      if (m.base != nullptr) return kNonValue;
      Term map = empty_map(heap_);
      for (const MapField& f : m.fields) {
        Term k = constant(*f.key, attribute), v = constant(*f.value, attribute);
        if (!k.is_value() || !v.is_value()) return kNonValue;
        map = map_put(heap_, map, k, v);
      }
      return map;
    }
    case ExprKind::kUnary: {
      const auto& u = e.as<UnaryExpr>();
      Term t = constant(*u.operand, attribute);
      if (!t.is_value()) return t;
      CExpr* folded = fold_operator(e.loc, token_spelling(u.op), {literal({}, t)});
      return folded != nullptr ? literal_of(folded) : kNonValue;
    }
    case ExprKind::kBinaryOp: {
      const auto& b = e.as<BinaryOpExpr>();
      Term x = constant(*b.left, attribute), y = constant(*b.right, attribute);
      if (!x.is_value() || !y.is_value()) return kNonValue;
      if (attribute && b.op == Tok::kSlash && x.is_atom())
        return literal_of(tuple({}, {literal({}, x), literal({}, y)}));
      CExpr* folded = fold_operator(e.loc, token_spelling(b.op), {literal({}, x), literal({}, y)});
      return folded != nullptr ? literal_of(folded) : kNonValue;
    }
    case ExprKind::kBinary: {
      std::vector<core::Segment> segments;
      Block block;
      for (const Segment& s : e.as<BinaryExpr>().segments) {
        bool plain = s.value->is(ExprKind::kInteger) || s.value->is(ExprKind::kString) ||
                     s.value->is(ExprKind::kFloat);
        if (!plain || (s.size != nullptr && !s.size->is(ExprKind::kInteger))) return kNonValue;
      }
      append_segments(e.as<BinaryExpr>(), block, segments);
      CExpr* folded = fold_binary(e.loc, segments);
      return folded != nullptr ? literal_of(folded) : kNonValue;
    }
    case ExprKind::kRecordIndex: {
      const auto& r = e.as<RecordIndexExpr>();
      return Term::small(record(r.name)->field_index(r.field) + 2);
    }
    default: return kNonValue;
  }
}

// --- scopes --------------------------------------------------------------------------------------

core::Var* Lowering::lookup(std::string_view name) const {
  if (std::ranges::find(hidden_.own, name) == hidden_.own.end())
    for (size_t i = hidden_.from; i < hidden_.to; i++)
      if (trail_[i].name == name) return trail_[i].previous;
  auto it = scope_.find(name);
  return it == scope_.end() ? nullptr : it->second;
}

void Lowering::bind_to(std::string_view name, Var* var) {
  Var*& slot = scope_[name];
  trail_.push_back({name, slot});
  slot = var;
}

core::Var* Lowering::bind(std::string_view name) {
  Var* v = fresh(name);
  bind_to(name, v);
  return v;
}

std::vector<std::pair<std::string_view, core::Var*>> Lowering::bound_since(size_t mark) const {
  std::vector<std::pair<std::string_view, Var*>> out;
  for (size_t i = mark; i < trail_.size(); i++) {
    auto same = [&](auto& p) { return p.first == trail_[i].name; };
    if (std::none_of(out.begin(), out.end(), same))
      out.emplace_back(trail_[i].name, scope_.at(trail_[i].name));
  }
  return out;
}

void Lowering::undo(size_t mark) {
  while (trail_.size() > mark) {
    scope_[trail_.back().name] = trail_.back().previous;
    trail_.pop_back();
  }
}

bool Lowering::bound_between(std::string_view name, size_t from, size_t to) const {
  return std::any_of(trail_.begin() + static_cast<ptrdiff_t>(from),
                     trail_.begin() + static_cast<ptrdiff_t>(to),
                     [&](const Binding& b) { return b.name == name; });
}

bool Lowering::bound_by_sibling(std::string_view name) const {
  return std::ranges::any_of(siblings_,
                             [&](auto& range) { return bound_between(name, range.first, range.second); });
}

Lowering::Siblings Lowering::hide_siblings() {
  const size_t now = mark();
  for (auto range = siblings_.rbegin(); range != siblings_.rend(); ++range)
    for (size_t i = range->second; i-- > range->first;)
      if (!bound_between(trail_[i].name, range->second, now)) bind_to(trail_[i].name, trail_[i].previous);
  return std::exchange(siblings_, {});
}

/// Numbers the occurrences of variables in one function clause, and notes where constructs end that
/// may hand variables on.
void Lowering::index_uses(const Expr& e) {
  clock_++;
  if (e.is(ExprKind::kVar)) last_use_[e.as<VarExpr>().name] = clock_;
  if (e.is(ExprKind::kTry)) {
    const auto& t = e.as<TryExpr>();
    for (const Expr* x : t.body) index_uses(*x);
    end_of_[t.body.back()] = clock_;
    for (ClauseList clauses : {t.of_clauses, t.catch_clauses})
      for (const Clause* c : clauses) for_each_child(*c, [&](const Expr& x) { index_uses(x); });
    for (const Expr* x : t.after) index_uses(*x);
    return;
  }
  for_each_child(e, [&](const Expr& x) { index_uses(x); });
  if (e.is(ExprKind::kCase) || e.is(ExprKind::kIf) || e.is(ExprKind::kReceive)) end_of_.emplace(&e, clock_);
}

bool Lowering::used_after(const Expr& construct, std::string_view name) const {
  auto end = end_of_.find(&construct);
  auto use = last_use_.find(name);
  return end != end_of_.end() && use != last_use_.end() && use->second > end->second;
}

// --- functions -----------------------------------------------------------------------------------

/// Parameters and body of a function or fun.
core::Expr* Lowering::function_body(Loc loc, ClauseList clauses, std::span<Var* const>& params) {
  size_t arity = clauses[0]->patterns.size();
  std::vector<Var*> vars;
  // The common case of one clause with plain distinct variables needs no case.
  bool plain = clauses.size() == 1 && clauses[0]->guards.empty();
  for (size_t i = 0; plain && i < arity; i++) {
    const Expr& p = *clauses[0]->patterns[i];
    plain = p.is(ExprKind::kVar);
    for (size_t k = 0; plain && k < i; k++)
      plain =
          p.as<VarExpr>().anonymous() || p.as<VarExpr>().name != clauses[0]->patterns[k]->as<VarExpr>().name;
  }
  size_t start = mark();
  CExpr* result;
  if (plain) {
    for (const Expr* p : clauses[0]->patterns) {
      const auto& v = p->as<VarExpr>();
      vars.push_back(v.anonymous() ? fresh() : bind(v.name));
    }
    result = body(clauses[0]->body);
  } else {
    std::vector<CExpr*> subjects;
    for (size_t i = 0; i < arity; i++) {
      vars.push_back(fresh());
      subjects.push_back(ref(vars[i]));
    }
    std::vector<core::Clause*> lowered;
    for (const Clause* c : clauses) {
      LoweredClause l = clause(*c, true);
      lowered.push_back(
          make<core::Clause>(core::Clause{c->loc, l.patterns, l.guard, finish(l.block, l.result)}));
    }
    result = make<core::Case>(loc, keep(subjects), keep(lowered), core::Fail::kFunctionClause);
  }
  undo(start);
  params = keep(vars);
  return result;
}

core::FunDef* Lowering::function(const FunctionForm& f) {
  fun_index_ = 0;
  letrec_index_ = 0;
  scope_.clear();
  trail_.clear();
  last_use_.clear();
  end_of_.clear();
  clock_ = 0;
  for (const Clause* c : f.clauses) for_each_child(*c, [&](const Expr& e) { index_uses(e); });
  core::FunDef* def = arena_.make<core::FunDef>(core::FunDef{atom(f.name), f.arity, {}, nullptr, f.loc});
  def->body = function_body(f.loc, f.clauses, def->params);
  return def;
}

namespace {

/// Two independent 64-bit FNV-1a sums: the default `vsn` only has to differ between versions of a
/// text.
uint64_t text_sum(std::string_view text, uint64_t seed) {
  uint64_t h = 1469598103934665603ull ^ seed;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

}  // namespace

core::Module Lowering::run(const LowerOptions& options) {
  core::Module m;
  m.name = atom(tables_.name);
  std::vector<core::FunDef*> functions;
  std::vector<core::FunDef*> nifs;
  std::vector<core::Export> exports;
  for (const FunctionForm* f : tables_.function_order) {
    functions.push_back(function(*f));
    if (tables_.on_load && tables_.on_load->name == FunctionName{f->name, f->arity})
      m.on_load = functions.back();
    const FunctionName name{f->name, f->arity};
    if (std::any_of(tables_.nifs.begin(), tables_.nifs.end(),
                    [&](const NamedFunction& n) { return n.name == name; }))
      nifs.push_back(functions.back());
    if (tables_.is_exported({f->name, f->arity})) exports.push_back({atom(f->name), f->arity});
  }
  if (!tables_.callbacks.empty() && !tables_.functions.count({"behaviour_info", 1})) {
    auto list = [&](bool optional) {
      Term t = Term::nil();
      for (size_t i = tables_.callbacks.size(); i-- > 0;) {
        const SpecForm& c = *tables_.callbacks[i];
        if (optional && !tables_.optional_callbacks.count({c.name, c.arity})) continue;
        CExpr* pair = tuple({}, {atom_literal({}, c.name), literal({}, Term::small(c.arity))});
        Term* hp = heap_.alloc(2);
        t = make_cons(hp, literal_of(pair), t);
      }
      return literal({}, t);
    };
    Var* what = fresh();
    auto row = [&](std::string_view name, CExpr* result) {
      core::Pat* p = literal_pattern(atom(name));
      return make<core::Clause>(core::Clause{{}, arena_.copy(&p, 1), nullptr, result});
    };
    std::vector<core::Clause*> clauses{row("callbacks", list(false)), row("optional_callbacks", list(true))};
    std::vector<CExpr*> subject{ref(what)};
    Loc loc = tables_.callbacks[0]->loc;
    functions.push_back(make<core::FunDef>(
        core::FunDef{atom("behaviour_info"), 1, arena_.copy(&what, 1),
                     make<core::Case>(loc, keep(subject), keep(clauses), core::Fail::kFunctionClause), loc}));
    exports.push_back({atom("behaviour_info"), 1});
  }

  std::vector<core::Attribute> attributes;
  bool has_version = false;
  for (const AttributeForm* a : tables_.attributes) {
    Term value = constant(*a->values[0], true);
    if (!value.is_value()) {
      session_.diagnostics.error(a->loc,
                                 format_message("bad attribute '%.*s': not a constant", VIEW(a->name)));
      continue;
    }
    if (a->name == "vsn") has_version = true;
    bool wrap = !value.is_nil() && !value.is_list();
    Term* hp = heap_.alloc(2);
    attributes.push_back({atom(a->name), wrap ? make_cons(hp, value, Term::nil()) : value});
  }
  if (!has_version) {
    std::string_view text = session_.sources.text(0);
    Term high = make_unsigned(heap_, text_sum(text, 1)), low = make_unsigned(heap_, text_sum(text, 2));
    Term version = big_bitwise(heap_, BitOp::kXor, big_shift_left(heap_, high, 64), low);
    Term* hp = heap_.alloc(2);
    attributes.insert(attributes.begin(), {atom("vsn"), make_cons(hp, version, Term::nil())});
  }

  std::vector<std::string_view> files;
  for (uint32_t i = 0; i < session_.sources.count(); i++) files.push_back(session_.sources.name(i));
  m.nifs = keep(nifs);
  m.exports = keep(exports);
  m.attributes = keep(attributes);
  m.functions = keep(functions);
  m.files = keep(files);
  m.source = options.source;
  return m;
}

}  // namespace vmrun::compile
