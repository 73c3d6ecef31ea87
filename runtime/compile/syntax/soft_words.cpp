// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/soft_words.hpp"

#include <algorithm>

namespace vmrun::compile {
namespace {

void make_atom(Token& word) {
  word.text = token_spelling(word.kind);
  word.kind = Tok::kAtom;
}

bool begins_expression(Tok kind) {
  switch (kind) {
    case Tok::kAtom:
    case Tok::kVar:
    case Tok::kInteger:
    case Tok::kFloat:
    case Tok::kChar:
    case Tok::kString:
    case Tok::kSigil:
    case Tok::kBegin:
    case Tok::kBnot:
    case Tok::kCase:
    case Tok::kCatch:
    case Tok::kFun:
    case Tok::kIf:
    case Tok::kMaybe:
    case Tok::kNot:
    case Tok::kReceive:
    case Tok::kTry:
    case Tok::kLParen:
    case Tok::kLBrace:
    case Tok::kLBracket:
    case Tok::kLBin:
    case Tok::kHash: return true;
    default: return false;
  }
}

/// The constructs that are open at a place in the form.
class Nesting {
 public:
  enum class Part { kOther, kMaybeBody, kMaybeElse };

  void pass(const Token& t, const Token& next, const Token& after_next) {
    switch (t.kind) {
      case Tok::kMaybe: open_.push_back(Part::kMaybeBody); return;
      case Tok::kElse: open_.back() = Part::kMaybeElse; return;
      case Tok::kFun:
        if (next.kind != Tok::kLParen && (next.kind != Tok::kVar || after_next.kind != Tok::kLParen)) return;
        [[fallthrough]];
      case Tok::kBegin:
      case Tok::kCase:
      case Tok::kIf:
      case Tok::kReceive:
      case Tok::kTry:
      case Tok::kLParen:
      case Tok::kLBrace:
      case Tok::kLBracket:
      case Tok::kLBin: open_.push_back(Part::kOther); return;
      case Tok::kEnd:
      case Tok::kRParen:
      case Tok::kRBrace:
      case Tok::kRBracket:
      case Tok::kRBin:
        if (!open_.empty()) open_.pop_back();
        return;
      default: return;
    }
  }
  bool in_body_of_maybe() const { return !open_.empty() && open_.back() == Part::kMaybeBody; }

 private:
  std::vector<Part> open_;
};

bool is_call(const Token& name, const Token& next) { return next.kind == Tok::kLParen && name.code == U'('; }

bool is_reserved(const Token& word, const Token& before, const Token& next, const Nesting& nesting) {
  if (word.kind == Tok::kMaybe)
    return before.kind != Tok::kHash && before.kind != Tok::kColon && begins_expression(next.kind) &&
           !is_call(word, next);
  // An expression ends in front of it, and clauses follow.
  return nesting.in_body_of_maybe() && before.kind != Tok::kComma && before.kind != Tok::kMaybe &&
         before.kind != Tok::kEqual && before.kind != Tok::kMaybeMatch;
}

}  // namespace

void settle_soft_words(std::vector<Token>& form) {
  if (std::none_of(form.begin(), form.end(), is_soft_word)) return;
  Nesting nesting;
  const Token none;
  const auto at = [&](std::size_t i) -> const Token& { return i < form.size() ? form[i] : none; };
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (is_soft_word(form[i]) && !is_reserved(form[i], i == 0 ? none : form[i - 1], at(i + 1), nesting))
      make_atom(form[i]);
    nesting.pass(form[i], at(i + 1), at(i + 2));
  }
}

}  // namespace vmrun::compile
