// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/compile/core/core_language.hpp"
#include "runtime/compile/emit/asm.hpp"

/// Writes the code of a module as the bytes of a .beam file. Format: The BEAM Book, "The BEAM File
/// Format". One compilation, one thread.
namespace vmrun::compile {

std::string write_beam(const Code& code, const core::Module& module);

}  // namespace vmrun::compile
