// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/macros.hpp"

#include <algorithm>
#include <string>

#include "runtime/compile/syntax/lexer.hpp"
#include "runtime/compile/syntax/soft_words.hpp"
#include "vm/base/near_name.hpp"
#include "vm/base/release_table.hpp"

namespace vmrun::compile {

namespace {

constexpr std::size_t kMaxProduced = 4'000'000;
constexpr int kMaxMacroDepth = 300;

/// Macros whose value depends on the place.
constexpr std::string_view kDynamic[] = {"FILE",
                                         "LINE",
                                         "MODULE",
                                         "MODULE_STRING",
                                         "FUNCTION_NAME",
                                         "FUNCTION_ARITY",
                                         "FEATURE_AVAILABLE",
                                         "FEATURE_ENABLED"};

/// Macros that every use finds, `-undef` or not.
bool is_permanent(std::string_view name) {
  return name == "LINE" || name == "FUNCTION_NAME" || name == "FUNCTION_ARITY";
}
bool is_feature_macro(std::string_view name) {
  return name == "FEATURE_AVAILABLE" || name == "FEATURE_ENABLED";
}

/// Reads the head of a function, as far as the name and the arity need it.
class HeadReader {
 public:
  /// Returns whether the head goes on behind this token.
  bool read(const Token& t) {
    if (tokens_++ == 0) {
      name_ = is_soft_word(t) ? token_spelling(t.kind) : t.kind == Tok::kAtom ? t.text : std::string_view();
      return !name_.empty();
    }
    const Tok k = t.kind;
    if (tokens_ == 2) return is_function_ = k == Tok::kLParen;
    if (depth_ == 1 && k == Tok::kRParen) return false;
    if (tokens_ == 3 || (depth_ == 1 && k == Tok::kComma)) ++arity_;
    if (k == Tok::kLParen || k == Tok::kLBrace || k == Tok::kLBracket || k == Tok::kLBin) ++depth_;
    if (k == Tok::kRParen || k == Tok::kRBrace || k == Tok::kRBracket || k == Tok::kRBin) --depth_;
    return depth_ > 0;
  }
  std::string_view name() const { return is_function_ ? name_ : std::string_view(); }
  std::size_t arity() const { return arity_; }

