#include "runtime/compile/core_print.hpp"

#include <cstdio>
#include <unordered_map>

#include "runtime/compile/diagnostics.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/map.hpp"

namespace vmrun::compile {

namespace {

using core::Expr;
using core::Kind;
using core::PatKind;

class Printer {
 public:
  std::string module(const core::Module& m);

 private:
  void line() {
    out_ += '\n';
    out_.append(static_cast<size_t>(indent_) * 2, ' ');
  }
  void atom(std::string_view name);
  void term(Term t);
  void var(const core::Var* v);
  void wild() { out_ += "_W" + std::to_string(next_++); }
  std::string temporary() { return "T" + std::to_string(next_++); }
  void vars(std::span<core::Var* const> list);
  void list(core::ExprList items);
  void expr(const Expr& e);
  void binary_flags(const core::SegSpec& s);
  void pattern(const core::Pat& p);
  void guard(const Expr& e);
  void test(const Expr& e);
  void clauses(const core::Case& c);
  void clause(const core::Clause& c);
  void fun(std::span<core::Var* const> params, const Expr& body);
  void short_circuit(const Expr& left, const Expr& right, bool is_and);

  std::string out_;
  int indent_ = 1;
  unsigned next_ = 0;
  std::unordered_map<const core::Var*, unsigned> numbers_;
  std::unordered_map<const core::LetrecFun*, unsigned> funs_;
};

void Printer::atom(std::string_view name) {
  out_ += '\'';
  for (char c : name) {
    if (c == '\'' || c == '\\') out_ += '\\';
    if (static_cast<unsigned char>(c) < 32) out_ += format_message("\\%03o", static_cast<unsigned>(c));
    else out_ += c;
  }
  out_ += '\'';
}

void Printer::term(Term t) {
  if (t.is_atom()) return atom(atom_text(t));
  if (t.is_integer()) {
    out_ += integer_to_text(t, 10);
  } else if (t.is_float()) {
    char text[64];
    std::snprintf(text, sizeof text, "%.20e", float_of(t)->value);
    out_ += text;
  } else if (t.is_nil()) {
    out_ += "[]";
  } else if (t.is_list()) {
    out_ += '[';
    for (bool first = true; t.is_list(); t = t.tail(), first = false) {
      if (!first) out_ += ',';
      term(t.head());
    }
    if (!t.is_nil()) {
      out_ += '|';
      term(t);
    }
    out_ += ']';
  } else if (t.is_tuple()) {
    out_ += '{';
    for (Word i = 0; i < t.tuple_arity(); i++) {
      if (i > 0) out_ += ',';
      term(t.element(i));
    }
    out_ += '}';
  } else if (t.is_map()) {
    out_ += "~{";
    MapIterator it(t);
    Term k, v;
    for (bool first = true; it.next(&k, &v); first = false) {
      if (!first) out_ += ',';
      term(k);
      out_ += "=>";
      term(v);
    }
    out_ += "}~";
  } else if (t.is_bitstring()) {
    BitView bits = bits_of(t);
    out_ += "#{";
    for (Word at = 0; at < bits.size_bits;) {
      Word n = std::min<Word>(8, bits.size_bits - at);
      std::uint8_t byte = 0;
      copy_bits(&byte, 8 - n, bits.base, bits.offset_bits + at, n);
      out_ += format_message("%s#<%u>(%u,1,'integer',['unsigned'|['big']])", at > 0 ? "," : "", byte, static_cast<unsigned>(n));
      at += n;
    }
    out_ += "}#";
  }
}

void Printer::var(const core::Var* v) {
  auto [it, fresh] = numbers_.try_emplace(v, next_);
  if (fresh) next_++;
  std::string name;
  for (char c : v->name)
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_') name += c;
  out_ += "_" + name + "@" + std::to_string(it->second);
}

void Printer::vars(std::span<core::Var* const> list) {
  for (size_t i = 0; i < list.size(); i++) {
    if (i > 0) out_ += ", ";
    var(list[i]);
  }
}

void Printer::list(core::ExprList items) {
  for (size_t i = 0; i < items.size(); i++) {
    if (i > 0) out_ += ", ";
    expr(*items[i]);
  }
}

void Printer::fun(std::span<core::Var* const> params, const Expr& body) {
  out_ += "fun (";
  vars(params);
  out_ += ") ->";
  indent_++;
  line();
  expr(body);
  indent_--;
}

void Printer::binary_flags(const core::SegSpec& s) {
  static constexpr const char* kTypes[] = {"integer", "float", "binary", "utf8", "utf16", "utf32"};
  bool utf = s.type >= core::SegType::kUtf8;
  out_ += utf ? "'undefined'" : std::to_string(s.unit);
  out_ += format_message(",'%s',['%s'|['%s']])", kTypes[static_cast<int>(s.type)], s.is_signed ? "signed" : "unsigned",
                         s.native ? "native" : s.little ? "little" : "big");
}

void Printer::pattern(const core::Pat& p) {
  switch (p.kind) {
    case PatKind::kWild: wild(); return;
    case PatKind::kVar: var(p.as<core::PVar>().var); return;
    case PatKind::kLiteral: term(p.as<core::PLiteral>().value); return;
    case PatKind::kCons:
      out_ += '[';
      pattern(*p.as<core::PCons>().head);
      out_ += '|';
      pattern(*p.as<core::PCons>().tail);
      out_ += ']';
      return;
    case PatKind::kTuple: {
      out_ += '{';
      auto elements = p.as<core::PTuple>().elements;
      for (size_t i = 0; i < elements.size(); i++) {
        if (i > 0) out_ += ',';
        pattern(*elements[i]);
      }
      out_ += '}';
      return;
    }
    case PatKind::kMap: {
      out_ += "~{";
      bool first = true;
      for (const core::PMapPair& pair : p.as<core::PMap>().pairs) {
        if (!first) out_ += ',';
        first = false;
        expr(*pair.key);
        out_ += ":=";
        pattern(*pair.value);
      }
      out_ += "}~";
      return;
    }
    case PatKind::kBinary: {
      out_ += "#{";
      bool first = true;
      for (const core::PSegment& s : p.as<core::PBinary>().segments) {
        if (!first) out_ += ',';
        first = false;
        out_ += "#<";
        pattern(*s.value);
        out_ += ">(";
        if (s.size != nullptr) expr(*s.size);
        else out_ += s.spec.type == core::SegType::kBinary ? "'all'" : "'undefined'";
        out_ += ',';
        binary_flags(s.spec);
      }
      out_ += "}#";
      return;
    }
    case PatKind::kAlias: {
      const core::Pat* left = p.as<core::PAlias>().left;
      const core::Pat* right = p.as<core::PAlias>().right;
      if (right->kind == PatKind::kVar) std::swap(left, right);
      if (left->kind == PatKind::kWild) return pattern(*right);
      if (left->kind != PatKind::kVar) out_ += "\n%% not expressible\n";
      pattern(*left);
      out_ += " = ";
      pattern(*right);
      return;
    }
  }
}

/// A guard as one expression that gives a boolean and never raises.
void Printer::guard(const Expr& e) {
  out_ += "try ";
  test(e);
  std::string t = temporary();
  out_ += " of <" + t + "> -> " + t + " catch <" + t + "c," + t + "r> -> 'false'";
}

void Printer::test(const Expr& e) {
  auto both = [&](const char* op, const Expr& a, const Expr& b, bool protect_a) {
    out_ += format_message("call 'erlang':'%s'(", op);
    if (protect_a) guard(a);
    else test(a);
    out_ += ", ";
    guard(b);
    out_ += ")";
  };
  auto many = [&](const char* op, core::ExprList items, bool protect) {
    for (size_t i = 0; i + 1 < items.size(); i++) {
      out_ += format_message("call 'erlang':'%s'(", op);
      if (protect) guard(*items[i]);
      else test(*items[i]);
      out_ += ", ";
    }
    if (protect) guard(*items.back());
    else test(*items.back());
    out_.append(items.size() - 1, ')');
  };
  switch (e.kind) {
    case Kind::kAllOf: many("and", e.as<core::AllOf>().tests, false); return;
    case Kind::kAnyOf: many("or", e.as<core::AnyOf>().alternatives, true); return;
    case Kind::kAndAlso: both("and", *e.as<core::AndAlso>().left, *e.as<core::AndAlso>().right, false); return;
    case Kind::kOrElse: both("or", *e.as<core::OrElse>().left, *e.as<core::OrElse>().right, false); return;
    default: break;
  }
  out_ += "call 'erlang':'=:='(";
  expr(e);
  out_ += ", 'true')";
}

void Printer::clause(const core::Clause& c) {
  line();
  out_ += '<';
  for (size_t i = 0; i < c.patterns.size(); i++) {
    if (i > 0) out_ += ", ";
    pattern(*c.patterns[i]);
  }
  out_ += "> when ";
  if (c.guard == nullptr) out_ += "'true'";
  else guard(*c.guard);
  out_ += " ->";
  indent_++;
  line();
  expr(*c.body);
  indent_--;
}

void Printer::clauses(const core::Case& c) {
  out_ += "case <";
  list(c.subjects);
  out_ += "> of";
  indent_++;
  for (const core::Clause* k : c.clauses) clause(*k);
  line();
  std::vector<std::string> names;
  for (size_t i = 0; i < c.subjects.size(); i++) names.push_back(temporary());
  std::string all;
  for (auto& n : names) all += (all.empty() ? "" : ", ") + n;
  out_ += "<" + all + "> when 'true' -> ";
  switch (c.fail) {
    case core::Fail::kFunctionClause: out_ += "primop 'match_fail'({'function_clause'" + (all.empty() ? "" : ", " + all) + "})"; break;
    case core::Fail::kCaseClause: out_ += "primop 'match_fail'({'case_clause', " + all + "})"; break;
    case core::Fail::kBadmatch: out_ += "primop 'match_fail'({'badmatch', " + all + "})"; break;
    case core::Fail::kIfClause: out_ += "primop 'match_fail'('if_clause')"; break;
    case core::Fail::kTryClause: out_ += "primop 'match_fail'({'try_clause', " + all + "})"; break;
    case core::Fail::kElseClause: out_ += "call 'erlang':'error'({'else_clause', " + all + "})"; break;
    case core::Fail::kBadrecord: out_ += "call 'erlang':'error'({'badrecord', " + all + "})"; break;
    case core::Fail::kImpossible: out_ += "call 'erlang':'error'('impossible')"; break;
  }
  indent_--;
  line();
  out_ += "end";
}

void Printer::short_circuit(const Expr& left, const Expr& right, bool is_and) {
  out_ += "case ";
  expr(left);
  out_ += is_and ? " of <'false'> when 'true' -> 'false' <'true'> when 'true' -> " : " of <'true'> when 'true' -> 'true' <'false'> when 'true' -> ";
  expr(right);
  std::string t = temporary();
  out_ += " <" + t + "> when 'true' -> call 'erlang':'error'({'badarg'," + t + "}) end";
}

void Printer::expr(const Expr& e) {
  switch (e.kind) {
    case Kind::kLiteral: term(e.as<core::Literal>().value); return;
    case Kind::kVar: var(e.as<core::VarRef>().var); return;
    case Kind::kFunRef:
      term(e.as<core::FunRef>().name);
      out_ += format_message("/%u", e.as<core::FunRef>().arity);
      return;
    case Kind::kLambda: {
      const auto& l = e.as<core::Lambda>();
      if (l.self == nullptr) return fun(l.params, *l.body);
      std::string name = format_message("'self%u'/%zu", next_++, l.params.size());
      out_ += "letrec " + name + " = fun (";
      vars(l.params);
      out_ += ") -> let <";
      var(l.self);
      out_ += "> = " + name + " in ";
      expr(*l.body);
      out_ += " in " + name;
      return;
    }
    case Kind::kCons:
      out_ += '[';
      expr(*e.as<core::Cons>().head);
      out_ += '|';
      expr(*e.as<core::Cons>().tail);
      out_ += ']';
      return;
    case Kind::kTuple:
      out_ += '{';
      list(e.as<core::Tuple>().elements);
      out_ += '}';
      return;
    case Kind::kMap: {
      const auto& m = e.as<core::Map>();
      out_ += "~{";
      for (size_t i = 0; i < m.pairs.size(); i++) {
        if (i > 0) out_ += ',';
        expr(*m.pairs[i].key);
        out_ += m.pairs[i].exact ? ":=" : "=>";
        expr(*m.pairs[i].value);
      }
      if (m.base != nullptr) {
        out_ += '|';
        expr(*m.base);
      }
      out_ += "}~";
      return;
    }
    case Kind::kBinary: {
      out_ += "#{";
      bool first = true;
      for (const core::Segment& s : e.as<core::Binary>().segments) {
        if (!first) out_ += ',';
        first = false;
        out_ += "#<";
        expr(*s.value);
        out_ += ">(";
        if (s.size != nullptr) expr(*s.size);
        else out_ += s.spec.type == core::SegType::kBinary ? "'all'" : "'undefined'";
        out_ += ',';
        binary_flags(s.spec);
      }
      out_ += "}#";
      return;
    }
    case Kind::kValues:
      out_ += '<';
      list(e.as<core::Values>().elements);
      out_ += '>';
      return;
    case Kind::kLet:
      out_ += "let <";
      vars(e.as<core::Let>().vars);
      out_ += "> = ";
      indent_++;
      expr(*e.as<core::Let>().arg);
      indent_--;
      line();
      out_ += "in ";
      expr(*e.as<core::Let>().body);
      return;
    case Kind::kSeq:
      out_ += "do ";
      expr(*e.as<core::Seq>().first);
      line();
      expr(*e.as<core::Seq>().second);
      return;
    case Kind::kCase: clauses(e.as<core::Case>()); return;
    case Kind::kLetrec: {
      out_ += "letrec ";
      for (const core::LetrecFun* f : e.as<core::Letrec>().funs) {
        funs_.emplace(f, next_++);
        atom(std::string(f->name) + "@" + std::to_string(funs_[f]));
        out_ += format_message("/%zu = ", f->params.size());
        fun(f->params, *f->body);
        line();
      }
      out_ += "in ";
      expr(*e.as<core::Letrec>().body);
      return;
    }
    case Kind::kApplyLocal:
      out_ += "apply ";
      term(e.as<core::ApplyLocal>().name);
      out_ += format_message("/%zu(", e.as<core::ApplyLocal>().args.size());
      list(e.as<core::ApplyLocal>().args);
      out_ += ')';
      return;
    case Kind::kApplyLetrec: {
      const auto& a = e.as<core::ApplyLetrec>();
      out_ += "apply ";
      atom(std::string(a.fun->name) + "@" + std::to_string(funs_[a.fun]));
      out_ += format_message("/%zu(", a.args.size());
      list(a.args);
      out_ += ')';
      return;
    }
    case Kind::kApply:
      out_ += "let <";
      {
        std::string f = temporary();
        out_ += f + "> = ";
        expr(*e.as<core::Apply>().fun);
        out_ += " in apply " + f + "(";
      }
      list(e.as<core::Apply>().args);
      out_ += ')';
      return;
    case Kind::kCall:
      out_ += "call ";
      expr(*e.as<core::Call>().module);
      out_ += ':';
      expr(*e.as<core::Call>().function);
      out_ += '(';
      list(e.as<core::Call>().args);
      out_ += ')';
      return;
    case Kind::kPrimop: {
      static constexpr const char* kNames[] = {"build_stacktrace", "raw_raise", "bs_init_writable"};
      out_ += format_message("primop '%s'(", kNames[static_cast<int>(e.as<core::Primop>().op)]);
      list(e.as<core::Primop>().args);
      out_ += ')';
      return;
    }
    case Kind::kReceive: {
      const auto& r = e.as<core::Receive>();
      out_ += "receive";
      indent_++;
      for (const core::Clause* c : r.clauses) clause(*c);
      indent_--;
      line();
      out_ += "after ";
      if (r.timeout != nullptr) {
        expr(*r.timeout);
        out_ += " -> ";
        expr(*r.action);
      } else {
        out_ += "'infinity' -> 'true'";
      }
      return;
    }
    case Kind::kTry: {
      const auto& t = e.as<core::Try>();
      out_ += "try ";
      indent_++;
      line();
      expr(*t.arg);
      indent_--;
      line();
      out_ += "of <";
      vars(t.vars);
      out_ += "> -> ";
      expr(*t.body);
      line();
      out_ += "catch <";
      vars(t.evars);
      out_ += "> -> ";
      expr(*t.handler);
      return;
    }
    case Kind::kCatch:
      out_ += "catch ";
      expr(*e.as<core::Catch>().body);
      return;
    case Kind::kAndAlso: short_circuit(*e.as<core::AndAlso>().left, *e.as<core::AndAlso>().right, true); return;
    case Kind::kOrElse: short_circuit(*e.as<core::OrElse>().left, *e.as<core::OrElse>().right, false); return;
    case Kind::kAllOf:
    case Kind::kAnyOf: test(e); return;
  }
}

std::string Printer::module(const core::Module& m) {
  out_ += "module ";
  term(m.name);
  out_ += " ['module_info'/0,'module_info'/1";
  for (const core::Export& e : m.exports) {
    out_ += ",\n  ";
    term(e.name);
    out_ += format_message("/%u", e.arity);
  }
  out_ += "]\n  attributes [";
  bool first = true;
  for (const core::Attribute& a : m.attributes) {
    if (!first) out_ += ",\n    ";
    first = false;
    term(a.name);
    out_ += " = ";
    term(a.value);
  }
  out_ += "]\n";
  for (const core::FunDef* f : m.functions) {
    term(f->name);
    out_ += format_message("/%u = ", f->arity);
    fun(f->params, *f->body);
    out_ += "\n";
  }
  for (int arity = 0; arity < 2; arity++) {
    out_ += format_message("'module_info'/%d = fun (%s) -> call 'erlang':'get_module_info'(", arity, arity ? "X" : "");
    term(m.name);
    out_ += arity ? ", X)\n" : ")\n";
  }
  out_ += "end\n";
  return std::move(out_);
}

}  // namespace

std::string print_core(const core::Module& module) { return Printer().module(module); }

}  // namespace vmrun::compile
