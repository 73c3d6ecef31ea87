// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/print_core.hpp"

#include <unordered_map>

#include "vm/term/print.hpp"

namespace vmrun::compile::core {

namespace {

const char* const kFailNames[] = {"function_clause", "case_clause", "badmatch",  "if_clause",
                                  "try_clause",      "else_clause", "badrecord", "impossible"};
const char* const kPrimNames[] = {"build_stacktrace", "raw_raise", "bs_init_writable"};
const char* const kSegmentNames[] = {"integer", "float", "binary", "utf8", "utf16", "utf32"};

class Printer {
 public:
  std::string run(const Module& m) {
    out_ = "module " + term_text(m.name) + " [";
    const char* comma = "";
    for (const Export& e : m.exports) {
      out_ += comma + term_text(e.name) + "/" + std::to_string(e.arity);
      comma = ", ";
    }
    out_ += "]\n";
    for (const FunDef* f : m.functions) {
      out_ += "\n" + term_text(f->name) + "/" + std::to_string(f->arity) + " =";
      function(f->params, f->body);
      out_ += "\n";
    }
    return std::move(out_);
  }

 private:
  void line() { out_ += "\n" + std::string(2 * depth_, ' '); }
  /// Prints an expression on lines of its own, indented further.
  void inner(const Expr* e) {
    ++depth_;
    line();
    expr(*e);
    --depth_;
  }
  template <class List, class F>
  void separated(const List& items, F&& print) {
    const char* comma = "";
    for (const auto& i : items) {
      out_ += comma;
      comma = ", ";
      print(i);
    }
  }
  void list(ExprList items) {
    separated(items, [&](const Expr* e) { expr(*e); });
  }

  std::string name(const Var* v) {
    auto [known, fresh] = names_.try_emplace(v);
    if (fresh) {
      const std::string base(v->name.empty() ? "_" : v->name);
      const unsigned n = ++numbers_[base];
      known->second = n == 1 && base != "_" ? base : base + "@" + std::to_string(n);
    }
    return known->second;
  }
  void variables(std::span<Var* const> vars) {
    out_ += "<";
    separated(vars, [&](const Var* v) { out_ += name(v); });
    out_ += ">";
  }
  void function(std::span<Var* const> params, const Expr* body) {
    ++depth_;
    line();
    out_ += "fun (";
    separated(params, [&](const Var* v) { out_ += name(v); });
    out_ += ") ->";
    inner(body);
    --depth_;
  }

  void spec(const SegSpec& s) {
    out_ += std::string("/") + kSegmentNames[static_cast<std::size_t>(s.type)];
    if (s.is_signed) out_ += "-signed";
    if (s.little) out_ += "-little";
    if (s.native) out_ += "-native";
    if (s.type < SegType::kUtf8) out_ += "-unit:" + std::to_string(s.unit);
  }
  void size(const Expr* e) {
    if (!e) return;
    out_ += ":";
    expr(*e);
  }

  /// Prints the start of a native record.
  void record(Term id) {
    out_ += "#";
    if (!id.is_value()) out_ += "_";
    else if (id.is_atom()) out_ += term_text(id);
    else out_ += term_text(id.element(0)) + ":" + term_text(id.element(1));
    out_ += "{";
  }

  void pattern(const Pat* p) {
    switch (p->kind) {
      case PatKind::kWild: out_ += "_"; return;
      case PatKind::kVar: out_ += name(p->as<PVar>().var); return;
      case PatKind::kLiteral: out_ += term_text(p->as<PLiteral>().value); return;
      case PatKind::kCons:
        out_ += "[";
        pattern(p->as<PCons>().head);
        out_ += " | ";
        pattern(p->as<PCons>().tail);
        out_ += "]";
        return;
      case PatKind::kTuple:
        out_ += "{";
        separated(p->as<PTuple>().elements, [&](const Pat* e) { pattern(e); });
        out_ += "}";
        return;
      case PatKind::kMap:
        out_ += "#{";
        separated(p->as<PMap>().pairs, [&](const PMapPair& pair) {
          expr(*pair.key);
          out_ += " := ";
          pattern(pair.value);
        });
        out_ += "}";
        return;
      case PatKind::kRecord:
        record(p->as<PRecord>().id);
        separated(p->as<PRecord>().pairs, [&](const PRecordPair& pair) {
          out_ += term_text(pair.field) + " = ";
          pattern(pair.value);
        });
        out_ += "}";
        return;
      case PatKind::kBinary:
        out_ += "<<";
        separated(p->as<PBinary>().segments, [&](const PSegment& s) {
          pattern(s.value);
          size(s.size);
          spec(s.spec);
        });
        out_ += ">>";
        return;
      case PatKind::kAlias:
        pattern(p->as<PAlias>().left);
        out_ += " = ";
        pattern(p->as<PAlias>().right);
        return;
    }
  }

  void clauses(ClauseList list) {
    ++depth_;
    for (const Clause* c : list) {
      line();
      out_ += "<";
      separated(c->patterns, [&](const Pat* p) { pattern(p); });
      out_ += ">";
      if (c->guard) {
        out_ += " when ";
        expr(*c->guard);
      }
      out_ += " ->";
      inner(c->body);
    }
    --depth_;
  }

  void between(const char* open, ExprList items, const char* close) {
    out_ += open;
    list(items);
    out_ += close;
  }
  void infix(const Expr* left, const char* word, const Expr* right) {
    out_ += "(";
    expr(*left);
    out_ += word;
    expr(*right);
    out_ += ")";
  }

