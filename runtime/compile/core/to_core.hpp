// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/check/tables.hpp"
#include "runtime/compile/core/core_language.hpp"
#include "vm/heap/heap.hpp"

/// Lowering: the syntax tree of a checked module to Core (core_language.hpp). Records,
/// comprehensions, macros of the bit syntax and the scoping of exported variables are resolved
/// here. The module must have passed lint. Owned by one compilation; one thread at a time.
namespace vmrun::compile {

struct LowerOptions {
  std::string_view source;  // for module_info(compile)
};

/// Literals are built in `literals`, nodes in the session's arena; both must outlive the result.
core::Module to_core(Session& session, ModuleTables& tables, vmrun::Heap& literals,
                     const LowerOptions& options);

}  // namespace vmrun::compile
