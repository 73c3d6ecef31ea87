#pragma once
// Splits source text into forms and obeys the preprocessor's directives (Erlang reference manual,
// "Preprocessor"): what is read, what is left out, in what order. Macros are macros.hpp's. One
// thread at a time.

#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/compile/source/session.hpp"
#include "runtime/compile/syntax/lexer.hpp"
#include "runtime/compile/syntax/macros.hpp"

namespace vmrun::compile {

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

  bool read_form(std::vector<Token>& out, bool& failed);
  bool active() const { return conditionals_.empty() || conditionals_.back().active; }
  void error(Loc loc, std::string message) { session_.diagnostics.error(loc, std::move(message)); }
  void leave_input();

  // Directives. Each gets the raw tokens of its form.
  bool directive(const std::vector<Token>& form);
  bool conditional_directive(std::string_view name, const std::vector<Token>& form);
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

  bool expand(std::span<const Token> tokens, std::vector<Token>& out);

  Session& session_;
  const PreprocessorOptions& options_;
  MacroExpander macros_;
  std::vector<Input> inputs_;
  std::vector<Conditional> conditionals_;
  Loc end_loc_;
  Unread unread_;
};

}  // namespace vmrun::compile
