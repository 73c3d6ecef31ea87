// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/compile/source/compile_session.hpp"
#include "runtime/compile/syntax/token.hpp"

/// A parser's position in the tokens of one form: it looks ahead, takes what is expected, and gives
/// up with a message. It also counts nesting, which is bounded because every later phase recurses
/// over the tree. Shared by the parsers of one form; one thread at a time.
namespace vmrun::compile {

class TokenCursor {
 public:
  /// Upper bound of the depth of a syntax tree. The stack that compiler.cpp gives the compiling
  /// thread suffices for it.
  static constexpr std::uint32_t kMaxNesting = 4000;
  struct Abort {};  // thrown by fail_*: unwinds to the start of the form after its first error
  class Nest;

  TokenCursor(Session& session, const std::vector<Token>& tokens) : session_(session), tokens_(tokens) {}

  const Token& peek(std::size_t ahead = 0) const;
  bool at(Tok kind) const { return peek().kind == kind; }
  const Token& take();
  bool take_if(Tok kind);
  void step_back() { next_--; }
  const Token& expect(Tok kind, std::string_view wanted);
  void expect_close(Tok kind, const Token& open);
  /// Reports an error after which parsing continues.
  void error(Loc loc, std::string message) { session_.diagnostics.error(loc, std::move(message)); }
  [[noreturn]] void fail_at(Loc loc, std::string message);
  [[noreturn]] void fail_here(std::string_view wanted);
  [[noreturn]] void fail_nesting();

  /// Left-associative operators nest without recursion of the parser. The open chain counts each of
  /// them. Returns the value with which the chain is closed.
  std::uint32_t open_chain() { return std::exchange(peak_, depth_); }
  void lengthen_chain() {
    if (++peak_ > kMaxNesting) fail_nesting();
  }
  void close_chain(std::uint32_t outer) {
    if (outer > peak_) peak_ = outer;
  }

  /// -feature(compr_assign, enable) holds.
  bool matches_generate() const { return session_.matches_generate; }

  // Nodes of the tree.
  std::string_view intern(std::string_view text) { return session_.names.intern(text); }
  template <class T, class... Args>
  T* make(Args&&... args) {
    return session_.arena.make<T>(std::forward<Args>(args)...);
  }
  template <class T>
  std::span<const T> keep(const std::vector<T>& items) {
    return session_.arena.copy(items);
  }
  template <class T>
  std::span<T> copy(const T* items, std::size_t count) {
    return session_.arena.copy(items, count);
  }

 private:
  bool remainder_is_comment(const Token& before) const;

  Session& session_;
  const std::vector<Token>& tokens_;
  std::size_t next_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t peak_ = 0;  // upper bound of the depth, below the current level, of the tree built so far
};

/// Counts one level of nesting.
class TokenCursor::Nest {
 public:
  explicit Nest(TokenCursor& in) : in_(in) {
    if (++in.depth_ > in.peak_) in.peak_ = in.depth_;
    if (in.depth_ > kMaxNesting) in.fail_nesting();
  }
  ~Nest() { in_.depth_--; }
  Nest(const Nest&) = delete;

 private:
  TokenCursor& in_;
};

}  // namespace vmrun::compile
