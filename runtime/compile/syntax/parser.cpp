#include "runtime/compile/syntax/parser.hpp"

#include <charconv>
#include <cmath>
#include <string>

#include "runtime/compile/syntax/parser_nest.hpp"

namespace vmrun::compile {

// --- tokens --------------------------------------------------------------------------------------

const Token& Parser::peek(size_t ahead) const {
  size_t i = next_ + ahead;
  return i < tokens_.size() ? tokens_[i] : tokens_.back();
}

const Token& Parser::take() {
  const Token& t = peek();
  if (next_ < tokens_.size()) next_++;
  return t;
}

bool Parser::take_if(Tok kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

const Token& Parser::expect(Tok kind, std::string_view wanted) {
  if (!at(kind)) fail_here(wanted);
  return take();
}

void Parser::expect_close(Tok kind, const Token& open) {
  if (take_if(kind)) return;
  std::string wanted = format_message("',' or '%.*s'", VIEW(token_spelling(kind)));
  if (kind == Tok::kEnd) wanted = "'end'";
  if (open.loc.line != peek().loc.line)
    wanted += format_message(" to close '%.*s' of line %u", VIEW(token_spelling(open.kind)), open.loc.line);
  fail_here(wanted);
}

void Parser::fail_at(Loc loc, std::string message) {
  session_.diagnostics.error(loc, std::move(message));
  throw Abort{};
}

void Parser::fail_here(std::string_view wanted) {
  const Token& t = peek();
  if (t.kind == Tok::kError) fail_at(t.loc, std::string(t.text));
  std::string message = "syntax error before " + describe_token(t);
  if (t.kind == Tok::kEof) fail_at(t.loc, "unexpected end of file: the last form does not end with '.'");
  if (!wanted.empty()) message += ": expected " + std::string(wanted);
  fail_at(t.loc, std::move(message));
}

void Parser::fail_nesting() {
  fail_at(peek().loc, format_message("nesting too deep: more than %u levels", kMaxNesting));
}

// --- operators -----------------------------------------------------------------------------------

namespace {

struct Precedence {
  int level = -1;  // -1: not a binary operator
  bool right = false;
  bool chains = true;  // comparisons do not
};

// Reference manual, "Operator Precedence".
Precedence precedence_of(Tok kind) {
  switch (kind) {
    case Tok::kEqual:
    case Tok::kBang: return {100, true};
    case Tok::kOrelse: return {150, true};
    case Tok::kAndalso: return {160, true};
    case Tok::kEqEq:
    case Tok::kNotEq:
    case Tok::kExactEq:
    case Tok::kExactNe:
    case Tok::kLess:
    case Tok::kLessEq:
    case Tok::kGreater:
    case Tok::kGreaterEq: return {200, false, false};
    case Tok::kPlusPlus:
    case Tok::kMinusMinus: return {300, true};
    case Tok::kPlus:
    case Tok::kMinus:
    case Tok::kBor:
    case Tok::kBxor:
    case Tok::kBsl:
    case Tok::kBsr:
    case Tok::kOr:
    case Tok::kXor: return {400};
    case Tok::kStar:
    case Tok::kSlash:
    case Tok::kDiv:
    case Tok::kRem:
    case Tok::kBand:
    case Tok::kAnd: return {500};
    default: return {};
  }
}

}  // namespace

const Expr* Parser::parse_expr(int min_precedence) {
  Nest nest(*this);
  uint32_t outer_peak = peak_;
  peak_ = depth_;
  const Expr* left = parse_unary();
  for (;;) {
    Precedence p = precedence_of(peek().kind);
    if (p.level < 0 || p.level < min_precedence) break;
    const Token& op = take();
    const Expr* right = parse_expr(p.right ? p.level : p.level + 1);
    if (op.kind == Tok::kEqual) {
      left = make<MatchExpr>(op.loc, left, right);
    } else {
      left = make<BinaryOpExpr>(op.loc, op.kind, left, right);
    }
    if (++peak_ > kMaxNesting) fail_nesting();
    if (!p.chains && precedence_of(peek().kind).level == p.level)
      fail_here("parentheses: comparisons do not chain");
  }
  if (outer_peak > peak_) peak_ = outer_peak;
  return left;
}

const Expr* Parser::parse_unary() {
  const Token& t = peek();
  switch (t.kind) {
    case Tok::kCatch: {
      take();
      return make<CatchExpr>(t.loc, parse_expr());
    }
    case Tok::kPlus:
    case Tok::kMinus:
    case Tok::kBnot:
    case Tok::kNot: {
      Nest nest(*this);
      take();
      return make<UnaryExpr>(t.loc, t.kind, parse_unary());
    }
    default: return parse_postfix();
  }
}

const Expr* Parser::parse_postfix() {
  const Expr* e = at(Tok::kHash) ? parse_hash(nullptr) : parse_primary();
  for (uint32_t chain = 0; at(Tok::kHash); chain++) {
    e = parse_hash(e);
    if (++peak_ > kMaxNesting) fail_nesting();
  }
  if (at(Tok::kColon) && !in_catch_pattern_) {
    Loc loc = take().loc;
    e = make<RemoteExpr>(loc, e, parse_primary());
    if (!at(Tok::kLParen)) fail_here("'(' and the arguments of a call");
  }
  if (!at(Tok::kLParen)) return e;
  const Token& open = take();
  ExprList args = parse_exprs_until(Tok::kRParen, open);
  return make<CallExpr>(e->is(ExprKind::kRemote) ? e->as<RemoteExpr>().module->loc : e->loc, e, args);
}

/// `#name{…}`, `#name.field`, `#{…}`, with or without an expression before.
const Expr* Parser::parse_hash(const Expr* base) {
  Nest nest(*this);
  const Token& hash = expect(Tok::kHash, "'#'");
  if (at(Tok::kLBrace)) return parse_map_fields(hash.loc, base);
  const Token& name = expect(Tok::kAtom, "a record name or '{'");
  if (take_if(Tok::kPoint)) {
    const Token& field = expect(Tok::kAtom, "a record field name");
    if (base != nullptr) return make<RecordFieldExpr>(hash.loc, base, name.text, field.text, field.loc);
    return make<RecordIndexExpr>(hash.loc, name.text, field.text, field.loc);
  }
  const Token& open = expect(Tok::kLBrace, "'{' or '.' after a record name");
  std::vector<RecordFieldInit> fields;
  while (!at(Tok::kRBrace)) {
    const Token& field = take();
    if (field.kind != Tok::kAtom && field.kind != Tok::kVar) {
      next_--;
      fail_here("a record field name");
    }
    if (field.kind == Tok::kVar && field.text != "_") {
      next_--;
      fail_here("a record field name (an atom or '_')");
    }
    expect(Tok::kEqual, "'=' after a record field name");
    fields.push_back({field.loc, field.text, parse_expr()});
    if (!at(Tok::kRBrace) && !take_if(Tok::kComma)) expect_close(Tok::kRBrace, open);
    else if (at(Tok::kRBrace) && peek(-1).kind == Tok::kComma) fail_here("a record field name");
  }
  take();
  return make<RecordExpr>(hash.loc, base, name.text, keep(fields));
}

const Expr* Parser::parse_map_fields(Loc loc, const Expr* base) {
  const Token& open = expect(Tok::kLBrace, "'{'");
  std::vector<MapField> fields;
  if (take_if(Tok::kRBrace)) return make<MapExpr>(loc, base, keep(fields));
  for (;;) {
    const Expr* key = parse_expr();
    const Token& op = peek();
    if (op.kind != Tok::kMapAssoc && op.kind != Tok::kMapExact) fail_here("'=>' or ':=' after a map key");
    take();
    const Expr* value = parse_expr();
    if (base == nullptr && fields.empty() && at(Tok::kDoubleBar)) {
      if (op.kind == Tok::kMapExact) fail_at(op.loc, "illegal ':=' in a map comprehension: expected '=>'");
      return finish_comprehension(loc, ComprehensionKind::kMap, value, key, Tok::kRBrace, open);
    }
    fields.push_back({op.loc, op.kind == Tok::kMapExact, key, value});
    if (take_if(Tok::kComma)) continue;
    expect_close(Tok::kRBrace, open);
    return make<MapExpr>(loc, base, keep(fields));
  }
}

// --- primaries -----------------------------------------------------------------------------------

const Expr* Parser::integer_of(const Token& t) {
  IntegerExpr* e = session_.arena.make<IntegerExpr>(t.loc);
  int64_t value = 0;
  auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value, t.base);
  if (error == std::errc() && value < (int64_t{1} << 62)) {
    e->value = value;
  } else {
    e->digits = t.text;
    e->base = t.base;
  }
  return e;
}

const Expr* Parser::float_of(const Token& t) {
  double value = 0;
  auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
  if (error == std::errc::result_out_of_range && value == 0 && t.text.find("e-") != std::string_view::npos)
    value = 0;  // too small: rounds to zero
  else if (error != std::errc() || !std::isfinite(value))
    fail_at(t.loc, "illegal float: too large for a 64-bit float");
  return make<FloatExpr>(t.loc, value);
}

/// Adjacent strings are one.
const Expr* Parser::string_of() {
  const Token& first = take();
  if (!at(Tok::kString)) return make<StringExpr>(first.loc, first.chars);
  std::u32string all(first.chars);
  while (at(Tok::kString)) all += take().chars;
  auto kept = session_.arena.copy(all.data(), all.size());
  return make<StringExpr>(first.loc, std::u32string_view(kept.data(), kept.size()));
}

/// `~"…"` and `~b"…"` are UTF-8 binaries, `~s"…"` is a string.
const Expr* Parser::parse_sigil() {
  const Token& t = take();
  const Expr* string = make<StringExpr>(t.loc, t.chars);
  if (t.text == "s" || t.text == "S") return string;
  std::vector<Segment> segments;
  if (!t.chars.empty()) {
    Segment s{t.loc, string};
    s.type = SegmentType::kUtf8;
    segments.push_back(s);
  }
  return make<BinaryExpr>(t.loc, keep(segments));
}

const Expr* Parser::parse_primary() {
  Nest nest(*this);
  const Token& t = peek();
  switch (t.kind) {
    case Tok::kVar: take(); return make<VarExpr>(t.loc, t.text);
    case Tok::kAtom: take(); return make<AtomExpr>(t.loc, t.text);
    case Tok::kInteger: take(); return integer_of(t);
    case Tok::kFloat: take(); return float_of(t);
    case Tok::kString: return string_of();
    case Tok::kSigil: return parse_sigil();
    case Tok::kChar: {
      take();
      IntegerExpr* e = session_.arena.make<IntegerExpr>(t.loc);
      e->value = static_cast<int64_t>(t.code);
      e->is_char = true;
      return e;
    }
    case Tok::kLParen: {
      take();
      const Expr* e = parse_expr();
      expect_close(Tok::kRParen, t);
      return e;
    }
    case Tok::kLBrace: take(); return make<TupleExpr>(t.loc, parse_exprs_until(Tok::kRBrace, t));
    case Tok::kLBracket: return parse_list();
    case Tok::kLBin: return parse_binary();
    case Tok::kHash: return parse_hash(nullptr);
    case Tok::kFun: return parse_fun();
    case Tok::kBegin: {
      take();
      ExprList body = parse_body();
      expect_close(Tok::kEnd, t);
      return make<BlockExpr>(t.loc, body);
    }
    case Tok::kIf: {
      take();
      std::vector<const Clause*> clauses;
      do {
        Loc loc = peek().loc;
        std::span<const ExprList> guards = parse_guards();
        expect(Tok::kArrow, "'->' after a guard");
        clauses.push_back(make<Clause>(loc, std::string_view(), ExprList(), guards, parse_body()));
      } while (take_if(Tok::kSemicolon));
      expect_close(Tok::kEnd, t);
      return make<IfExpr>(t.loc, keep(clauses));
    }
    case Tok::kCase: {
      take();
      const Expr* subject = parse_expr();
      expect(Tok::kOf, "'of'");
      ClauseList clauses = parse_clauses(&Parser::parse_case_clause);
      expect_close(Tok::kEnd, t);
      return make<CaseExpr>(t.loc, subject, clauses);
    }
    case Tok::kReceive: return parse_receive();
    case Tok::kTry: return parse_try();
    case Tok::kMaybe: return parse_maybe();
    case Tok::kRParen:
    case Tok::kRBrace:
    case Tok::kRBracket:
    case Tok::kComma:
    case Tok::kEnd:
    case Tok::kDot:
    case Tok::kEof: fail_here("an expression");
    default: fail_here("");
  }
}

const Expr* Parser::parse_list() {
  const Token& open = take();
  if (take_if(Tok::kRBracket)) return make<NilExpr>(open.loc);
  std::vector<const Expr*> elements;
  elements.push_back(parse_expr());
  if (at(Tok::kDoubleBar))
    return finish_comprehension(open.loc, ComprehensionKind::kList, elements[0], nullptr, Tok::kRBracket,
                                open);
  while (take_if(Tok::kComma)) elements.push_back(parse_expr());
  const Expr* tail = nullptr;
  if (take_if(Tok::kBar)) tail = parse_expr();
  Loc close = peek().loc;
  expect_close(Tok::kRBracket, open);
  if (tail == nullptr) tail = make<NilExpr>(close);
  return make<ConsExpr>(open.loc, keep(elements), tail);
}

std::vector<Qualifier> Parser::parse_qualifiers() {
  std::vector<Qualifier> out;
  do {
    // `Pattern <- Source`, `<<Pattern>> <= Source`, `K := V <- Source`, or a filter.
    const Expr* e = parse_expr();
    const Token& op = peek();
    if (op.kind == Tok::kLeftArrow || op.kind == Tok::kLeftDouble) {
      take();
      QualifierKind kind = op.kind == Tok::kLeftArrow ? QualifierKind::kList : QualifierKind::kBinary;
      out.push_back({kind, op.loc, e, nullptr, parse_expr()});
    } else if (op.kind == Tok::kMapExact) {
      take();
      const Expr* value = parse_expr();
      Loc loc = expect(Tok::kLeftArrow, "'<-' of a map generator").loc;
      out.push_back({QualifierKind::kMap, loc, e, value, parse_expr()});
    } else {
      out.push_back({QualifierKind::kFilter, e->loc, nullptr, nullptr, e});
    }
  } while (take_if(Tok::kComma));
  return out;
}

const Expr* Parser::finish_comprehension(Loc loc, ComprehensionKind kind, const Expr* value, const Expr* key,
                                         Tok close, const Token& open) {
  expect(Tok::kDoubleBar, "'||'");
  auto qualifiers = parse_qualifiers();
  expect_close(close, open);
  return make<ComprehensionExpr>(loc, kind, value, key, keep(qualifiers));
}

// --- binaries ------------------------------------------------------------------------------------

const Expr* Parser::parse_binary() {
  const Token& open = take();
  std::vector<Segment> segments;
  if (take_if(Tok::kRBin)) return make<BinaryExpr>(open.loc, keep(segments));
  segments.push_back(parse_segment());
  if (at(Tok::kDoubleBar)) {
    const Segment& s = segments[0];
    if (s.size != nullptr || s.type != SegmentType::kDefault) fail_here("',' or '>>'");
    return finish_comprehension(open.loc, ComprehensionKind::kBinary, s.value, nullptr, Tok::kRBin, open);
  }
  while (take_if(Tok::kComma)) segments.push_back(parse_segment());
  expect_close(Tok::kRBin, open);
  return make<BinaryExpr>(open.loc, keep(segments));
}

Segment Parser::parse_segment() {
  const Token& t = peek();
  Segment s{t.loc, nullptr};
  if (t.kind == Tok::kPlus || t.kind == Tok::kMinus || t.kind == Tok::kBnot || t.kind == Tok::kNot) {
    take();
    s.value = make<UnaryExpr>(t.loc, t.kind, parse_primary());
  } else {
    s.value = parse_primary();
  }
  if (take_if(Tok::kColon)) s.size = parse_primary();
  if (take_if(Tok::kSlash)) parse_segment_types(s);
  return s;
}

void Parser::parse_segment_types(Segment& s) {
  auto conflict = [&](const Token& t, std::string_view before) {
    session_.diagnostics.error(
        t.loc, format_message("bit type conflict: '%.*s' after '%.*s'", VIEW(t.text), VIEW(before)));
  };
  std::string_view type_name, sign_name, endian_name;
  do {
    const Token& t = expect(Tok::kAtom, "a bit type specifier");
    std::string_view n = t.text;
    SegmentType type = n == "integer"                    ? SegmentType::kInteger
                       : n == "float"                    ? SegmentType::kFloat
                       : n == "binary" || n == "bytes"   ? SegmentType::kBinary
                       : n == "bitstring" || n == "bits" ? SegmentType::kBits
                       : n == "utf8"                     ? SegmentType::kUtf8
                       : n == "utf16"                    ? SegmentType::kUtf16
                       : n == "utf32"                    ? SegmentType::kUtf32
                                                         : SegmentType::kDefault;
    if (type != SegmentType::kDefault) {
      if (!type_name.empty() && type != s.type) conflict(t, type_name);
      type_name = n;
      s.type = type;
    } else if (n == "signed" || n == "unsigned") {
      if (!sign_name.empty() && n != sign_name) conflict(t, sign_name);
      sign_name = n;
      s.sign = n == "signed";
    } else if (n == "big" || n == "little" || n == "native") {
      if (!endian_name.empty() && n != endian_name) conflict(t, endian_name);
      endian_name = n;
      s.endian = n == "big" ? 0 : n == "little" ? 1 : 2;
    } else if (n == "unit") {
      expect(Tok::kColon, "':' after 'unit'");
      const Token& u = expect(Tok::kInteger, "an integer");
      const Expr* value = integer_of(u);
      int64_t unit = value->as<IntegerExpr>().big() ? 0 : value->as<IntegerExpr>().value;
      if (unit < 1 || unit > 256)
        session_.diagnostics.error(u.loc, "illegal bit unit: it must be between 1 and 256");
      else s.unit = static_cast<int>(unit);
    } else {
      session_.diagnostics.error(t.loc, format_message("undefined bit type '%.*s'", VIEW(n)));
    }
  } while (take_if(Tok::kMinus));
}

// --- compound expressions ------------------------------------------------------------------------

ExprList Parser::parse_exprs_until(Tok close, const Token& open) {
  if (take_if(close)) return {};
  std::vector<const Expr*> items;
  do items.push_back(parse_expr());
  while (take_if(Tok::kComma));
  expect_close(close, open);
  return keep(items);
}

ExprList Parser::parse_body(bool in_maybe) {
  std::vector<const Expr*> items;
  do {
    const Expr* e = parse_expr();
    if (in_maybe && at(Tok::kMaybeMatch)) {
      Loc loc = take().loc;
      e = make<MaybeMatchExpr>(loc, e, parse_expr());
    }
    items.push_back(e);
  } while (take_if(Tok::kComma));
  return keep(items);
}

/// A guard sequence, behind `when` or `if`.
std::span<const ExprList> Parser::parse_guards() {
  std::vector<ExprList> alternatives;
  do alternatives.push_back(parse_body());
  while (take_if(Tok::kSemicolon));
  return keep(alternatives);
}

const Clause* Parser::parse_case_clause() {
  Loc loc = peek().loc;
  const Expr* pattern = parse_expr();
  std::span<const ExprList> guards;
  if (take_if(Tok::kWhen)) guards = parse_guards();
  expect(Tok::kArrow, "'->' or 'when'");
  return make<Clause>(loc, std::string_view(), session_.arena.copy(&pattern, 1), guards, parse_body());
}

/// `Class:Reason:Stack`, the class and the stack trace being optional.
const Clause* Parser::parse_catch_clause() {
  Loc loc = peek().loc;
  const Expr* parts[3] = {make<AtomExpr>(loc, session_.names.intern("throw")), nullptr,
                          make<VarExpr>(loc, session_.names.intern("_"))};
  Tok first = peek().kind;
  if ((first == Tok::kAtom || first == Tok::kVar) && peek(1).kind == Tok::kColon) {
    parts[0] = parse_primary();
    take();
  }
  in_catch_pattern_ = true;
  parts[1] = parse_expr();
  in_catch_pattern_ = false;
  if (take_if(Tok::kColon)) {
    const Token& stack = expect(Tok::kVar, "a variable for the stack trace");
    parts[2] = make<VarExpr>(stack.loc, stack.text);
  }
  std::span<const ExprList> guards;
  if (take_if(Tok::kWhen)) guards = parse_guards();
  expect(Tok::kArrow, "'->' or 'when'");
  return make<Clause>(loc, std::string_view(), session_.arena.copy(parts, 3), guards, parse_body());
}

ClauseList Parser::parse_clauses(const Clause* (Parser::*one)()) {
  std::vector<const Clause*> clauses;
  do clauses.push_back((this->*one)());
  while (take_if(Tok::kSemicolon));
  return keep(clauses);
}

const Expr* Parser::parse_receive() {
  const Token& open = take();
  ClauseList clauses;
  if (!at(Tok::kAfter)) clauses = parse_clauses(&Parser::parse_case_clause);
  const Expr* timeout = nullptr;
  ExprList timeout_body;
  if (take_if(Tok::kAfter)) {
    timeout = parse_expr();
    expect(Tok::kArrow, "'->'");
    timeout_body = parse_body();
  }
  expect_close(Tok::kEnd, open);
  return make<ReceiveExpr>(open.loc, clauses, timeout, timeout_body);
}

const Expr* Parser::parse_try() {
  const Token& open = take();
  ExprList body = parse_body();
  ClauseList of_clauses, catch_clauses;
  ExprList after;
  if (take_if(Tok::kOf)) of_clauses = parse_clauses(&Parser::parse_case_clause);
  bool handled = false;
  if (take_if(Tok::kCatch)) {
    catch_clauses = parse_clauses(&Parser::parse_catch_clause);
    handled = true;
  }
  if (take_if(Tok::kAfter)) {
    after = parse_body();
    handled = true;
  }
  if (!handled) fail_here("'catch' or 'after'");
  expect_close(Tok::kEnd, open);
  return make<TryExpr>(open.loc, body, of_clauses, catch_clauses, after);
}

const Expr* Parser::parse_maybe() {
  const Token& open = take();
  ExprList body = parse_body(true);
  ClauseList else_clauses;
  if (take_if(Tok::kElse)) else_clauses = parse_clauses(&Parser::parse_case_clause);
  expect_close(Tok::kEnd, open);
  return make<MaybeExpr>(open.loc, body, else_clauses);
}

const Clause* Parser::parse_fun_clause(bool named) {
  Loc loc = peek().loc;
  std::string_view name;
  if (named) name = expect(Tok::kVar, "the name of the fun").text;
  const Token& open = expect(Tok::kLParen, "'('");
  ExprList patterns = parse_exprs_until(Tok::kRParen, open);
  std::span<const ExprList> guards;
  if (take_if(Tok::kWhen)) guards = parse_guards();
  expect(Tok::kArrow, "'->' or 'when'");
  return make<Clause>(loc, name, patterns, guards, parse_body());
}

const Expr* Parser::parse_fun() {
  const Token& open = take();
  auto arity_of = [&](const Expr* e) {
    if (e->as<IntegerExpr>().big() || e->as<IntegerExpr>().value > 255)
      fail_at(e->loc, "illegal arity: at most 255");
    return static_cast<uint32_t>(e->as<IntegerExpr>().value);
  };
  if (at(Tok::kLParen) || (at(Tok::kVar) && peek(1).kind == Tok::kLParen)) {
    bool named = at(Tok::kVar);
    std::vector<const Clause*> clauses;
    do clauses.push_back(parse_fun_clause(named));
    while (take_if(Tok::kSemicolon));
    expect_close(Tok::kEnd, open);
    for (const Clause* c : clauses) {
      if (c->name != clauses[0]->name)
        session_.diagnostics.error(c->loc, format_message("head mismatch: fun %.*s was named %.*s before",
                                                          VIEW(c->name), VIEW(clauses[0]->name)));
      if (c->patterns.size() != clauses[0]->patterns.size())
        session_.diagnostics.error(
            c->loc, format_message("head mismatch: a clause with %zu arguments in a fun of %zu",
                                   c->patterns.size(), clauses[0]->patterns.size()));
    }
    return make<FunExpr>(open.loc, clauses[0]->name, keep(clauses));
  }
  if (!at(Tok::kAtom) && !at(Tok::kVar)) fail_here("'(' or a function name after 'fun'");
  const Expr* first = parse_primary();
  if (at(Tok::kColon)) {
    take();
    if (!at(Tok::kAtom) && !at(Tok::kVar)) fail_here("a function name");
    const Expr* function = parse_primary();
    expect(Tok::kSlash, "'/' and an arity");
    if (!at(Tok::kInteger) && !at(Tok::kVar)) fail_here("an arity");
    const Expr* arity = parse_primary();
    if (arity->is(ExprKind::kInteger)) arity_of(arity);
    return make<FunRemoteExpr>(open.loc, first, function, arity);
  }
  if (!first->is(ExprKind::kAtom)) fail_here("':' or '('");
  expect(Tok::kSlash, "'/' and an arity");
  const Token& arity = expect(Tok::kInteger, "an arity");
  return make<FunLocalExpr>(open.loc, first->as<AtomExpr>().name, arity_of(integer_of(arity)));
}

}  // namespace vmrun::compile