 private:
  std::string_view name_;
  bool is_function_ = false;
  std::size_t tokens_ = 0, arity_ = 0;
  int depth_ = 1;
};

}  // namespace

// --- definitions -------------------------------------------------------------------------------

MacroExpander::MacroExpander(Session& session, const PreprocessorOptions& options) : session_(session) {
  Names& names = session.names;
  module_ = names.intern(options.default_module);
  auto atom = [&](std::string_view text) {
    Token t;
    t.kind = Tok::kAtom;
    t.text = names.intern(text);
    return t;
  };
  Token release;
  release.kind = Tok::kInteger;
  release.text = names.intern(std::to_string(kNewestRelease));
  define_predefined("MACHINE", {atom("BEAM")});
  define_predefined("BEAM", {atom("true")});
  define_predefined("OTP_RELEASE", {release});
  for (auto& [name, value] : options.macros) define_from_option(name, value);
}

void MacroExpander::define_predefined(std::string_view name, std::vector<Token> body) {
  Macro m;
  m.predefined = true;
  m.body = std::move(body);
  macros_[session_.names.intern(name)].push_back(std::move(m));
}

void MacroExpander::define_from_option(const std::string& name, const std::string& value) {
  Macro m;
  std::string_view text =
      session_.arena.copy(value.empty() ? std::string_view("true") : std::string_view(value));
  if (find_invalid_utf8(text) != std::string_view::npos) return;
  const std::uint32_t file = session_.sources.add("-D" + name, std::string(text));
  Lexer lexer(session_.arena, session_.names, text, file);
  for (Token t = lexer.next(); t.kind != Tok::kEof && t.kind != Tok::kDot; t = lexer.next()) {
    if (t.kind == Tok::kError) error(t.loc, std::string(t.text));
    m.body.push_back(t);
  }
  macros_[session_.names.intern(name)] = {std::move(m)};
}

bool MacroExpander::is_dynamic(std::string_view name) const {
  return std::find(std::begin(kDynamic), std::end(kDynamic), name) != std::end(kDynamic) &&
         undefined_.count(name) == 0;
}

bool MacroExpander::is_defined(std::string_view name) const {
  if (is_dynamic(name)) return true;
  const auto it = macros_.find(name);
  return it != macros_.end() && !it->second.empty();
}

std::string MacroExpander::meant_macro(std::string_view wrong) const {
  NearName near(wrong);
  for (const std::string_view name : kDynamic)
    if (is_dynamic(name)) near.offer(name);
  for (const auto& [name, versions] : macros_)
    if (!versions.empty()) near.offer(name);
  return near.found().empty() ? std::string() : did_you_mean("'" + std::string(near.found()) + "'");
}

void MacroExpander::define(const std::vector<Token>& form) {
  const std::size_t n = form.size();
  const bool shaped = n >= 7 && form[2].kind == Tok::kLParen && form[n - 2].kind == Tok::kRParen &&
                      (form[3].kind == Tok::kAtom || form[3].kind == Tok::kVar);
  Macro macro;
  std::size_t i = 4;
  if (shaped && form[i].kind == Tok::kLParen) {
    macro.has_params = true;
    ++i;
    if (form[i].kind == Tok::kRParen) {
      ++i;
    } else {
      for (;;) {
        if (i + 1 >= n || form[i].kind != Tok::kVar) {
          error(form[std::min(i, n - 1)].loc,
                "badly formed '-define': the parameters of a macro are variables");
          return;
        }
        if (std::find(macro.params.begin(), macro.params.end(), form[i].text) != macro.params.end()) {
          error(form[i].loc, format_message("macro parameter '%.*s' occurs twice", VIEW(form[i].text)));
          return;
        }
        macro.params.push_back(form[i].text);
        const Tok after = form[i + 1].kind;
        i += 2;
        if (after == Tok::kRParen) break;
        if (after != Tok::kComma) {
          error(form[i - 1].loc, "badly formed '-define': expected ',' or ')' after a macro parameter");
          return;
        }
      }
    }
  }
  if (!shaped || i >= n - 2 || form[i].kind != Tok::kComma) {
    error(
        form[0].loc,
        "badly formed '-define': expected -define(NAME, Replacement). or -define(NAME(Args), Replacement).");
    return;
  }
  macro.body.assign(form.begin() + static_cast<std::ptrdiff_t>(i) + 1, form.end() - 2);
  const std::string_view name = form[3].text;
  auto& versions = macros_[name];
  // The macros of features have one parameter; other versions may stand beside them.
  bool dynamic = is_dynamic(name) && (!is_feature_macro(name) || macro.params.size() == 1);
  for (Macro& old : versions) {
    if (old.predefined) dynamic = true;
    const bool same = old.has_params == macro.has_params && old.params.size() == macro.params.size();
    if (same && !old.predefined) {
      error(form[3].loc, format_message("redefining macro '%.*s'", VIEW(name)));
      return;
    }
  }
  if (dynamic) {
    error(form[3].loc, format_message("redefining predefined macro '%.*s'", VIEW(name)));
    return;
  }
  versions.push_back(std::move(macro));
}

void MacroExpander::undefine(std::string_view name) {
  if (is_dynamic(name)) undefined_.insert(name);
  macros_.erase(name);
}

// --- expansion ---------------------------------------------------------------------------------

struct MacroExpander::Active {
  std::string_view name;
  std::size_t arity;  // SIZE_MAX: without parameters
  const Active* outer;
};

Token MacroExpander::make_string(Loc loc, std::string_view utf8) {
  std::u32string chars;
  for (std::size_t at = 0; at < utf8.size();) chars.push_back(next_code_point(utf8, at));
  const auto kept = session_.arena.copy(chars.data(), chars.size());
  Token t;
  t.kind = Tok::kString;
  t.loc = loc;
  t.chars = {kept.data(), kept.size()};
  return t;
}

/// Macros whose value depends on the place.
bool MacroExpander::expand_dynamic(const Token& name, Loc at, std::vector<Token>& out, bool& known) {
  known = true;
  auto atom = [&](std::string_view text) {
    Token t;
    t.kind = Tok::kAtom;
    t.loc = at;
    t.text = session_.names.intern(text);
    out.push_back(t);
    return true;
  };
  auto number = [&](std::size_t value) {
    Token t;
    t.kind = Tok::kInteger;
    t.loc = at;
    t.text = session_.names.intern(std::to_string(value));
    out.push_back(t);
    return true;
  };
  const std::string_view n = name.text;
  if (!is_dynamic(n) && !is_permanent(n)) return known = false, true;
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
    if (awaits_head_) {
      Token question;
      question.kind = Tok::kQuestion;
      question.loc = at;
      out.insert(out.end(), {question, name});
      return true;
    }
    if (function_name_.empty()) {
      error(name.loc, format_message("macro '%.*s' used outside a function", VIEW(n)));
      return false;
    }
    return n == "FUNCTION_NAME" ? atom(function_name_) : number(function_arity_);
  }
  known = false;
  return true;
}

