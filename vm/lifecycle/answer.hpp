#pragma once

#include "vm/process/process.hpp"

/// The answering side of what processes ask each other (message/request.hpp).
namespace vmrun {

/// Answers what has been asked of p, which holds nothing back (message/held_back.hpp). Between two
/// slices, registers saved. May collect.
void answer_deferred(Process& p);

}  // namespace vmrun
