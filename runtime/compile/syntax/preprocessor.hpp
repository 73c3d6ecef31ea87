#pragma once
// Splits source text into forms, obeys the preprocessor's directives and expands macros (Erlang
// reference manual, "Preprocessor"). One thread at a time.

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/compile/source/session.hpp"
#include "runtime/compile/syntax/lexer.hpp"

namespace vmrun::compile {

struct PreprocessorOptions {
  std::vector<std::string> include_path;
  /// Directories that hold applications, for `-include_lib("app/include/file.hrl")`.
  std::vector<std::string> library_path;
  /// The root of an installed Erlang/OTP, for header files nobody else has; as find_otp_root()
  /// takes it.
  std::string otp_root;
  /// Name and value, as `-D`. An empty value means `true`.
  std::vector<std::pair<std::string, std::string>> macros;
  /// ?MODULE before a -module attribute has been seen.
  std::string default_module;
};

/// What is missing from a module because it could not be read: what stands in there may define or
/// use anything it names.
struct Unread {
  std::unordered_set<std::string_view> names;  // atoms in forms that are in error
  bool text = false;                           // an include file, or what follows a bad token
  void note(const std::vector<Token>& form) {
    for (const Token& t : form)
      if (t.kind == Tok::kAtom) names.insert(t.text);
  }
};

class Preprocessor {
 public:
  Preprocessor(Session& session, const PreprocessorOptions& options, uint32_t file);
  ~Preprocessor();

  /// The next form with its dot, macros expanded; false at the end. Forms in error have been
  /// reported and are left out.
  bool next_form(std::vector<Token>& out);
  /// Behind the last form.
  Loc end_loc() const { return end_loc_; }
  /// What was left out so far.
  const Unread& unread() const { return unread_; }

 private:
  struct Macro {
    bool has_params = false;
    bool predefined = false;
    std::vector<std::string_view> params;
    std::vector<Token> body;
  };
  struct Conditional {
    Loc loc;
    std::string_view directive;
    bool taken;  // some branch has been taken
    bool in_else;
    bool active;  // this branch is
    bool outer_active;
  };
  struct Input {
    std::unique_ptr<Lexer> lexer;
    std::string path;  // for files included from here
    size_t conditionals_at_entry;
    uint32_t file;
  };
  struct Active;  // the macros being expanded, innermost first

  bool read_form(std::vector<Token>& out, bool& failed);
  bool active() const { return conditionals_.empty() || conditionals_.back().active; }
  void error(Loc loc, std::string message) { session_.diagnostics.error(loc, std::move(message)); }
  void leave_input();

  // Directives. Each gets the raw tokens of its form.
  bool directive(const std::vector<Token>& form);
  bool conditional_directive(std::string_view name, const std::vector<Token>& form);
  void define(const std::vector<Token>& form);
  void undefine(const std::vector<Token>& form);
  /// Reading goes on in `file`, one of the session's sources.
  void push_input(const std::string& path, uint32_t file);
  bool include_file(const std::string& path, Loc loc, std::string& problem);
  bool include_installed(const std::string& name, Loc loc, std::string& problem);
  void include(const std::vector<Token>& form, bool library);
  void message(const std::vector<Token>& form, bool is_error);
  void file_attribute(const std::vector<Token>& form);
  void feature(const std::vector<Token>& form);
  std::string_view name_argument(const std::vector<Token>& form, std::string_view directive);
  bool condition(const std::vector<Token>& form);

  // Macros.
  void define_predefined(std::string_view name, std::vector<Token> body);
  void define_from_option(const std::string& name, const std::string& value);
  bool is_defined(std::string_view name) const;
  bool expand(const Token* tokens, size_t count, std::vector<Token>& out, const Active* active, int depth);
  bool expand_call(const Token* tokens, size_t count, size_t& i, std::vector<Token>& out,
                   const Active* active, int depth);
  bool split_arguments(const Token* tokens, size_t count, size_t& i, std::vector<std::vector<Token>>& args);
  bool expand_dynamic(const Token& name, Loc at, std::vector<Token>& out, bool& known);
  void note_function(const std::vector<Token>& form);
  Token make_string(Loc loc, std::string_view utf8);

  Session& session_;
  const PreprocessorOptions& options_;
  std::vector<Input> inputs_;
  std::vector<Conditional> conditionals_;
  std::unordered_map<std::string_view, std::vector<Macro>> macros_;
  std::string_view module_;
  std::string_view function_name_;  // of the form at hand; empty outside functions
  size_t function_arity_ = 0;
  size_t produced_ = 0;  // tokens made by expansion in this form
  Loc end_loc_;
  Unread unread_;
};

}  // namespace vmrun::compile
