// Macro expansion. Arguments are expanded before they are substituted, the result is expanded again
// with the macro itself marked as in use, so recursion is found and arguments may use the macro
// they are given to.

#include <algorithm>
#include <string>

#include "runtime/compile/syntax/preprocessor.hpp"

namespace vmrun::compile {

namespace {

constexpr size_t kMaxProduced = 4'000'000;
constexpr int kMaxMacroDepth = 300;

}  // namespace

struct Preprocessor::Active {
  std::string_view name;
  size_t arity;  // SIZE_MAX: without parameters
  const Active* outer;
};

Token Preprocessor::make_string(Loc loc, std::string_view utf8) {
  std::u32string chars;
  for (size_t at = 0; at < utf8.size();) chars.push_back(next_code_point(utf8, at));
  auto kept = session_.arena.copy(chars.data(), chars.size());
  Token t;
  t.kind = Tok::kString;
  t.loc = loc;
  t.chars = {kept.data(), kept.size()};
  return t;
}

/// Macros whose value depends on the place.
bool Preprocessor::expand_dynamic(const Token& name, Loc at, std::vector<Token>& out, bool& known) {
  known = true;
  auto atom = [&](std::string_view text) {
    Token t;
    t.kind = Tok::kAtom;
    t.loc = at;
    t.text = session_.names.intern(text);
    out.push_back(t);
    return true;
  };
  auto number = [&](size_t value) {
    Token t;
    t.kind = Tok::kInteger;
    t.loc = at;
    t.text = session_.names.intern(std::to_string(value));
    out.push_back(t);
    return true;
  };
  std::string_view n = name.text;
  if (n == "LINE") return number(at.line);
  if (n == "FILE") {
    out.push_back(make_string(at, session_.sources.name(at.file)));
    return true;
  }
  if (n == "MODULE" || n == "MODULE_STRING") {
    if (module_.empty()) {
      error(name.loc, format_message("macro '%.*s' used before the -module attribute", VIEW(n)));
      return false;
    }
    if (n == "MODULE") return atom(module_);
    out.push_back(make_string(at, module_));
    return true;
  }
  if (n == "FUNCTION_NAME" || n == "FUNCTION_ARITY") {
    if (function_name_.empty()) {
      error(name.loc, format_message("macro '%.*s' used outside a function", VIEW(n)));
      return false;
    }
    return n == "FUNCTION_NAME" ? atom(function_name_) : number(function_arity_);
  }
  known = false;
  return true;
}

bool Preprocessor::expand(const Token* tokens, size_t count, std::vector<Token>& out, const Active* active,
                          int depth) {
  for (size_t i = 0; i < count;) {
    if (tokens[i].kind == Tok::kQuestion) {
      if (!expand_call(tokens, count, i, out, active, depth)) return false;
    } else {
      out.push_back(tokens[i++]);
    }
  }
  return true;
}

/// Arguments of a macro call: `i` stands at '(' and comes to stand behind the matching ')'.
bool Preprocessor::split_arguments(const Token* tokens, size_t count, size_t& i,
                                   std::vector<std::vector<Token>>& args) {
  std::vector<Tok> closers{Tok::kRParen};
  std::vector<Token> arg;
  Loc open = tokens[i].loc;
  for (i++; i < count; i++) {
    const Token& t = tokens[i];
    auto next_is = [&](size_t k, Tok kind) { return i + k < count && tokens[i + k].kind == kind; };
    switch (t.kind) {
      case Tok::kLParen: closers.push_back(Tok::kRParen); break;
      case Tok::kLBracket: closers.push_back(Tok::kRBracket); break;
      case Tok::kLBrace: closers.push_back(Tok::kRBrace); break;
      case Tok::kLBin: closers.push_back(Tok::kRBin); break;
      case Tok::kBegin:
      case Tok::kIf:
      case Tok::kCase:
      case Tok::kReceive:
      case Tok::kTry:
      case Tok::kMaybe: closers.push_back(Tok::kEnd); break;
      case Tok::kFun:
        if (next_is(1, Tok::kLParen) || (next_is(1, Tok::kVar) && next_is(2, Tok::kLParen)))
          closers.push_back(Tok::kEnd);
        break;
      case Tok::kRParen:
      case Tok::kRBracket:
      case Tok::kRBrace:
      case Tok::kRBin:
      case Tok::kEnd:
        if (closers.back() != t.kind) {
          error(t.loc,
                "badly formed argument of a macro: " + describe_token(t) + " without an opening partner");
          return false;
        }
        closers.pop_back();
        if (closers.empty()) {
          i++;
          if (!args.empty() || !arg.empty()) args.push_back(std::move(arg));
          return true;
        }
        break;
      case Tok::kComma:
        if (closers.size() == 1) {
          args.push_back(std::move(arg));
          arg.clear();
          continue;
        }
        break;
      default: break;
    }
    if (t.kind == Tok::kDot || t.kind == Tok::kEof) break;
    arg.push_back(t);
  }
  error(open, "the arguments of a macro call are not closed by ')'");
  return false;
}

/// `i` stands at '?' and comes to stand behind the call.
bool Preprocessor::expand_call(const Token* tokens, size_t count, size_t& i, std::vector<Token>& out,
                               const Active* active, int depth) {
  Loc at = tokens[i].loc;
  i++;
  if (i >= count || (tokens[i].kind != Tok::kVar && tokens[i].kind != Tok::kAtom)) {
    bool word = i < count && keyword_of(token_spelling(tokens[i].kind)) != Tok::kAtom;
    std::string shown = i < count ? describe_token(tokens[i]) : "the end";
    error(at, word ? format_message("undefined macro %s", shown.c_str())
                   : "'?' is not followed by the name of a macro");
    return false;
  }
  const Token& name = tokens[i++];
  if (depth > kMaxMacroDepth) {
    error(at, "macro calls are nested too deep");
    return false;
  }
  bool known;
  if (!expand_dynamic(name, at, out, known)) return false;
  if (known) return true;

  auto it = macros_.find(name.text);
  bool feature = name.text == "FEATURE_AVAILABLE" || name.text == "FEATURE_ENABLED";
  if ((it == macros_.end() || it->second.empty()) && !feature) {
    error(at, format_message("undefined macro '%.*s'", VIEW(name.text)));
    return false;
  }
  static const std::vector<Macro> kNone;
  const std::vector<Macro>& versions = feature ? kNone : it->second;
  const Macro* plain = nullptr;
  bool with_params = feature;
  for (const Macro& m : versions) (m.has_params ? (void)(with_params = true) : (void)(plain = &m));

  const Macro* chosen = plain;
  std::vector<std::vector<Token>> raw_args;
  if (with_params && i < count && tokens[i].kind == Tok::kLParen) {
    size_t after = i;
    // With a plain version at hand the parenthesis may belong to the text behind the macro.
    if (!split_arguments(tokens, count, after, raw_args)) return false;
    if (feature) {
      i = after;
      Token t;
      t.kind = Tok::kAtom;
      t.loc = at;
      bool is_maybe = raw_args.size() == 1 && raw_args[0].size() == 1 && raw_args[0][0].text == "maybe_expr";
      bool on = is_maybe && (name.text == "FEATURE_AVAILABLE" || inputs_.back().lexer->maybe_enabled());
      t.text = session_.names.intern(on ? "true" : "false");
      out.push_back(t);
      return true;
    }
    for (const Macro& m : versions) {
      bool one_empty = m.params.size() == 1 && raw_args.empty();
      if (!m.has_params || (m.params.size() != raw_args.size() && !one_empty)) continue;
      if (one_empty && std::any_of(versions.begin(), versions.end(),
                                   [](const Macro& v) { return v.has_params && v.params.empty(); }))
        continue;
      chosen = &m;
      if (one_empty) raw_args.emplace_back();
      i = after;
      break;
    }
  }
  if (chosen == nullptr) {
    bool called = i < count && tokens[i].kind == Tok::kLParen;
    error(at, called ? format_message("argument mismatch for macro '%.*s': no version with %zu arguments",
                                      VIEW(name.text), raw_args.size())
                     : format_message("macro '%.*s' needs arguments", VIEW(name.text)));
    return false;
  }
  Active self{name.text, chosen->has_params ? chosen->params.size() : SIZE_MAX, active};
  for (const Active* a = active; a != nullptr; a = a->outer) {
    if (a->name == self.name && a->arity == self.arity) {
      error(at, format_message("circular macro '%.*s'", VIEW(name.text)));
      return false;
    }
  }

  std::vector<std::vector<Token>> args(raw_args.size());
  for (size_t k = 0; k < raw_args.size() && chosen->has_params; k++)
    if (!expand(raw_args[k].data(), raw_args[k].size(), args[k], active, depth + 1)) return false;

  auto param = [&](const Token& t) {
    if (!chosen->has_params || t.kind != Tok::kVar) return SIZE_MAX;
    auto found = std::find(chosen->params.begin(), chosen->params.end(), t.text);
    return found == chosen->params.end() ? SIZE_MAX : static_cast<size_t>(found - chosen->params.begin());
  };
  std::vector<Token> text;
  const std::vector<Token>& body = chosen->body;
  for (size_t k = 0; k < body.size(); k++) {
    bool stringify = body[k].kind == Tok::kQuestion && k + 2 < body.size() + 0 &&
                     body[k + 1].kind == Tok::kQuestion && param(body[k + 2]) != SIZE_MAX;
    if (stringify) {
      std::string joined;
      for (const Token& t : raw_args[param(body[k + 2])])
        joined += (joined.empty() ? "" : " ") + token_source(t);
      text.push_back(make_string(at, joined));
      k += 2;
    } else if (bool macro_name = k > 0 && body[k - 1].kind == Tok::kQuestion;
               !macro_name && param(body[k]) != SIZE_MAX) {
      const auto& arg = args[param(body[k])];
      text.insert(text.end(), arg.begin(), arg.end());
      produced_ += arg.size();
    } else {
      text.push_back(body[k]);
      text.back().loc = at;
    }
    if (++produced_ > kMaxProduced) {
      error(at, "macro expansion is too large");
      return false;
    }
  }
  return expand(text.data(), text.size(), out, &self, depth + 1);
}

}  // namespace vmrun::compile
