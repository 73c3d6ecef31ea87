// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/compile/source/source.hpp"

/// Tokens of Erlang source text. The table below is the only list of fixed tokens: the enum, their
/// spelling and the recognition of keywords are made from it.
namespace vmrun::compile {

// clang-format off

// X(name, spelling): reserved words.
#define VMRUN_KEYWORDS(X) \
  X(After, "after") X(And, "and") X(Andalso, "andalso") X(Band, "band") X(Begin, "begin") \
  X(Bnot, "bnot") X(Bor, "bor") X(Bsl, "bsl") X(Bsr, "bsr") X(Bxor, "bxor") X(Case, "case") \
  X(Catch, "catch") X(Cond, "cond") X(Div, "div") X(Else, "else") X(End, "end") X(Fun, "fun") \
  X(If, "if") X(Let, "let") X(Maybe, "maybe") X(Not, "not") X(Of, "of") X(Or, "or") \
  X(Orelse, "orelse") X(Receive, "receive") X(Rem, "rem") X(Try, "try") X(When, "when") \
  X(Xor, "xor")

// X(name, spelling): punctuation.
#define VMRUN_PUNCTUATION(X) \
  X(LParen, "(") X(RParen, ")") X(LBrace, "{") X(RBrace, "}") X(LBracket, "[") X(RBracket, "]") \
  X(LBin, "<<") X(RBin, ">>") X(Comma, ",") X(Semicolon, ";") X(Arrow, "->") X(Bar, "|") \
  X(DoubleBar, "||") X(Colon, ":") X(DoubleColon, "::") X(Hash, "#") X(Point, ".") X(DotDot, "..") \
  X(Ellipsis, "...") X(Equal, "=") X(EqEq, "==") X(NotEq, "/=") X(ExactEq, "=:=") X(ExactNe, "=/=") \
  X(Less, "<") X(LessEq, "=<") X(Greater, ">") X(GreaterEq, ">=") X(Plus, "+") X(Minus, "-") \
  X(Star, "*") X(Slash, "/") X(PlusPlus, "++") X(MinusMinus, "--") X(Bang, "!") X(Question, "?") \
  X(MaybeMatch, "?=") X(LeftArrow, "<-") X(LeftDouble, "<=") X(MapAssoc, "=>") X(MapExact, ":=") \
  X(StrictArrow, "<:-") X(StrictDouble, "<:=") X(Zip, "&&")

// clang-format on

enum class Tok : std::uint8_t {
  kEof,      // text: what ends there, if not a file
  kDot,      // the end of a form: '.' before white space, a comment or the end of the text
  kError,    // text: what is wrong; in its place, so that errors in skipped code are not reported
  kAtom,     // text
  kVar,      // text
  kInteger,  // text: the digits without underscores, base
  kFloat,    // text: without underscores; base; unless that is 10, # stands before an exponent
  kChar,     // code
  kString,   // chars
  kSigil,    // text: the prefix ("", "b", "s", …), chars
#define X(name, spelling) k##name,
  VMRUN_KEYWORDS(X) VMRUN_PUNCTUATION(X)
#undef X
};

struct Token {
  Tok kind = Tok::kEof;
  std::uint8_t base = 10;
  Loc loc;
  char32_t code = 0;  // of kMaybe: the character that follows
  std::string_view text;
  std::u32string_view chars;
};

/// Spelling of a fixed token, or a description ("atom", "end of file") of the others.
std::string_view token_spelling(Tok kind);

/// Whether it is a reserved word.
bool is_keyword(Tok kind);

/// Returns the token as messages show it: 'foo', "abc", X, 42.
std::string describe_token(const Token& token);

/// Returns the token as `??Arg` writes it.
std::string token_source(const Token& token);

/// Returns an atom as source text, quoted if necessary.
std::string quote_atom(std::string_view name);

/// Returns the value of a kFloat; nothing if it is too large.
std::optional<double> float_of_token(const Token& token);

/// Returns the reserved word with this spelling, or kAtom.
Tok keyword_of(std::string_view word);

}  // namespace vmrun::compile
