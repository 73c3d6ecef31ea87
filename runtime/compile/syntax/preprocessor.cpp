// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/preprocessor.hpp"

#include <algorithm>
#include <filesystem>

#include "runtime/code_path/installed_otp.hpp"
#include "runtime/compile/source/known_headers.hpp"
#include "runtime/compile/syntax/constant.hpp"
#include "runtime/compile/syntax/parser.hpp"
#include "runtime/compile/syntax/soft_words.hpp"

namespace vmrun::compile {

namespace {

constexpr std::size_t kMaxIncludeDepth = 64;

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string to_utf8(std::u32string_view chars) {
  std::string out;
  for (char32_t c : chars) append_utf8(out, c);
  return out;
}

/// Returns the word behind the '-' of an attribute, which may be a reserved word.
std::string_view attribute_name(const std::vector<Token>& form) {
  if (form.size() < 2 || form[0].kind != Tok::kMinus) return {};
  return form[1].kind == Tok::kAtom ? form[1].text : token_spelling(form[1].kind);
}

bool is_conditional(std::string_view name) {
  return name == "ifdef" || name == "ifndef" || name == "if" || name == "elif" || name == "else" ||
         name == "endif";
}

/// Whether `-feature` may stand behind this form.
bool may_precede_feature(const std::vector<Token>& form) {
  const std::string_view name = attribute_name(form);
  return name == "module" || name == "doc" || name == "moduledoc";
}

}  // namespace

Preprocessor::Preprocessor(Session& session, const PreprocessorOptions& options, std::uint32_t file)
    : session_(session), options_(options), macros_(session, options) {
  inputs_.push_back({std::make_unique<Lexer>(session.arena, session.names, session.sources.text(file), file),
                     session.sources.name(file), 0, file});
}

Preprocessor::~Preprocessor() = default;

// --- forms ---------------------------------------------------------------------------------------

/// Reads raw tokens up to the dot. Returns false at the end of the innermost input.
bool Preprocessor::read_form(std::vector<Token>& out, bool& failed) {
  out.clear();
  failed = false;
  Lexer& lexer = *inputs_.back().lexer;
  for (;;) {
    Token t = lexer.next();
    end_loc_ = t.loc;
    if (t.kind == Tok::kEof) {
      if (out.empty()) return false;
      out.push_back(t);
      return true;
    }
    if (t.kind == Tok::kError) {
      // In text that is skipped errors do not matter.
      if (active()) {
        error(t.loc, std::string(t.text));
        failed = true;
      } else {
        continue;
      }
      lexer.skip_form();
      return true;
    }
    out.push_back(t);
    if (t.kind == Tok::kDot) return true;
  }
}

bool Preprocessor::next_form(std::vector<Token>& out) {
  std::vector<Token> raw;
  while (!inputs_.empty()) {
    bool failed;
    if (!read_form(raw, failed)) {
      leave_input();
      continue;
    }
    if (failed) {
      unread_.note(raw);
      unread_.text = true;
      continue;
    }
    if (directive(raw)) continue;
    if (!active()) continue;
    out.clear();
    if (!macros_.expand_form(raw, out, inputs_.back().lexer->maybe_enabled())) {
      unread_.note(raw);
      continue;
    }
    settle_soft_words(out);
    if (!may_precede_feature(out)) features_settled_ = true;
    if (attribute_name(out) == "module" && out.size() > 3 && out[3].kind == Tok::kAtom)
      macros_.set_module(out[3].text);
    if (out.size() == 1 && out[0].kind == Tok::kDot) {
      error(out[0].loc, "syntax error before '.': expected a function or an attribute");
      continue;
    }
    return true;
  }
  return false;
}

void Preprocessor::leave_input() {
  Input& input = inputs_.back();
  while (conditionals_.size() > input.conditionals_at_entry) {
    Conditional& c = conditionals_.back();
    error(c.loc, format_message("unterminated '-%.*s': '-endif.' is missing", VIEW(c.directive)));
    conditionals_.pop_back();
  }
  const bool maybe_enabled = input.lexer->maybe_enabled();
  inputs_.pop_back();
  if (!inputs_.empty()) inputs_.back().lexer->set_maybe_enabled(maybe_enabled);
}

bool Preprocessor::expand(std::span<const Token> tokens, std::vector<Token>& out) {
  return macros_.expand(tokens.data(), tokens.size(), out, inputs_.back().lexer->maybe_enabled());
}

// --- directives ----------------------------------------------------------------------------------

/// Executes a directive. Returns false when the form is not one; it goes to the parser then.
bool Preprocessor::directive(const std::vector<Token>& form) {
  const std::string_view name = attribute_name(form);
  if (name.empty()) return false;
  if (is_conditional(name)) {
    if (form.back().kind == Tok::kEof) {
      error(form.back().loc, format_message("'-%.*s' does not end with '.'", VIEW(name)));
      return true;
    }
    return conditional_directive(name, form);
  }
  if (!active()) return true;
  const bool known = name == "define" || name == "undef" || name == "include" || name == "include_lib" ||
                     name == "error" || name == "warning" || name == "file" || name == "feature";
  if (!known) return false;
  if (form.back().kind == Tok::kEof) {
    error(form.back().loc, format_message("'-%.*s' does not end with '.'", VIEW(name)));
    return true;
  }
  if (name == "undef" || name == "error" || name == "warning") features_settled_ = true;
  if (name == "define") macros_.define(form);
  else if (name == "undef") undefine(form);
  else if (name == "include") include(form, false);
  else if (name == "include_lib") include(form, true);
  else if (name == "error") message(form, true);
  else if (name == "warning") message(form, false);
  else if (name == "file") file_attribute(form);
  else feature(form);
  return true;
}

/// Returns the name in `-directive(Name).`, or "" after an error.
std::string_view Preprocessor::name_argument(const std::vector<Token>& form, std::string_view directive) {
  const bool good = form.size() == 6 && form[2].kind == Tok::kLParen && form[4].kind == Tok::kRParen &&
                    (form[3].kind == Tok::kAtom || form[3].kind == Tok::kVar);
  if (good) return form[3].text;
  error(form[0].loc,
        format_message("badly formed '-%.*s': expected -%.*s(Name).", VIEW(directive), VIEW(directive)));
  return {};
}

bool Preprocessor::conditional_directive(std::string_view name, const std::vector<Token>& form) {
  const std::size_t floor = inputs_.back().conditionals_at_entry;
  if (name == "ifdef" || name == "ifndef" || name == "if") {
    Conditional c{form[0].loc, name, false, false, false, active()};
    if (c.outer_active) {
      if (name == "if") {
        c.active = condition(form);
      } else if (std::string_view macro = name_argument(form, name); !macro.empty()) {
        c.active = macros_.is_defined(macro) == (name == "ifdef");
      }
      c.taken = c.active;
    }
    conditionals_.push_back(c);
    return true;
  }
  if (conditionals_.size() <= floor) {
    error(form[0].loc, format_message("'-%.*s' without '-if' or '-ifdef' before it", VIEW(name)));
    return true;
  }
  Conditional& c = conditionals_.back();
  const bool bare = name == "endif" || name == "else";
  if (bare && c.active && form.size() != 3) {
    error(form[0].loc, format_message("badly formed '-%.*s': expected -%.*s.", VIEW(name), VIEW(name)));
    return true;
  }
  if (name == "endif") {
    conditionals_.pop_back();
    return true;
  }
  if (c.in_else) {
    error(form[0].loc, format_message("'-%.*s' after '-else'", VIEW(name)));
    return true;
  }
  if (name == "else") {
    c.in_else = true;
    c.active = c.outer_active && !c.taken;
  } else {
    c.active = false;
    if (c.outer_active && !c.taken) {
      c.active = true;  // so that errors of macros in the condition are reported
      c.active = condition(form);
    }
  }
  c.taken = c.taken || c.active;
  return true;
}

/// Evaluates `-if(Expr)`. A condition that fails or is not `true` counts as false.
bool Preprocessor::condition(const std::vector<Token>& form) {
  if (form.size() < 6 || form[2].kind != Tok::kLParen || form[form.size() - 2].kind != Tok::kRParen) {
    error(form[0].loc, "badly formed '-if': expected -if(Expression).");
    return false;
  }
  std::vector<Token> tokens;
  if (!expand(std::span(form).subspan(3, form.size() - 5), tokens)) return false;
  tokens.push_back(form.back());
  Parser parser(session_, tokens);
  const Expr* e = parser.parse_whole_expression();
  if (!e) return false;
  ConstantEvaluator evaluator([this](std::string_view name) { return macros_.is_defined(name); });
  std::string problem;
  Loc where = e->loc;
  auto value = evaluator.evaluate(*e, problem, where);
  if (!problem.empty()) {
    error(where, "bad expression in '-if': " + problem);
    return false;
  }
  return value && value->is_atom("true");
}

void Preprocessor::undefine(const std::vector<Token>& form) {
  const std::string_view name = name_argument(form, "undef");
  if (!name.empty()) macros_.undefine(name);
}

void Preprocessor::push_input(const std::string& path, std::uint32_t file) {
  const bool maybe_enabled = inputs_.back().lexer->maybe_enabled();
  inputs_.push_back(
      {std::make_unique<Lexer>(session_.arena, session_.names, session_.sources.text(file), file), path,
       conditionals_.size(), file});
  inputs_.back().lexer->set_maybe_enabled(maybe_enabled);
}

/// Continues in the file of this name if it exists. Else returns false and sets `problem`, unless
/// that already has a better reason.
bool Preprocessor::include_file(const std::string& path, Loc loc, std::string& problem) {
  std::string text, why;
  if (!read_source_file(path, text, why)) {
    if (problem.empty() || problem == "no such file") problem = why;
    return false;
  }
  decode_source(text);
  const std::size_t bad = find_invalid_utf8(text);
  const std::uint32_t file = session_.sources.add(path, std::move(text));
  if (bad != std::string_view::npos)
    error(loc, format_message("include file \"%s\" is not valid UTF-8 (byte %zu)", path.c_str(), bad));
  else push_input(path, file);
  return true;
}

/// Includes "kernel/include/dist.hrl" of an installed Erlang/OTP.
bool Preprocessor::include_installed(const std::string& name, Loc loc, std::string& problem) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash == 0) return false;
  std::string why;
  const std::string root = find_otp_root(options_.otp_root, &why);
  if (root.empty()) {
    if (!why.empty()) problem = why;
    return false;
  }
  const auto application = otp_application_directory(root, name.substr(0, slash));
  return application && include_file(*application + name.substr(slash), loc, problem);
}

