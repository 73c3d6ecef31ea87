#pragma once
// `maybe` and `else` are reserved in OTP 27 and atoms in OTP 25, unless a feature is asked for.
// Both kinds of programs are to run: what such a word is depends on where it stands.

#include <vector>

#include "runtime/compile/syntax/token.hpp"

namespace vmrun::compile {

/// `maybe`, `else`, and not settled yet.
inline bool is_soft_word(const Token& t) { return t.kind == Tok::kMaybe || t.kind == Tok::kElse; }

/// In the tokens of one form, macros expanded: `maybe` stays a reserved word where an expression
/// follows, unless that is the list of arguments of a call, written without a space; `else` where a
/// body of maybe may end. Elsewhere they become atoms.
void settle_soft_words(std::vector<Token>& form);

}  // namespace vmrun::compile
