// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What happens when no clause matches. Core and SSA name it alike.
namespace vmrun::ir {

enum class Fail : std::uint8_t {
  kFunctionClause,  // only as the body of a function or fun, with its parameters as subjects
  kCaseClause,      // {case_clause, Subject}
  kBadmatch,        // {badmatch, Subject}
  kIfClause,
  kTryClause,   // {try_clause, Subject}
  kElseClause,  // {else_clause, Subject} of maybe
  kBadrecord,   // {badrecord, Subject}
  kImpossible,  // the clauses are exhaustive
};

}  // namespace vmrun::ir
