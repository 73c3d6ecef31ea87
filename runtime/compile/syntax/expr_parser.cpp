// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/expr_parser.hpp"

#include <charconv>
#include <optional>
#include <string>

#include "runtime/compile/syntax/ast_walk.hpp"
#include "vm/base/near_name.hpp"

namespace vmrun::compile {

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

bool is_logical(const Expr& e) {
  if (!e.is(ExprKind::kBinaryOp)) return false;
  const Tok op = e.as<BinaryOpExpr>().op;
  return op == Tok::kAnd || op == Tok::kOr || op == Tok::kXor;
}

}  // namespace

const Expr* ExprParser::parse_expr(int min_precedence) {
  TokenCursor::Nest nest(in_);
  const std::uint32_t outer = in_.open_chain();
  const Expr* left = parse_unary();
  for (;;) {
    Precedence p = precedence_of(in_.peek().kind);
    if (p.level < 0 || p.level < min_precedence) break;
    const Token& op = in_.take();
    const Expr* right = parse_expr(p.right ? p.level : p.level + 1);
    if (op.kind == Tok::kEqual) {
      left = in_.make<MatchExpr>(op.loc, left, right);
    } else {
      left = in_.make<BinaryOpExpr>(op.loc, op.kind, left, right);
    }
    in_.lengthen_chain();
    if (!p.chains && precedence_of(in_.peek().kind).level == p.level)
      in_.fail_here(
          is_logical(*right)
              ? "parentheses: 'and' and 'or' are read before comparisons, 'andalso' and 'orelse' behind"
              : "parentheses: comparisons do not chain");
  }
  in_.close_chain(outer);
  return left;
}

const Expr* ExprParser::parse_unary() {
  const Token& t = in_.peek();
  switch (t.kind) {
    case Tok::kCatch: {
      in_.take();
      return in_.make<CatchExpr>(t.loc, parse_expr());
    }
    case Tok::kPlus:
    case Tok::kMinus:
    case Tok::kBnot:
    case Tok::kNot: {
      TokenCursor::Nest nest(in_);
      in_.take();
      return in_.make<UnaryExpr>(t.loc, t.kind, parse_unary());
    }
    default: return parse_postfix();
  }
}

const Expr* ExprParser::parse_postfix() {
  const Expr* e = in_.at(Tok::kHash) ? parse_hash(nullptr) : parse_primary();
  while (in_.at(Tok::kHash)) {
    e = parse_hash(e);
    in_.lengthen_chain();
  }
  // What a call returns may be called, or be the module of a call, as in OTP 29: f()(1), m():g(2).
  for (;;) {
    if (in_.at(Tok::kColon) && !in_catch_pattern_) {
      const Loc loc = in_.take().loc;
      e = in_.make<RemoteExpr>(loc, e, parse_primary());
      if (!in_.at(Tok::kLParen)) in_.fail_here("'(' and the arguments of a call");
    }
    if (!in_.at(Tok::kLParen)) return e;
    const Token& open = in_.take();
    ExprList args = parse_exprs_until(Tok::kRParen, open);
    e = in_.make<CallExpr>(e->is(ExprKind::kRemote) ? e->as<RemoteExpr>().module->loc : e->loc, e, args);
    in_.lengthen_chain();
  }
}

/// The name of a native record: any word.
std::string_view ExprParser::native_record_name() {
  const Token& t = in_.peek();
  if (t.kind == Tok::kAtom || t.kind == Tok::kVar) return in_.take().text;
  if (is_keyword(t.kind)) return token_spelling(in_.take().kind);
  return in_.expect(Tok::kAtom, "a record name").text;
}

/// What stands behind `#`.
RecordName ExprParser::record_name() {
  const Token& t = in_.peek();
  if (t.kind == Tok::kVar && t.text == "_") return in_.take(), RecordName{RecordName::kAny, {}, {}};
  if (t.kind != Tok::kAtom && t.kind != Tok::kVar && !is_keyword(t.kind))
    in_.expect(Tok::kAtom, "a record name or '{'");
  const std::string_view name = native_record_name();
  if (t.kind != Tok::kAtom || !in_.take_if(Tok::kColon)) return {RecordName::kPlain, {}, name};
  return {RecordName::kRemote, name, native_record_name()};
}

