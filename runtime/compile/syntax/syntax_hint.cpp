// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/syntax_hint.hpp"

#include <algorithm>
#include <vector>

#include "runtime/compile/source/diagnostics.hpp"
#include "vm/base/near_name.hpp"

namespace vmrun::compile {

namespace {

/// Two adjacent tokens without a blank between them that are one operator in other languages.
struct ForeignOperator {
  Tok first, second;
  std::string_view hint;
};
constexpr ForeignOperator kForeignOperators[] = {
    {Tok::kBang, Tok::kEqual, "unequal is '/=' or '=/=', not '!='"},
    {Tok::kBang, Tok::kEqEq, "unequal is '=/=', not '!=='"},
    {Tok::kEqEq, Tok::kEqual, "equal is '=:=', not '==='"},
    {Tok::kLess, Tok::kGreater, "unequal is '/=', and strings are joined by '++', not '<>'"},
    {Tok::kBar, Tok::kGreater, "there is no operator '|>': nest the calls, or give each value a name"},
    {Tok::kPlus, Tok::kEqual, "a variable is bound once: give the new value a name of its own, X1 = X + 1"},
    {Tok::kMinus, Tok::kEqual, "a variable is bound once: give the new value a name of its own, X1 = X - 1"},
    {Tok::kStar, Tok::kEqual, "a variable is bound once: give the new value a name of its own, X1 = X * 2"},
    {Tok::kSlash, Tok::kSlash, "a comment begins with '%', not '//'"},
    {Tok::kSlash, Tok::kStar, "a comment begins with '%', not '/*'"},
};

struct ForeignWord {
  std::string_view word, hint;
};
constexpr std::string_view kNoDeclaration = "variables are not declared: write Name = Value";
constexpr std::string_view kFunctionForm = "a function is written name(Arguments) -> Body.";
constexpr std::string_view kFunForm = "a fun is written fun(Arguments) -> Body end";
constexpr std::string_view kNoLoop =
    "there are no loops: use a function that calls itself, a list comprehension or lists:foreach/2";
constexpr std::string_view kNoElseIf = "an if has clauses: Guard -> Body; Guard -> Body; true -> Body end";
constexpr std::string_view kBodies = "bodies stand behind '->'";
constexpr ForeignWord kForeignWords[] = {
    {"return", "there is no 'return': a function's value is that of its last expression"},
    {"let", kNoDeclaration},
    {"var", kNoDeclaration},
    {"const", kNoDeclaration},
    {"def", kFunctionForm},
    {"defp", kFunctionForm},
    {"func", kFunctionForm},
    {"function", kFunctionForm},
    {"fn", kFunForm},
    {"lambda", kFunForm},
    {"while", kNoLoop},
    {"for", kNoLoop},
    {"foreach", kNoLoop},
    {"elif", kNoElseIf},
    {"elsif", kNoElseIf},
    {"elseif", kNoElseIf},
    {"else", kNoElseIf},
    {"in", "a generator is Pattern <- List"},
    {"do", kBodies},
    {"then", kBodies},
    {"switch", "it is written case Expression of Pattern -> Body; Pattern -> Body end"},
};

constexpr std::string_view kAttributes[] = {
    "module",   "export",  "import",  "compile",     "record",
    "type",     "opaque",  "spec",    "callback",    "behaviour",
    "behavior", "on_load", "nifs",    "export_type", "optional_callbacks",
    "define",   "undef",   "include", "include_lib", "ifdef",
    "ifndef",   "endif",   "feature"};

bool is_attribute(std::string_view name) {
  return std::ranges::find(kAttributes, name) != std::end(kAttributes);
}

bool is_reserved(Tok kind) { return keyword_of(token_spelling(kind)) != Tok::kAtom; }

bool begins_block(const Token& t, const Token& next) {
  switch (t.kind) {
    case Tok::kBegin:
    case Tok::kCase:
    case Tok::kIf:
    case Tok::kReceive:
    case Tok::kTry:
    case Tok::kMaybe: return true;
    case Tok::kFun: return next.kind == Tok::kLParen || next.kind == Tok::kVar;
    default: return false;
  }
}

bool opens_bracket(Tok kind) {
  return kind == Tok::kLParen || kind == Tok::kLBrace || kind == Tok::kLBracket || kind == Tok::kLBin;
}

bool closes(Tok kind) {
  return kind == Tok::kRParen || kind == Tok::kRBrace || kind == Tok::kRBracket || kind == Tok::kRBin ||
         kind == Tok::kEnd;
}

bool ends_expression(Tok kind) { return (kind >= Tok::kAtom && kind <= Tok::kSigil) || closes(kind); }

bool begins_expression(const Token& t, const Token& next) {
  return (t.kind >= Tok::kAtom && t.kind <= Tok::kSigil) || opens_bracket(t.kind) || begins_block(t, next) ||
         t.kind == Tok::kHash || t.kind == Tok::kFun || t.kind == Tok::kCatch;
}

/// Tokens that cannot follow a comma or a semicolon.
bool ends_sequence(Tok kind) {
  return closes(kind) || kind == Tok::kDot || kind == Tok::kSemicolon || kind == Tok::kArrow ||
         kind == Tok::kOf || kind == Tok::kAfter;
}

/// Tokens that follow a name, or an atom as an element.
bool follows_name(Tok kind) {
  return kind == Tok::kComma || kind == Tok::kEqual || kind == Tok::kMapAssoc || kind == Tok::kMapExact ||
         kind == Tok::kColon || kind == Tok::kSlash || kind == Tok::kLParen || kind == Tok::kRParen ||
         kind == Tok::kRBrace || kind == Tok::kRBracket || kind == Tok::kDot;
}

class Place {
 public:
  Place(std::span<const Token> form, std::size_t at, std::string_view wanted)
      : form_(form), wanted_(wanted), at_(at), before_(token(at, -1)), here_(form[at]), next_(token(at, 1)) {
    for (std::size_t i = 0; i < at; ++i) {
      if (opens_bracket(form[i].kind) || begins_block(form[i], form[i + 1])) open_.push_back(&form[i]);
      else if (closes(form[i].kind) && !open_.empty()) open_.pop_back();
    }
  }

