// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/compile/source/compile_session.hpp"
#include "runtime/compile/syntax/token.hpp"

/// Macros: their definitions and their expansion. Arguments are expanded before they are
/// substituted. The result is expanded again with the macro marked as in use, so recursion is
/// detected, while arguments may use the macro they are given to. Owned by one preprocessor; one
/// thread at a time.
namespace vmrun::compile {

struct PreprocessorOptions {
  std::vector<std::string> include_path;
  /// Directories that hold applications, for `-include_lib("app/include/file.hrl")`.
  std::vector<std::string> library_path;
  /// The root of an installed Erlang/OTP, in the form that find_otp_root() accepts. Other header
  /// files are searched there.
  std::string otp_root;
  /// Name and value, as with `-D`. An empty value means `true`.
  std::vector<std::pair<std::string, std::string>> macros;
  /// ?MODULE before a -module attribute has been seen.
  std::string default_module;
  /// The text is one sequence of expressions.
  bool expressions = false;
};

class MacroExpander {
 public:
  MacroExpander(Session& session, const PreprocessorOptions& options);

  /// `-define(…).`, given as the tokens of its form.
  void define(const std::vector<Token>& form);
  void undefine(std::string_view name);
  bool is_defined(std::string_view name) const;
  /// Sets ?MODULE from here on.
  void set_module(std::string_view name) { module_ = name; }
  /// Appends a form with all macros expanded, each once. The head of a function comes first, so
  /// ?FUNCTION_NAME and ?FUNCTION_ARITY are known. Returns false after a reported error.
  bool expand_form(const std::vector<Token>& form, std::vector<Token>& out, bool maybe_enabled);
  /// Appends the tokens with all macros expanded. Returns false after an error, which has been
  /// reported. maybe_enabled: the value of ?FEATURE_ENABLED(maybe_expr).
  bool expand(const Token* tokens, std::size_t count, std::vector<Token>& out, bool maybe_enabled);

 private:
  struct Macro {
    bool has_params = false;
    bool predefined = false;
    std::vector<std::string_view> params;
    std::vector<Token> body;
  };
  struct Active;  // the macros being expanded, innermost first
  using Arguments = std::vector<std::vector<Token>>;

  void error(Loc loc, std::string message) { session_.diagnostics.error(loc, std::move(message)); }
  std::string meant_macro(std::string_view wrong) const;
  bool is_dynamic(std::string_view name) const;
  void define_predefined(std::string_view name, std::vector<Token> body);
  void define_from_option(const std::string& name, const std::string& value);
  bool expand(const Token* tokens, std::size_t count, std::vector<Token>& out, const Active* active,
              int depth);
  bool expand_call(const Token* tokens, std::size_t count, std::size_t& i, std::vector<Token>& out,
                   const Active* active, int depth);
  bool split_arguments(const Token* tokens, std::size_t count, std::size_t& i, Arguments& args);
  bool expand_dynamic(const Token& name, Loc at, std::vector<Token>& out, bool& known);
  bool asks_feature(const Token& name, const Token* tokens, std::size_t count, std::size_t i);
  bool expand_feature(const Token& name, Loc at, const Token* tokens, std::size_t count, std::size_t& i,
                      std::vector<Token>& out);
  const Macro* choose(const std::vector<Macro>& versions, const Token& name, Loc at, const Token* tokens,
                      std::size_t count, std::size_t& i, Arguments& args);
  bool substitute(const Macro& macro, Loc at, const Arguments& raw_args, const Arguments& args,
                  std::vector<Token>& text);
  Token make_string(Loc loc, std::string_view utf8);

  Session& session_;
  std::unordered_map<std::string_view, std::vector<Macro>> macros_;
  std::unordered_set<std::string_view> undefined_;  // of those whose value depends on the place
  std::string_view module_;
  std::string_view function_name_;  // of the current form; empty outside functions
  bool awaits_head_ = false;        // the head is being expanded: macros that need it stay as they are
  std::size_t function_arity_ = 0;
  std::size_t produced_ = 0;    // tokens made by expansion in this form
  bool maybe_enabled_ = false;  // for the current form
};

}  // namespace vmrun::compile