/// `#name{…}`, `#name.field`, `#{…}`, with or without an expression before.
const Expr* ExprParser::parse_hash(const Expr* base) {
  TokenCursor::Nest nest(in_);
  const Token& hash = in_.expect(Tok::kHash, "'#'");
  if (in_.at(Tok::kLBrace)) return parse_map_fields(hash.loc, base);
  const RecordName name = record_name();
  if (in_.at(Tok::kPoint) && (base || name.kind == RecordName::kPlain)) {
    in_.take();
    const Token& field = in_.expect(Tok::kAtom, "a record field name");
    if (base) return in_.make<RecordFieldExpr>(hash.loc, base, name, field.text, field.loc);
    return in_.make<RecordIndexExpr>(hash.loc, name.name, field.text, field.loc);
  }
  const Token& open = in_.expect(Tok::kLBrace, "'{' or '.' after a record name");
  std::vector<RecordFieldInit> fields;
  while (!in_.at(Tok::kRBrace)) {
    const Token& field = in_.take();
    if (field.kind != Tok::kAtom && field.kind != Tok::kVar) {
      in_.step_back();
      in_.fail_here("a record field name");
    }
    if (field.kind == Tok::kVar && field.text != "_") {
      in_.step_back();
      in_.fail_here("a record field name (an atom or '_')");
    }
    in_.expect(Tok::kEqual, "'=' after a record field name");
    fields.push_back({field.loc, field.text, parse_expr()});
    if (!in_.at(Tok::kRBrace) && !in_.take_if(Tok::kComma)) in_.expect_close(Tok::kRBrace, open);
    else if (in_.at(Tok::kRBrace) && in_.peek(-1).kind == Tok::kComma) in_.fail_here("a record field name");
  }
  in_.take();
  return in_.make<RecordExpr>(hash.loc, base, name, in_.keep(fields));
}

const Expr* ExprParser::parse_map_fields(Loc loc, const Expr* base) {
  const Token& open = in_.expect(Tok::kLBrace, "'{'");
  std::vector<MapField> fields;
  if (in_.take_if(Tok::kRBrace)) return in_.make<MapExpr>(loc, base, in_.keep(fields));
  for (;;) {
    const Expr* key = parse_expr();
    const Token& op = in_.peek();
    if (key->is(ExprKind::kMatch) && op.kind != Tok::kMapAssoc && op.kind != Tok::kMapExact)
      in_.fail_at(key->loc, "syntax error before '=': expected '=>' between a key and a value of a map");
    if (op.kind != Tok::kMapAssoc && op.kind != Tok::kMapExact) in_.fail_here("'=>' or ':=' after a map key");
    in_.take();
    const Expr* value = parse_expr();
    fields.push_back({op.loc, op.kind == Tok::kMapExact, key, value});
    if (!base && in_.at(Tok::kDoubleBar)) return map_comprehension(loc, fields, open);
    if (in_.take_if(Tok::kComma)) continue;
    in_.expect_close(Tok::kRBrace, open);
    return in_.make<MapExpr>(loc, base, in_.keep(fields));
  }
}

const Expr* ExprParser::map_comprehension(Loc loc, const std::vector<MapField>& fields, const Token& open) {
  std::vector<ComprehensionValue> values;
  for (const MapField& f : fields) {
    if (f.exact) in_.fail_at(f.loc, "illegal ':=' in a map comprehension: expected '=>'");
    values.push_back({f.key, f.value});
  }
  return finish_comprehension(loc, ComprehensionKind::kMap, values, Tok::kRBrace, open);
}

// --- primaries -----------------------------------------------------------------------------------

