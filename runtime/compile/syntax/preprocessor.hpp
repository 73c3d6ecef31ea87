// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/compile/source/compile_session.hpp"
#include "runtime/compile/syntax/lexer.hpp"
#include "runtime/compile/syntax/macros.hpp"

/// Splits source text into forms and executes the preprocessor's directives (Erlang reference
/// manual, "Preprocessor"): which files are read, which text is left out, in what order. Macros are
/// in macros.hpp. One thread at a time.
namespace vmrun::compile {

/// What is missing from a module because it could not be read. The missing text may define or use
/// anything that it names.
struct Unread {
  std::unordered_set<std::string_view> names;  // atoms in faulty forms
  bool text = false;                           // an include file, or the text behind a bad token, is missing
  void note(const std::vector<Token>& form) {
    for (const Token& t : form)
      if (t.kind == Tok::kAtom) names.insert(t.text);
  }
};

class Preprocessor {
 public:
  Preprocessor(Session& session, const PreprocessorOptions& options, std::uint32_t file);
  ~Preprocessor();

  /// Reads the next form with its dot, macros expanded. Returns false at the end. Faulty forms have
  /// been reported and are left out.
  bool next_form(std::vector<Token>& out);
  /// The place behind the last form.
  Loc end_loc() const { return end_loc_; }
  /// What has been left out so far.
  const Unread& unread() const { return unread_; }

 private:
  struct Conditional {
    Loc loc;
    std::string_view directive;
    bool taken;  // a branch has been taken
    bool in_else;
    bool active;  // this branch is taken
    bool outer_active;
  };
  struct Input {
    std::unique_ptr<Lexer> lexer;
    std::string path;  // for files included from here
    std::size_t conditionals_at_entry;
    std::uint32_t file;
  };

  bool read_form(std::vector<Token>& out, bool& failed);
  bool active() const { return conditionals_.empty() || conditionals_.back().active; }
  void error(Loc loc, std::string message) { session_.diagnostics.error(loc, std::move(message)); }
  void leave_input();

  // Directives. Each gets the raw tokens of its form.
  bool directive(const std::vector<Token>& form);
  bool conditional_directive(std::string_view name, const std::vector<Token>& form);
  void undefine(const std::vector<Token>& form);
  /// Continues reading in `file`, one of the session's sources.
  void push_input(const std::string& path, std::uint32_t file);
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
  bool features_settled_ = false;  // a form has been read behind which `-feature` is an error
};

}  // namespace vmrun::compile
