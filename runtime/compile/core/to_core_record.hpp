// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/core/core_context.hpp"

/// Records: tuples with the record's name in front. One compilation, one thread.
namespace vmrun::compile {

class RecordToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  const RecordInfo* record(std::string_view name);
  CExpr* record_new(const RecordExpr& e, Block& block);
  CExpr* record_update(const RecordExpr& e, Block& block);
  CExpr* record_field(const RecordFieldExpr& e, Block& block);
  CExpr* record_info(const CallExpr& e);
};

}  // namespace vmrun::compile