const Expr* ExprParser::integer_of(const Token& t) {
  IntegerExpr* e = in_.make<IntegerExpr>(t.loc);
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value, t.base);
  if (error == std::errc() && value < (std::int64_t{1} << 62)) {
    e->value = value;
  } else {
    e->digits = t.text;
    e->base = t.base;
  }
  return e;
}

const Expr* ExprParser::float_of(const Token& t) {
  const std::optional<double> value = float_of_token(t);
  if (!value) in_.fail_at(t.loc, "illegal float: too large for a 64-bit float");
  return in_.make<FloatExpr>(t.loc, *value);
}

/// Joins adjacent strings.
const Expr* ExprParser::string_of() {
  const Token& first = in_.take();
  if (!in_.at(Tok::kString)) return in_.make<StringExpr>(first.loc, first.chars);
  std::u32string all(first.chars);
  while (in_.at(Tok::kString)) all += in_.take().chars;
  const auto kept = in_.copy(all.data(), all.size());
  return in_.make<StringExpr>(first.loc, std::u32string_view(kept.data(), kept.size()));
}

/// `~"…"` and `~b"…"` are UTF-8 binaries, `~s"…"` is a string.
const Expr* ExprParser::parse_sigil() {
  const Token& t = in_.take();
  const Expr* string = in_.make<StringExpr>(t.loc, t.chars);
  if (t.text == "s" || t.text == "S") return string;
  std::vector<Segment> segments;
  if (!t.chars.empty()) {
    Segment s{t.loc, string};
    s.type = SegmentType::kUtf8;
    segments.push_back(s);
  }
  return in_.make<BinaryExpr>(t.loc, in_.keep(segments));
}

const Expr* ExprParser::parse_primary() {
  TokenCursor::Nest nest(in_);
  const Token& t = in_.peek();
  switch (t.kind) {
    case Tok::kVar: in_.take(); return in_.make<VarExpr>(t.loc, t.text);
    case Tok::kAtom: in_.take(); return in_.make<AtomExpr>(t.loc, t.text);
    case Tok::kInteger: in_.take(); return integer_of(t);
    case Tok::kFloat: in_.take(); return float_of(t);
    case Tok::kString: return string_of();
    case Tok::kSigil: return parse_sigil();
    case Tok::kChar: {
      in_.take();
      IntegerExpr* e = in_.make<IntegerExpr>(t.loc);
      e->value = static_cast<std::int64_t>(t.code);
      e->is_char = true;
      return e;
    }
    case Tok::kLParen: {
      in_.take();
      const Expr* e = parse_expr();
      in_.expect_close(Tok::kRParen, t);
      return e;
    }
    case Tok::kLBrace: in_.take(); return in_.make<TupleExpr>(t.loc, parse_exprs_until(Tok::kRBrace, t));
    case Tok::kLBracket: return parse_list();
    case Tok::kLBin: return parse_binary();
    case Tok::kHash: return parse_hash(nullptr);
    case Tok::kFun: return parse_fun();
    case Tok::kBegin: {
      in_.take();
      ExprList body = parse_body();
      in_.expect_close(Tok::kEnd, t);
      return in_.make<BlockExpr>(t.loc, body);
    }
    case Tok::kIf: {
      in_.take();
      std::vector<const Clause*> clauses;
      do {
        const Loc loc = in_.peek().loc;
        std::span<const ExprList> guards = parse_guards();
        in_.expect(Tok::kArrow, "'->' after a guard");
        clauses.push_back(in_.make<Clause>(loc, std::string_view(), ExprList(), guards, parse_body()));
      } while (in_.take_if(Tok::kSemicolon));
      in_.expect_close(Tok::kEnd, t);
      return in_.make<IfExpr>(t.loc, in_.keep(clauses));
    }
    case Tok::kCase: {
      in_.take();
      const Expr* subject = parse_expr();
      in_.expect(Tok::kOf, "'of'");
      ClauseList clauses = parse_clauses(&ExprParser::parse_case_clause);
      in_.expect_close(Tok::kEnd, t);
      return in_.make<CaseExpr>(t.loc, subject, clauses);
    }
    case Tok::kReceive: return parse_receive();
    case Tok::kTry: return parse_try();
    case Tok::kMaybe: return parse_maybe();
    default: in_.fail_here("an expression");
  }
}

