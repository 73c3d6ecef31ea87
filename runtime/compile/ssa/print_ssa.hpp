#pragma once
// The middle form as text, for people (`-ssa`): a function's blocks in order, an instruction a
// line, `v3` a value, `b2` a block; behind ` :: ` what is known of an argument. One compilation,
// one thread.

#include <string>

#include "runtime/compile/ssa/ssa.hpp"

namespace vmrun::compile::ssa {

std::string print_ssa(const Program& program);

}  // namespace vmrun::compile::ssa