  SyntaxHint hint() const {
    for (const auto rule : {&Place::foreign_operator, &Place::superfluous_separator, &Place::reserved_word,
                            &Place::foreign_word, &Place::access, &Place::closes_nothing, &Place::clause,
                            &Place::name, &Place::outside_functions, &Place::braces, &Place::misspelt_word,
                            &Place::not_closed, &Place::clause_not_separated})
      if (std::string text = (this->*rule)(); !text.empty()) return {std::move(text), true};
    for (const auto rule : {&Place::misspelt_attribute, &Place::missing_separator, &Place::guard})
      if (std::string text = (this->*rule)(); !text.empty()) return {std::move(text), false};
    return {};
  }

 private:
  Token token(std::size_t at, int offset) const {
    const std::size_t i = at + static_cast<std::size_t>(offset);
    return i < form_.size() ? form_[i] : Token();
  }
  /// Whether there is no blank between a token of fixed spelling and the next one.
  static bool adjacent(const Token& a, const Token& b) {
    return a.loc.line == b.loc.line && a.loc.column + token_spelling(a.kind).size() == b.loc.column;
  }
  bool in_block() const { return !open_.empty() && !opens_bracket(open_.back()->kind); }

  std::string foreign_operator() const {
    for (const ForeignOperator& o : kForeignOperators) {
      const bool ends_here = before_.kind == o.first && here_.kind == o.second && adjacent(before_, here_);
      const bool begins_here = here_.kind == o.first && next_.kind == o.second && adjacent(here_, next_);
      if (ends_here || begins_here) return std::string(o.hint);
    }
    if (here_.kind == Tok::kMapExact && (open_.empty() || open_.back()->kind != Tok::kLBrace))
      return "a match is written '=', not ':='";
    if (here_.kind == Tok::kLeftArrow && !open_.empty() && open_.back()->kind == Tok::kLBracket)
      return "the generators of a comprehension stand behind '||'";
    if (here_.kind == Tok::kLeftArrow) return "a message is sent by '!'; '<-' is for generators";
    if (here_.kind == Tok::kLeftDouble) return "less or equal is '=<', not '<='";
    if (here_.kind == Tok::kDoubleBar) return "or is 'orelse', not '||'";
    if (here_.kind == Tok::kZip) return "and is 'andalso', not '&&'";
    if (here_.kind == Tok::kMapAssoc && !open_.empty() && open_.back()->kind == Tok::kLBrace &&
        (open_.back() == form_.data() || (open_.back() - 1)->kind != Tok::kHash))
      return "a map is written #{Key => Value}";
    if (here_.kind == Tok::kMapAssoc)
      return "greater or equal is '>=', and a body stands behind '->'; '=>' is for maps";
    const bool counts = before_.kind == Tok::kPlusPlus || before_.kind == Tok::kMinusMinus;
    if (counts && (ends_sequence(here_.kind) || here_.kind == Tok::kComma))
      return "a variable is bound once: give the new value a name of its own, X1 = X + 1";
    return {};
  }

  std::string superfluous_separator() const {
    const bool separated = before_.kind == Tok::kComma || before_.kind == Tok::kSemicolon;
    if (!separated || !ends_sequence(here_.kind)) return {};
    if (is_reserved(here_.kind) && !in_block()) return {};  // meant as a name: reserved_word()
    return format_message("remove the '%.*s' before it", VIEW(token_spelling(before_.kind)));
  }