const Expr* ExprParser::parse_list() {
  const Token& open = in_.take();
  if (in_.take_if(Tok::kRBracket)) return in_.make<NilExpr>(open.loc);
  std::vector<const Expr*> elements;
  do elements.push_back(parse_expr());
  while (in_.take_if(Tok::kComma));
  if (in_.at(Tok::kDoubleBar)) {
    std::vector<ComprehensionValue> values;
    for (const Expr* e : elements) values.push_back({nullptr, e});
    return finish_comprehension(open.loc, ComprehensionKind::kList, values, Tok::kRBracket, open);
  }
  const Expr* tail = nullptr;
  if (in_.take_if(Tok::kBar)) tail = parse_expr();
  const Loc close = in_.peek().loc;
  in_.expect_close(Tok::kRBracket, open);
  if (!tail) tail = in_.make<NilExpr>(close);
  return in_.make<ConsExpr>(open.loc, in_.keep(elements), tail);
}

/// `P = E`, which is `P <:- [E]`. All of `P = Q = E` but the last part are patterns.
Qualifier ExprParser::match_qualifier(const MatchExpr& match) {
  const Expr* pattern = match.left;
  const Expr* value = match.right;
  for (; value->is(ExprKind::kMatch); value = value->as<MatchExpr>().right)
    pattern = in_.make<MatchExpr>(match.loc, pattern, value->as<MatchExpr>().left);
  const Expr* only = in_.make<ConsExpr>(match.loc, in_.copy(&value, 1), in_.make<NilExpr>(match.loc));
  return {QualifierKind::kList, match.loc, pattern, nullptr, only, true, {}, true};
}

/// `Pattern <- Source`, `<<Pattern>> <= Source`, `K := V <- Source`, or a filter. Strict generators
/// have `<:-` and `<:=`.
Qualifier ExprParser::parse_qualifier() {
  const Expr* e = parse_expr();
  const Expr* value = nullptr;
  const bool map = in_.take_if(Tok::kMapExact);
  if (map) value = parse_expr();
  const Token& op = in_.peek();
  const bool list = op.kind == Tok::kLeftArrow || op.kind == Tok::kStrictArrow;
  const bool binary = op.kind == Tok::kLeftDouble || op.kind == Tok::kStrictDouble;
  if (map && !list) in_.fail_here("'<-' of a map generator");
  if (!list && !binary && e->is(ExprKind::kMatch) && in_.matches_generate())
    return match_qualifier(e->as<MatchExpr>());
  if (!list && !binary) return {QualifierKind::kFilter, e->loc, nullptr, nullptr, e};
  in_.take();
  const QualifierKind kind = map ? QualifierKind::kMap : list ? QualifierKind::kList : QualifierKind::kBinary;
  const bool strict = op.kind == Tok::kStrictArrow || op.kind == Tok::kStrictDouble;
  return {kind, op.loc, e, value, parse_expr(), strict};
}

std::vector<Qualifier> ExprParser::parse_qualifiers() {
  std::vector<Qualifier> out;
  do {
    std::vector<Qualifier> zipped{parse_qualifier()};
    while (in_.take_if(Tok::kZip)) zipped.push_back(parse_qualifier());
    if (zipped.size() == 1) {
      const Qualifier& q = zipped[0];
      if (!q.generates() && q.source->is(ExprKind::kMatch))
        in_.error(first_loc(*q.source),
                  "matches using '=' are not allowed in comprehension qualifiers unless the experimental "
                  "'compr_assign' language feature is enabled");
      out.push_back(q);
      continue;
    }
    for (const Qualifier& q : zipped)
      if (q.matches || !q.generates())
        in_.error(q.matches                        ? first_loc(*q.pattern)
                  : q.source->is(ExprKind::kMatch) ? first_loc(*q.source)
                                                   : q.loc,
                  "only generators are allowed in a zip generator");
    Qualifier zip{QualifierKind::kZip, zipped[0].loc, nullptr, nullptr, nullptr};
    zip.zipped = in_.keep(zipped);
    out.push_back(zip);
  } while (in_.take_if(Tok::kComma));
  return out;
}