  void expr(const Expr& e) {
    switch (e.kind) {
      case Kind::kLiteral: out_ += term_text(e.as<Literal>().value); return;
      case Kind::kVar: out_ += name(e.as<VarRef>().var); return;
      case Kind::kFunRef:
        out_ += "fun " + term_text(e.as<FunRef>().name) + "/" + std::to_string(e.as<FunRef>().arity);
        return;
      case Kind::kLambda: {
        const auto& f = e.as<Lambda>();
        if (f.self) out_ += name(f.self) + " =";
        function(f.params, f.body);
        return;
      }
      case Kind::kCons:
        out_ += "[";
        expr(*e.as<Cons>().head);
        out_ += " | ";
        expr(*e.as<Cons>().tail);
        out_ += "]";
        return;
      case Kind::kTuple: return between("{", e.as<Tuple>().elements, "}");
      case Kind::kMap:
        if (e.as<Map>().base != nullptr) expr(*e.as<Map>().base);
        out_ += "#{";
        separated(e.as<Map>().pairs, [&](const MapPair& pair) {
          expr(*pair.key);
          out_ += pair.exact ? " := " : " => ";
          expr(*pair.value);
        });
        out_ += "}";
        return;
      case Kind::kRecord:
        if (e.as<Record>().base != nullptr) expr(*e.as<Record>().base);
        record(e.as<Record>().id);
        separated(e.as<Record>().pairs, [&](const RecordPair& pair) {
          out_ += term_text(pair.field) + " = ";
          expr(*pair.value);
        });
        out_ += "}";
        return;
      case Kind::kBinary:
        out_ += "<<";
        separated(e.as<Binary>().segments, [&](const Segment& s) {
          expr(*s.value);
          size(s.size);
          spec(s.spec);
        });
        out_ += ">>";
        return;
      case Kind::kValues: return between("<", e.as<Values>().elements, ">");
      case Kind::kAllOf: return between("all(", e.as<AllOf>().tests, ")");
      case Kind::kAnyOf: return between("any(", e.as<AnyOf>().alternatives, ")");
      case Kind::kAndAlso: return infix(e.as<AndAlso>().left, " andalso ", e.as<AndAlso>().right);
      case Kind::kOrElse: return infix(e.as<OrElse>().left, " orelse ", e.as<OrElse>().right);
      default: return control(e);
    }
  }

  void control(const Expr& e) {
    switch (e.kind) {
      case Kind::kLet:
        out_ += "let ";
        variables(e.as<Let>().vars);
        out_ += " = ";
        expr(*e.as<Let>().arg);
        line();
        return expr(*e.as<Let>().body);
      case Kind::kSeq:
        out_ += "do ";
        expr(*e.as<Seq>().first);
        line();
        return expr(*e.as<Seq>().second);
      case Kind::kCase:
        between("case <", e.as<Case>().subjects, "> of");
        clauses(e.as<Case>().clauses);
        line();
        out_ += std::string("else ") + kFailNames[static_cast<std::size_t>(e.as<Case>().fail)];
        return;
      case Kind::kLetrec:
        for (const LetrecFun* f : e.as<Letrec>().funs) {
          out_ += "letrec " + std::string(f->name) + " =";
          function(f->params, f->body);
          line();
        }
        return expr(*e.as<Letrec>().body);
      case Kind::kApplyLocal:
        return between((term_text(e.as<ApplyLocal>().name) + "(").c_str(), e.as<ApplyLocal>().args, ")");
      case Kind::kApplyLetrec:
        return between((std::string(e.as<ApplyLetrec>().fun->name) + "(").c_str(), e.as<ApplyLetrec>().args,
                       ")");
      case Kind::kApply:
        out_ += "apply ";
        expr(*e.as<Apply>().fun);
        return between("(", e.as<Apply>().args, ")");
      case Kind::kCall:
        expr(*e.as<Call>().module);
        out_ += ":";
        expr(*e.as<Call>().function);
        return between("(", e.as<Call>().args, ")");
      case Kind::kPrimop:
        out_ += std::string("primop ") + kPrimNames[static_cast<std::size_t>(e.as<Primop>().op)];
        return between("(", e.as<Primop>().args, ")");
      case Kind::kReceive:
        out_ += "receive";
        clauses(e.as<Receive>().clauses);
        if (e.as<Receive>().timeout == nullptr) return;
        line();
        out_ += "after ";
        expr(*e.as<Receive>().timeout);
        out_ += " ->";
        return inner(e.as<Receive>().action);
      case Kind::kTry:
        out_ += "try";
        inner(e.as<Try>().arg);
        line();
        out_ += "of ";
        variables(e.as<Try>().vars);
        out_ += " ->";
        inner(e.as<Try>().body);
        line();
        out_ += "catch ";
        variables(e.as<Try>().evars);
        out_ += " ->";
        return inner(e.as<Try>().handler);
      case Kind::kCatch: out_ += "catch"; return inner(e.as<Catch>().body);
      default: return;
    }
  }

  std::string out_;
  std::size_t depth_ = 0;
  std::unordered_map<const Var*, std::string> names_;
  std::unordered_map<std::string, unsigned> numbers_;
};

}  // namespace

std::string print_core(const Module& module) { return Printer().run(module); }

}  // namespace vmrun::compile::core