  std::string reserved_word() const {
    const auto said = [](const Token& word) {
      const std::string name(token_spelling(word.kind));
      return "'" + name + "' is a reserved word: the atom is written '" + name + "', in quotes";
    };
    const bool after_opener = opens_bracket(before_.kind) || before_.kind == Tok::kComma ||
                              before_.kind == Tok::kEqual || before_.kind == Tok::kMapAssoc ||
                              before_.kind == Tok::kMapExact || before_.kind == Tok::kHash ||
                              before_.kind == Tok::kColon || before_.kind == Tok::kMinus || at_ == 0 ||
                              before_.kind == Tok::kArrow || before_.kind == Tok::kFun;
    if (is_reserved(here_.kind) && after_opener && (follows_name(next_.kind) || before_.kind == Tok::kHash))
      return said(here_);
    if (is_reserved(before_.kind) && begins_expression(before_, here_) && follows_name(here_.kind) &&
        here_.kind != Tok::kLParen)
      return said(before_);
    return {};
  }

  std::string foreign_word() const {
    for (const Token* t : {&before_, &here_}) {
      const std::string_view word = t->kind == Tok::kElse ? token_spelling(t->kind) : t->text;
      if (t->kind != Tok::kAtom && t->kind != Tok::kElse) continue;
      if (t == &before_ && !begins_expression(here_, next_)) continue;
      for (const ForeignWord& f : kForeignWords)
        if (word == f.word) return std::string(f.hint);
    }
    return {};
  }

  /// Access to parts of terms in the syntax of other languages.
  std::string access() const {
    const bool same_line = before_.loc.line == here_.loc.line;
    const bool parted = here_.kind == Tok::kPoint || here_.kind == Tok::kDoubleColon;
    if (parted && before_.kind == Tok::kAtom && next_.kind == Tok::kAtom)
      return "a function of another module is module:function(Arguments)";
    if (here_.kind == Tok::kPoint && before_.kind == Tok::kVar)
      return "a field of a record is Variable#record.field, a value of a map maps:get(Key, Map)";
    if (here_.kind == Tok::kLBracket && same_line && before_.kind == Tok::kVar &&
        before_.loc.column + before_.text.size() == here_.loc.column)
      return "an element of a list is lists:nth(N, List), a value of a map maps:get(Key, Map)";
    const Token colon = token(at_, -2), opener = token(at_, -4);
    if (colon.kind == Tok::kColon && (opener.kind == Tok::kLBrace || opener.kind == Tok::kComma) &&
        (here_.kind == Tok::kComma || here_.kind == Tok::kRBrace))
      return "a map is written #{Key => Value}";
    return {};
  }

  std::string closes_nothing() const {
    if (!closes(here_.kind) || !open_.empty() || before_.kind == Tok::kEof) return {};
    if (here_.kind == Tok::kEnd) return "nothing is open that 'end' closes";
    return format_message("there is no opening partner of '%.*s'", VIEW(token_spelling(here_.kind)));
  }

  std::string clause() const {
    if (here_.kind != Tok::kArrow || !ends_expression(before_.kind) || !in_block()) return {};
    if (open_.back()->kind == Tok::kCase &&
        std::none_of(open_.back(), &form_[at_], [](const Token& t) { return t.kind == Tok::kOf; }))
      return "'of' is missing behind the expression of 'case'";
    return "a clause begins before it; clauses are separated by ';', not ','";
  }

  /// Names that begin with a capital letter.
  std::string name() const {
    if (here_.kind != Tok::kVar) return {};
    if (at_ == 0 && next_.kind == Tok::kLParen) return "the name of a function begins with a small letter";
    return {};
  }

  /// An error between functions, or between the clauses of one.
  std::string outside_functions() const {
    if (at_ == 0 && here_.kind == Tok::kHash) return "a comment begins with '%', not '#'";
    if (at_ == 1 && here_.kind == Tok::kArrow)
      return "a function without arguments is written name() -> Body.";
    if (at_ == 1 && before_.kind == Tok::kAtom && here_.kind != Tok::kColon && is_attribute(before_.text))
      return "an attribute begins with '-'";
    const bool expression = (at_ == 0 && here_.kind == Tok::kVar && next_.kind == Tok::kEqual) ||
                            (at_ == 1 && here_.kind == Tok::kColon);
    if (expression) return "expressions stand in functions only (is there a '.' before in place of a ','?)";
    const bool clause =
        open_.empty() && ((before_.kind == Tok::kSemicolon && here_.kind != Tok::kAtom) ||
                          (token(at_, -2).kind == Tok::kSemicolon && here_.kind == Tok::kColon));
    return clause ? "a clause of the function follows ';': expressions are separated by ','" : "";
  }