void Preprocessor::include(const std::vector<Token>& raw, bool library) {
  std::vector<Token> form;
  if (!expand(raw, form)) return;
  std::string name;
  std::size_t i = 3;
  while (i < form.size() && form[i].kind == Tok::kString) name += to_utf8(form[i++].chars);
  if (i == 3 || i + 2 != form.size() || form[2].kind != Tok::kLParen || form[i].kind != Tok::kRParen) {
    error(form[0].loc,
          format_message("badly formed '-%s': expected -%s(\"file.hrl\").",
                         library ? "include_lib" : "include", library ? "include_lib" : "include"));
    return;
  }
  if (name.starts_with("$")) {  // $VAR/path, as the reference manual has it
    const std::size_t slash = name.find('/');
    std::string variable = name.substr(1, slash == std::string::npos ? slash : slash - 1);
    if (const char* value = std::getenv(variable.c_str()))
      name = value + (slash == std::string::npos ? std::string() : name.substr(slash));
  }
  if (inputs_.size() >= kMaxIncludeDepth) {
    error(form[3].loc, format_message("include files are nested more than %zu deep", kMaxIncludeDepth));
    return;
  }
  std::vector<std::string> candidates;
  if (name.starts_with("/")) {
    candidates.push_back(name);
  } else {
    candidates.push_back(directory_of(inputs_.back().path) + name);
    candidates.push_back(directory_of(inputs_.front().path) + name);
    for (const std::string& dir : options_.include_path) candidates.push_back(dir + "/" + name);
    const std::size_t slash = name.find('/');
    if (library && slash != std::string::npos) {
      std::string app = name.substr(0, slash), rest = name.substr(slash);
      for (const std::string& root : options_.library_path) {
        candidates.push_back(root + "/" + app + rest);
        std::error_code ec;
        for (auto& entry : std::filesystem::directory_iterator(root, ec)) {
          std::string dir = entry.path().filename().string();
          if (dir.starts_with(app + "-")) candidates.push_back(root + "/" + dir + rest);
        }
      }
    }
  }
  std::string problem;
  for (const std::string& path : candidates)
    if (include_file(path, form[3].loc, problem)) return;
  if (library) {
    if (std::string_view known = find_known_header(name); known.data()) {
      push_input(name, session_.sources.add(name, std::string(known)));
      return;
    }
    if (include_installed(name, form[3].loc, problem)) return;
  }
  unread_.text = true;
  error(form[3].loc, format_message("can't find include %s \"%s\": %s", library ? "lib" : "file",
                                    name.c_str(), problem.c_str()));
}

