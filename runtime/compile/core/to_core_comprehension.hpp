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
  struct GeneratorShape;
  CExpr* qualifiers(const ComprehensionExpr& e, std::size_t at, Loop& loop);
  CExpr* generator_guard(const ComprehensionExpr& e, std::size_t& at, std::vector<CExpr*> tests);
  CExpr* generator_loop(const ComprehensionExpr& e, std::size_t at, Loop& loop, const GeneratorShape& shape,
                        CExpr* source);
  CExpr* binary_generator(const ComprehensionExpr& e, std::size_t at, Loop& loop);
  CExpr* map_generator(const ComprehensionExpr& e, std::size_t at, Loop& loop);
  CExpr* collection_loop(const ComprehensionExpr& e, std::size_t at, Loop& loop, CExpr* source,
                         const std::function<core::Pat*(PatternContext&)>& element);
  CExpr* bad_generator(Loc loc, Var* subject);
};

}  // namespace vmrun::compile