const Expr* ExprParser::finish_comprehension(Loc loc, ComprehensionKind kind,
                                             const std::vector<ComprehensionValue>& values, Tok close,
                                             const Token& open) {
  in_.expect(Tok::kDoubleBar, "'||'");
  const auto qualifiers = parse_qualifiers();
  in_.expect_close(close, open);
  return in_.make<ComprehensionExpr>(loc, kind, in_.keep(values), in_.keep(qualifiers));
}

// --- binaries ------------------------------------------------------------------------------------

const Expr* ExprParser::parse_binary() {
  const Token& open = in_.take();
  std::vector<Segment> segments;
  if (in_.take_if(Tok::kRBin)) return in_.make<BinaryExpr>(open.loc, in_.keep(segments));
  segments.push_back(parse_segment());
  if (in_.at(Tok::kDoubleBar)) {
    const Segment& s = segments[0];
    if (s.size || s.type != SegmentType::kDefault) in_.fail_here("',' or '>>'");
    return finish_comprehension(open.loc, ComprehensionKind::kBinary, {{nullptr, s.value}}, Tok::kRBin, open);
  }
  while (in_.take_if(Tok::kComma)) segments.push_back(parse_segment());
  in_.expect_close(Tok::kRBin, open);
  return in_.make<BinaryExpr>(open.loc, in_.keep(segments));
}

Segment ExprParser::parse_segment() {
  const Token& t = in_.peek();
  Segment s{t.loc, nullptr};
  if (t.kind == Tok::kPlus || t.kind == Tok::kMinus || t.kind == Tok::kBnot || t.kind == Tok::kNot) {
    in_.take();
    s.value = in_.make<UnaryExpr>(t.loc, t.kind, parse_primary());
  } else {
    s.value = parse_primary();
  }
  if (in_.take_if(Tok::kColon)) s.size = parse_primary();
  if (in_.take_if(Tok::kSlash)) parse_segment_types(s);
  return s;
}

constexpr std::string_view kBitTypes[] = {"integer",  "float", "binary", "bytes",  "bitstring",
                                          "bits",     "utf8",  "utf16",  "utf32",  "signed",
                                          "unsigned", "big",   "little", "native", "unit"};

void ExprParser::parse_segment_types(Segment& s) {
  auto conflict = [&](const Token& t, std::string_view before) {
    in_.error(t.loc, format_message("bit type conflict: '%.*s' after '%.*s'", VIEW(t.text), VIEW(before)));
  };
  std::string_view type_name, sign_name, endian_name;
  do {
    const Token& t = in_.expect(Tok::kAtom, "a bit type specifier");
    const std::string_view n = t.text;
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
      in_.expect(Tok::kColon, "':' after 'unit'");
      const Token& u = in_.expect(Tok::kInteger, "an integer");
      const Expr* value = integer_of(u);
      const std::int64_t unit = value->as<IntegerExpr>().big() ? 0 : value->as<IntegerExpr>().value;
      if (unit < 1 || unit > 256) in_.error(u.loc, "illegal bit unit: it must be between 1 and 256");
      else s.unit = static_cast<int>(unit);
    } else {
      NearName near(n);
      for (const std::string_view known : kBitTypes) near.offer(known);
      in_.error(t.loc, format_message("undefined bit type '%.*s'", VIEW(n)) +
                           did_you_mean(std::string(near.found())));
    }
  } while (in_.take_if(Tok::kMinus));
}

// --- compound expressions ------------------------------------------------------------------------

