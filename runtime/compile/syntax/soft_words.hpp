// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runtime/compile/syntax/token.hpp"

/// `maybe` and `else` are reserved in OTP 27, and atoms in OTP 25 unless a feature is enabled.
/// Programs of both kinds must run, so the position of such a word decides what it is.
namespace vmrun::compile {

/// Whether it is `maybe` or `else`, which may still become an atom.
inline bool is_soft_word(const Token& t) { return t.kind == Tok::kMaybe || t.kind == Tok::kElse; }

/// Decides in the tokens of one form, macros expanded. `maybe` stays a reserved word where an
/// expression follows, unless that is the argument list of a call, written without a space. `else`
/// stays one where a body of maybe may end. Everywhere else they become atoms.
void settle_soft_words(std::vector<Token>& form);

}  // namespace vmrun::compile
