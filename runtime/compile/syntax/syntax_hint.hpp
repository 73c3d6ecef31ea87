// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/compile/syntax/token.hpp"

/// What may be wrong where a parser cannot go on: words and operators of other languages,
/// separators that are missing or too many, reserved words used as names, brackets and blocks that
/// are not closed. Used only after an error. One compilation, one thread.
namespace vmrun::compile {

struct SyntaxHint {
  std::string text;      // empty: no hint
  bool instead = false;  // the hint replaces the parser's expectation, else it follows it
};

/// form: the tokens of a form; at: the index of the one that does not fit; wanted: what the parser
/// expected.
SyntaxHint syntax_hint(std::span<const Token> form, std::size_t at, std::string_view wanted);

/// Returns ", did you mean NAME?" for an attribute whose name is similar to a known one.
std::string meant_attribute(std::string_view wrong);

}  // namespace vmrun::compile
