// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/expressions/expressions.hpp"
#include "probes/engine/program.hpp"

/// The buckets of lquantize() and llquantize(): constants, which all uses of an aggregation share.
namespace vmrun::d::lang {

/// Checks the arguments that say what the buckets are, and puts them to the aggregation. When
/// is_new is false, they must be those that the aggregation has already.
void bucket_parameters(Expressions& expressions, const Types& types, Aggregation& a, Node* function,
                       bool is_new);

}  // namespace vmrun::d::lang
