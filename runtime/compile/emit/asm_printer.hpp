#pragma once
// Code as text: one Erlang term per line, in the shape that `erlc -S` writes and `erlc +from_asm`
// reads. One compilation, one thread.

#include <string>

#include "runtime/compile/core/core.hpp"
#include "runtime/compile/emit/asm.hpp"

namespace vmrun::compile {

std::string print_assembly(const Code& code, const core::Module& module);

}  // namespace vmrun::compile