ExprList ExprParser::parse_exprs_until(Tok close, const Token& open) {
  if (in_.take_if(close)) return {};
  std::vector<const Expr*> items;
  do items.push_back(parse_expr());
  while (in_.take_if(Tok::kComma));
  in_.expect_close(close, open);
  return in_.keep(items);
}

ExprList ExprParser::parse_body(bool in_maybe) {
  std::vector<const Expr*> items;
  do {
    const Expr* e = parse_expr();
    if (in_maybe && in_.at(Tok::kMaybeMatch)) {
      const Loc loc = in_.take().loc;
      e = in_.make<MaybeMatchExpr>(loc, e, parse_expr());
    }
    items.push_back(e);
  } while (in_.take_if(Tok::kComma));
  return in_.keep(items);
}

/// A guard sequence, behind `when` or `if`.
std::span<const ExprList> ExprParser::parse_guards() {
  std::vector<ExprList> alternatives;
  do alternatives.push_back(parse_body());
  while (in_.take_if(Tok::kSemicolon));
  return in_.keep(alternatives);
}

const Clause* ExprParser::parse_case_clause() {
  const Loc loc = in_.peek().loc;
  const Expr* pattern = parse_expr();
  std::span<const ExprList> guards;
  if (in_.take_if(Tok::kWhen)) guards = parse_guards();
  in_.expect(Tok::kArrow, "'->' or 'when'");
  return in_.make<Clause>(loc, std::string_view(), in_.copy(&pattern, 1), guards, parse_body());
}

/// `Class:Reason:Stack`, the class and the stack trace being optional.
const Clause* ExprParser::parse_catch_clause() {
  const Loc loc = in_.peek().loc;
  const Expr* parts[3] = {in_.make<AtomExpr>(loc, in_.intern("throw")), nullptr,
                          in_.make<VarExpr>(loc, in_.intern("_"))};
  const Tok first = in_.peek().kind;
  if ((first == Tok::kAtom || first == Tok::kVar) && in_.peek(1).kind == Tok::kColon) {
    parts[0] = parse_primary();
    in_.take();
  }
  in_catch_pattern_ = true;
  parts[1] = parse_expr();
  in_catch_pattern_ = false;
  if (in_.take_if(Tok::kColon)) {
    const Token& stack = in_.expect(Tok::kVar, "a variable for the stack trace");
    parts[2] = in_.make<VarExpr>(stack.loc, stack.text);
  }
  std::span<const ExprList> guards;
  if (in_.take_if(Tok::kWhen)) guards = parse_guards();
  in_.expect(Tok::kArrow, "'->' or 'when'");
  return in_.make<Clause>(loc, std::string_view(), in_.copy(parts, 3), guards, parse_body());
}

ClauseList ExprParser::parse_clauses(const Clause* (ExprParser::*one)()) {
  std::vector<const Clause*> clauses;
  do clauses.push_back((this->*one)());
  while (in_.take_if(Tok::kSemicolon));
  return in_.keep(clauses);
}

const Expr* ExprParser::parse_receive() {
  const Token& open = in_.take();
  ClauseList clauses;
  if (!in_.at(Tok::kAfter)) clauses = parse_clauses(&ExprParser::parse_case_clause);
  const Expr* timeout = nullptr;
  ExprList timeout_body;
  if (in_.take_if(Tok::kAfter)) {
    timeout = parse_expr();
    in_.expect(Tok::kArrow, "'->'");
    timeout_body = parse_body();
  }
  in_.expect_close(Tok::kEnd, open);
  return in_.make<ReceiveExpr>(open.loc, clauses, timeout, timeout_body);
}

const Expr* ExprParser::parse_try() {
  const Token& open = in_.take();
  ExprList body = parse_body();
  ClauseList of_clauses, catch_clauses;
  ExprList after;
  if (in_.take_if(Tok::kOf)) of_clauses = parse_clauses(&ExprParser::parse_case_clause);
  bool handled = false;
  if (in_.take_if(Tok::kCatch)) {
    catch_clauses = parse_clauses(&ExprParser::parse_catch_clause);
    handled = true;
  }
  if (in_.take_if(Tok::kAfter)) {
    after = parse_body();
    handled = true;
  }
  if (!handled) in_.fail_here("'catch' or 'after'");
  in_.expect_close(Tok::kEnd, open);
  return in_.make<TryExpr>(open.loc, body, of_clauses, catch_clauses, after);
}

