// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/core/core_context.hpp"

/// Records: tuples with the record's name in front, and native records. One compilation, one
/// thread.
namespace vmrun::compile {

class RecordToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  const RecordInfo* record(std::string_view name);
  CExpr* record_new(const RecordExpr& e, Block& block);
  CExpr* record_update(const RecordExpr& e, Block& block);
  CExpr* record_field(const RecordFieldExpr& e, Block& block);
  CExpr* record_info(const CallExpr& e);
  core::Pat* native_pattern(const RecordMeaning& meaning, std::span<const core::PRecordPair> pairs);
  CExpr* native_test(Loc loc, const RecordMeaning& meaning, CExpr* subject);

 private:
  Term native_id(const RecordMeaning& meaning);
  CExpr* native_new(const RecordExpr& e, const RecordMeaning& meaning, Block& block);
  CExpr* native_update(const RecordExpr& e, const RecordMeaning& meaning, Block& block);
};

}  // namespace vmrun::compile