bool MacroExpander::expand(const Token* tokens, std::size_t count, std::vector<Token>& out,
                           const Active* active, int depth) {
  for (std::size_t i = 0; i < count;) {
    if (tokens[i].kind == Tok::kQuestion) {
      if (!expand_call(tokens, count, i, out, active, depth)) return false;
    } else {
      out.push_back(tokens[i++]);
    }
  }
  return true;
}

/// Splits the arguments of a macro call. `i` is at '(' and is moved behind the matching ')'.
bool MacroExpander::split_arguments(const Token* tokens, std::size_t count, std::size_t& i, Arguments& args) {
  std::vector<Tok> closers{Tok::kRParen};
  std::vector<Token> arg;
  const Loc open = tokens[i].loc;
  for (i++; i < count; ++i) {
    const Token& t = tokens[i];
    auto next_is = [&](std::size_t k, Tok kind) { return i + k < count && tokens[i + k].kind == kind; };
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
          ++i;
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

/// Whether the name, in front of `i`, and what follows call the predefined macro of a feature.
bool MacroExpander::asks_feature(const Token& name, const Token* tokens, std::size_t count, std::size_t i) {
  if (!is_feature_macro(name.text) || !is_dynamic(name.text)) return false;
  const auto others = macros_.find(name.text);
  if (others == macros_.end() || others->second.empty()) return true;
  if (i >= count || tokens[i].kind != Tok::kLParen) return false;
  Arguments args;
  return split_arguments(tokens, count, i, args) && args.size() == 1;
}

/// Expands `?FEATURE_AVAILABLE(F)` and `?FEATURE_ENABLED(F)`; `i` is behind the name.
bool MacroExpander::expand_feature(const Token& name, Loc at, const Token* tokens, std::size_t count,
                                   std::size_t& i, std::vector<Token>& out) {
  if (i >= count || tokens[i].kind != Tok::kLParen) {
    error(at, format_message("macro '%.*s' needs arguments", VIEW(name.text)));
    return false;
  }
  Arguments args;
  if (!split_arguments(tokens, count, i, args)) return false;
  const std::string_view feature = args.size() == 1 && args[0].size() == 1 ? args[0][0].text : "";
  const bool available = feature == "maybe_expr" || feature == "compr_assign";
  const bool enabled = feature == "maybe_expr" ? maybe_enabled_ : session_.matches_generate;
  const bool on = available && (name.text == "FEATURE_AVAILABLE" || enabled);
  Token t;
  t.kind = Tok::kAtom;
  t.loc = at;
  t.text = session_.names.intern(on ? "true" : "false");
  out.push_back(t);
  return true;
}

/// Chooses the version of a macro that is called: the one with as many parameters as arguments
/// follow, else the one without parameters. `i` is behind the name and is moved behind the macro's
/// arguments.
const MacroExpander::Macro* MacroExpander::choose(const std::vector<Macro>& versions, const Token& name,
                                                  Loc at, const Token* tokens, std::size_t count,
                                                  std::size_t& i, Arguments& args) {
  const Macro* plain = nullptr;
  bool with_params = false;
  for (const Macro& m : versions) (m.has_params ? (void)(with_params = true) : (void)(plain = &m));
  const bool called = i < count && tokens[i].kind == Tok::kLParen;
  if (with_params && called) {
    std::size_t after = i;
    // If there is a version without parameters too, the parenthesis may belong to the text behind
    // the macro.
    if (!split_arguments(tokens, count, after, args)) return nullptr;
    for (const Macro& m : versions) {
      const bool one_empty = m.params.size() == 1 && args.empty();
      if (!m.has_params || (m.params.size() != args.size() && !one_empty)) continue;
      if (one_empty && std::any_of(versions.begin(), versions.end(),
                                   [](const Macro& v) { return v.has_params && v.params.empty(); }))
        continue;
      if (one_empty) args.emplace_back();
      i = after;
      return &m;
    }
  }
  if (!plain) {
    error(at, called ? format_message("argument mismatch for macro '%.*s': no version with %zu arguments",
                                      VIEW(name.text), args.size())
                     : format_message("macro '%.*s' needs arguments", VIEW(name.text)));
  }
  return plain;
}

/// Appends the body of a macro with its arguments in place of its parameters: unchanged for
/// `??Param`, expanded for `Param`.
bool MacroExpander::substitute(const Macro& macro, Loc at, const Arguments& raw_args, const Arguments& args,
                               std::vector<Token>& text) {
  auto param = [&](const Token& t) {
    if (!macro.has_params || t.kind != Tok::kVar) return SIZE_MAX;
    const auto found = std::find(macro.params.begin(), macro.params.end(), t.text);
    return found == macro.params.end() ? SIZE_MAX : static_cast<std::size_t>(found - macro.params.begin());
  };
  const std::vector<Token>& body = macro.body;
  for (std::size_t k = 0; k < body.size(); ++k) {
    const bool stringify = body[k].kind == Tok::kQuestion && k + 2 < body.size() + 0 &&
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
  return true;
}

/// Expands a call; `i` is at '?' and is moved behind the call.
bool MacroExpander::expand_call(const Token* tokens, std::size_t count, std::size_t& i,
                                std::vector<Token>& out, const Active* active, int depth) {
  const Loc at = tokens[i].loc;
  ++i;
  if (i >= count || (tokens[i].kind != Tok::kVar && tokens[i].kind != Tok::kAtom)) {
    const bool word = i < count && keyword_of(token_spelling(tokens[i].kind)) != Tok::kAtom;
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
  if (asks_feature(name, tokens, count, i)) return expand_feature(name, at, tokens, count, i, out);

  const auto it = macros_.find(name.text);
  if (it == macros_.end() || it->second.empty()) {
    std::string hint = meant_macro(name.text);
    if (name.loc.column != at.column + 1) hint = " ('?' begins a macro; a choice is written with if or case)";
    error(at, format_message("undefined macro '%.*s'%s", VIEW(name.text), hint.c_str()));
    return false;
  }
  Arguments raw_args;
  const Macro* chosen = choose(it->second, name, at, tokens, count, i, raw_args);
  if (!chosen) return false;
  Active self{name.text, chosen->has_params ? chosen->params.size() : SIZE_MAX, active};
  for (const Active* a = active; a != nullptr; a = a->outer) {
    if (a->name == self.name && a->arity == self.arity) {
      error(at, format_message("circular macro '%.*s'", VIEW(name.text)));
      return false;
    }
  }
  Arguments args(raw_args.size());
  for (std::size_t k = 0; k < raw_args.size() && chosen->has_params; ++k)
    if (!expand(raw_args[k].data(), raw_args[k].size(), args[k], active, depth + 1)) return false;
  std::vector<Token> text;
  if (!substitute(*chosen, at, raw_args, args, text)) return false;
  return expand(text.data(), text.size(), out, &self, depth + 1);
}

bool MacroExpander::expand_form(const std::vector<Token>& form, std::vector<Token>& out, bool maybe_enabled) {
  produced_ = 0;
  maybe_enabled_ = maybe_enabled;
  function_name_ = {};
  awaits_head_ = true;
  HeadReader reader;
  std::vector<Token> head;
  std::size_t i = 0, seen = 0;
  for (bool more = true, good = true; more && i < form.size();) {
    if (form[i].kind == Tok::kQuestion) good = expand_call(form.data(), form.size(), i, head, nullptr, 0);
    else head.push_back(form[i++]);
    if (!good) return awaits_head_ = false;
    while (more && seen < head.size()) more = reader.read(head[seen++]);
  }
  awaits_head_ = false;
  function_name_ = reader.name();
  function_arity_ = reader.arity();
  return expand(head.data(), head.size(), out, nullptr, 0) &&
         expand(form.data() + i, form.size() - i, out, nullptr, 0);
}

bool MacroExpander::expand(const Token* tokens, std::size_t count, std::vector<Token>& out,
                           bool maybe_enabled) {
  produced_ = 0;
  maybe_enabled_ = maybe_enabled;
  return expand(tokens, count, out, nullptr, 0);
}

}  // namespace vmrun::compile
