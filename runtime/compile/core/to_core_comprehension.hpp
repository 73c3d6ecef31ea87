// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "runtime/compile/core/core_context.hpp"

/// Comprehensions become loops: to_core_comprehension.cpp says how. One compilation, one thread.
namespace vmrun::compile {

class ComprehensionToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  CExpr* comprehension(const ComprehensionExpr& e, bool wanted);
  core::LetrecFun* loop_function(std::string_view prefix, const void* part, Loc loc,
                                 const std::vector<Var*>& params);

 private:
  struct Loop;
  struct Generator;
  CExpr* qualifiers(const ComprehensionExpr& e, std::size_t at, Loop& loop);
  CExpr* add_values(const ComprehensionExpr& e, CExpr* result, Block& block);
  CExpr* generator_guard(const ComprehensionExpr& e, std::size_t& at, std::vector<CExpr*> tests);
  CExpr* generator_loop(const ComprehensionExpr& e, std::size_t at, Loop& loop);
  core::Clause* pass_over(const std::vector<Generator>& generators, const std::vector<Var*>& rests, Loc loc,
                          Var* accumulator,
                          const std::function<CExpr*(const std::vector<Var*>&, Var*)>& next_round);
  CExpr* failure(Loc loc, std::string_view reason, const std::vector<Var*>& terms);
  Generator generator(const Qualifier& q, bool zipped);
  Generator list_generator(const Qualifier& q, CExpr* source,
                           const std::function<core::Pat*(PatternContext&)>& element);
  Generator binary_generator(const Qualifier& q);
  Generator map_pairs(const Qualifier& q);
  Generator map_iterator(const Qualifier& q);
  CExpr* map_subject(const Qualifier& q, std::string_view function, std::string_view of_map);
};

}  // namespace vmrun::compile
