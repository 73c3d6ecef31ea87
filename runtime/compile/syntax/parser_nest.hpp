#pragma once
// Private to the parser's files: the guard that counts nesting.

#include "runtime/compile/syntax/parser.hpp"

namespace vmrun::compile {

/// Counts one level of nesting. `peak_` bounds from above how deep the tree built so far reaches
/// below the current level, chains of left-associative operators included, which nest without
/// recursion here.
class Parser::Nest {
 public:
  explicit Nest(Parser& p) : parser_(p) {
    if (++p.depth_ > p.peak_) p.peak_ = p.depth_;
    if (p.depth_ > kMaxNesting) p.fail_nesting();
  }
  ~Nest() { parser_.depth_--; }
  Nest(const Nest&) = delete;

 private:
  Parser& parser_;
};

}  // namespace vmrun::compile