  std::string braces() const {
    const bool body = here_.kind == Tok::kLBrace && before_.kind == Tok::kRParen;
    return body ? "a body is not written in braces, it stands behind '->'" : "";
  }

  bool separator_wanted() const {
    return wanted_.find("','") != std::string_view::npos || wanted_.starts_with("'end'");
  }

  /// Whether the text here ends with '->', as the patterns of a clause do.
  bool begins_clause() const {
    int depth = 0;
    for (const Token& t : form_.subspan(at_)) {
      if (depth == 0 && (t.kind == Tok::kArrow || t.kind == Tok::kWhen)) return true;
      if (depth == 0 && (t.kind == Tok::kComma || t.kind == Tok::kSemicolon || t.kind == Tok::kDot))
        return false;
      if (opens_bracket(t.kind)) ++depth;
      else if (closes(t.kind) && depth-- == 0) return false;
    }
    return false;
  }

  std::string clause_not_separated() const {
    const bool same_function = open_.empty() && at_ > 0 && here_.kind == Tok::kAtom &&
                               form_[0].kind == Tok::kAtom && here_.text == form_[0].text;
    const bool after_body =
        std::ranges::any_of(form_.first(at_), [](const Token& t) { return t.kind == Tok::kArrow; });
    if (!ends_expression(before_.kind) || !separator_wanted() || !after_body ||
        !(in_block() || same_function))
      return {};
    return begins_clause() && begins_expression(here_, next_) ? "is a ';' missing before this clause?" : "";
  }

  /// A new form begins although the last one has not ended.
  std::string not_closed() const {
    if (open_.empty() || !begins_form()) return {};
    const Token& open = *open_.back();
    return format_message("'%.*s' of line %u is not closed", VIEW(token_spelling(open.kind)), open.loc.line);
  }

  /// An atom, in a place where atoms are not allowed, that is similar to a reserved word.
  std::string misspelt_word() const {
    const bool two = ends_expression(before_.kind) && begins_expression(here_, next_) &&
                     before_.loc.line == here_.loc.line;
    for (const Token* t : {&here_, &before_}) {
      if (t == &here_ && next_.kind == Tok::kLParen) continue;  // a call
      if (t->kind != Tok::kAtom || !two || t->text != quote_atom(t->text)) continue;
      NearName near(t->text);
      for (const std::string_view word :
           {"after", "andalso", "begin", "case", "catch", "end", "maybe", "orelse", "receive", "when"})
        near.offer(word);
      if (near.found().empty()) continue;
      return format_message("did you mean '%.*s' in place of '%.*s'?", VIEW(near.found()), VIEW(t->text));
    }
    return {};
  }

  std::string misspelt_attribute() const {
    const bool attribute = at_ > 1 && form_[0].kind == Tok::kMinus && form_[1].kind == Tok::kAtom;
    return attribute ? meant_attribute(form_[1].text) : std::string();
  }

  /// -spec or another attribute that was read as a subtraction, because the form before has no '.'.
  bool attribute_before() const {
    const Token minus = token(at_, -2);
    return at_ > 2 && before_.kind == Tok::kAtom && minus.kind == Tok::kMinus && minus.loc.column == 1 &&
           minus.loc.line > token(at_, -3).loc.line;
  }

  bool begins_form() const {
    return at_ > 0 && here_.loc.column == 1 && here_.loc.line > before_.loc.line &&
           ((here_.kind == Tok::kAtom && next_.kind == Tok::kLParen) ||
            (here_.kind == Tok::kMinus && next_.kind == Tok::kAtom));
  }

  std::string missing_separator() const {
    if (attribute_before())
      return format_message(" (is a '.' missing at the end of line %u?)", token(at_, -3).loc.line);
    const bool first_of_line = at_ > 0 && here_.loc.line > before_.loc.line;
    if (!first_of_line || !ends_expression(before_.kind)) return {};
    if (!begins_form() && !(separator_wanted() && begins_expression(here_, next_))) return {};
    return format_message(" (is a '%c' missing at the end of line %u?)", begins_form() ? '.' : ',',
                          before_.loc.line);
  }

  std::string guard() const {
    return here_.kind == Tok::kWhen ? "; a guard stands between the patterns of a clause and '->'" : "";
  }

  std::span<const Token> form_;
  std::string_view wanted_;
  std::size_t at_;
  Token before_, here_, next_;
  std::vector<const Token*> open_;
};

}  // namespace

std::string meant_attribute(std::string_view wrong) {
  if (is_attribute(wrong)) return {};
  NearName near(wrong);
  for (const std::string_view name : kAttributes) near.offer(name);
  return did_you_mean(std::string(near.found()));
}

SyntaxHint syntax_hint(std::span<const Token> form, std::size_t at, std::string_view wanted) {
  return Place(form, at, wanted).hint();
}

}  // namespace vmrun::compile
