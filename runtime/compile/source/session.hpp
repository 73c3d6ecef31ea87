#pragma once
// Everything one compilation shares between its phases. One thread at a time.

#include "runtime/compile/source/arena.hpp"
#include "runtime/compile/source/diagnostics.hpp"
#include "runtime/compile/source/source.hpp"

namespace vmrun::compile {

struct Session {
  Arena arena;
  Names names{arena};
  Sources sources;
  Diagnostics diagnostics;
};

}  // namespace vmrun::compile
