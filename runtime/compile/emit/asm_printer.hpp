// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "runtime/compile/core/core_language.hpp"
#include "runtime/compile/emit/asm.hpp"
#include "vm/ir/ssa.hpp"

/// Code as text: one Erlang term per line, in the shape that `erlc -S` writes and `erlc +from_asm`
/// reads. One compilation, one thread.
namespace vmrun::compile {

/// signatures: those of the functions in their order, or empty. They are for OTP's validator, which
/// checks each function by itself.
std::string print_assembly(const Code& code, const core::Module& module,
                           std::span<const ir::Signature> signatures);

}  // namespace vmrun::compile