const Expr* ExprParser::parse_maybe() {
  const Token& open = in_.take();
  ExprList body = parse_body(true);
  ClauseList else_clauses;
  if (in_.take_if(Tok::kElse)) else_clauses = parse_clauses(&ExprParser::parse_case_clause);
  in_.expect_close(Tok::kEnd, open);
  return in_.make<MaybeExpr>(open.loc, body, else_clauses);
}

const Clause* ExprParser::parse_fun_clause(bool named) {
  const Loc loc = in_.peek().loc;
  std::string_view name;
  if (named) name = in_.expect(Tok::kVar, "the name of the fun").text;
  const Token& open = in_.expect(Tok::kLParen, "'('");
  ExprList patterns = parse_exprs_until(Tok::kRParen, open);
  std::span<const ExprList> guards;
  if (in_.take_if(Tok::kWhen)) guards = parse_guards();
  in_.expect(Tok::kArrow, "'->' or 'when'");
  return in_.make<Clause>(loc, name, patterns, guards, parse_body());
}

const Expr* ExprParser::parse_fun() {
  const Token& open = in_.take();
  auto arity_of = [&](const Expr* e) {
    if (e->as<IntegerExpr>().big() || e->as<IntegerExpr>().value > 255)
      in_.fail_at(e->loc, "illegal arity: at most 255");
    return static_cast<std::uint32_t>(e->as<IntegerExpr>().value);
  };
  if (in_.at(Tok::kLParen) || (in_.at(Tok::kVar) && in_.peek(1).kind == Tok::kLParen)) {
    const bool named = in_.at(Tok::kVar);
    std::vector<const Clause*> clauses;
    do clauses.push_back(parse_fun_clause(named));
    while (in_.take_if(Tok::kSemicolon));
    in_.expect_close(Tok::kEnd, open);
    for (const Clause* c : clauses) {
      if (c->name != clauses[0]->name)
        in_.error(c->loc, format_message("head mismatch: fun %.*s was named %.*s before", VIEW(c->name),
                                         VIEW(clauses[0]->name)));
      if (c->patterns.size() != clauses[0]->patterns.size())
        in_.error(c->loc, format_message("head mismatch: a clause with %zu arguments in a fun of %zu",
                                         c->patterns.size(), clauses[0]->patterns.size()));
    }
    return in_.make<FunExpr>(open.loc, clauses[0]->name, in_.keep(clauses));
  }
  if (!in_.at(Tok::kAtom) && !in_.at(Tok::kVar)) in_.fail_here("'(' or a function name after 'fun'");
  const Expr* first = parse_primary();
  if (in_.at(Tok::kColon)) {
    in_.take();
    if (!in_.at(Tok::kAtom) && !in_.at(Tok::kVar)) in_.fail_here("a function name");
    const Expr* function = parse_primary();
    in_.expect(Tok::kSlash, "'/' and an arity");
    if (!in_.at(Tok::kInteger) && !in_.at(Tok::kVar)) in_.fail_here("an arity");
    const Expr* arity = parse_primary();
    if (arity->is(ExprKind::kInteger)) arity_of(arity);
    return in_.make<FunRemoteExpr>(open.loc, first, function, arity);
  }
  if (!first->is(ExprKind::kAtom)) in_.fail_here("':' or '('");
  in_.expect(Tok::kSlash, "'/' and an arity");
  const Token& arity = in_.expect(Tok::kInteger, "an arity");
  return in_.make<FunLocalExpr>(open.loc, first->as<AtomExpr>().name, arity_of(integer_of(arity)));
}

}  // namespace vmrun::compile