void Preprocessor::message(const std::vector<Token>& form, bool is_error) {
  std::string text;
  std::vector<Token> expanded;
  if (!expand(form, expanded)) return;
  for (std::size_t i = 3; i + 2 < expanded.size(); ++i) {
    if (expanded[i].kind == Tok::kString) text += to_utf8(expanded[i].chars);
    else text += (text.empty() ? "" : " ") + token_source(expanded[i]);
  }
  if (is_error) error(form[0].loc, "-error: " + text);
  else session_.diagnostics.warning(form[0].loc, "-warning: " + text);
}

/// `-file("name", Line)`: the following text gets this place.
void Preprocessor::file_attribute(const std::vector<Token>& raw) {
  std::vector<Token> form;
  if (!expand(raw, form)) return;
  const bool good = form.size() == 8 && form[3].kind == Tok::kString && form[4].kind == Tok::kComma &&
                    form[5].kind == Tok::kInteger && form[5].text.size() < 10;
  if (!good) {
    error(form[0].loc, "badly formed '-file': expected -file(\"name\", Line).");
    return;
  }
  const std::uint32_t line = static_cast<std::uint32_t>(std::stoul(std::string(form[5].text)));
  inputs_.back().lexer->relocate(session_.sources.add_name(to_utf8(form[3].chars)), line, form[0].loc.line);
}

void Preprocessor::feature(const std::vector<Token>& form) {
  const bool good = form.size() == 8 && form[3].kind == Tok::kAtom && form[5].kind == Tok::kAtom &&
                    (form[5].text == "enable" || form[5].text == "disable");
  if (!good) {
    error(form[0].loc,
          "badly formed '-feature': expected -feature(Name, enable) or -feature(Name, disable).");
    return;
  }
  if (features_settled_)
    return error(form[1].loc, "feature directive not allowed after exports or record definitions");
  const bool on = form[5].text == "enable";
  if (form[3].text == "maybe_expr") inputs_.back().lexer->set_maybe_enabled(on);
  else if (form[3].text == "compr_assign") session_.matches_generate = on;
  else error(form[3].loc, format_message("unknown feature '%.*s'", VIEW(form[3].text)));
}

}  // namespace vmrun::compile
