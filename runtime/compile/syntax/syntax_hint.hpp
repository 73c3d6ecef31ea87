#pragma once
// What may be wrong where a parser cannot go on: words and operators of other languages, separators
// that are missing or too many, reserved words used as names, brackets and blocks that are not
// closed. Looked for after an error only. One compilation, one thread.

#include <span>
#include <string>
#include <string_view>

#include "runtime/compile/syntax/token.hpp"

namespace vmrun::compile {

struct SyntaxHint {
  std::string text;      // empty: none
  bool instead = false;  // it says more than what the parser expected; else it follows that
};

/// form: the tokens of a form; at: of the one that does not fit; wanted: what the parser expected.
SyntaxHint syntax_hint(std::span<const Token> form, size_t at, std::string_view wanted);

/// ", did you mean NAME?" of an attribute whose name is like one that means something.
std::string meant_attribute(std::string_view wrong);

}  // namespace vmrun::compile
