#pragma once
// Everything one compilation shares between its phases. One thread at a time.

#include "runtime/compile/source/diagnostics.hpp"
#include "runtime/compile/source/node_arena.hpp"
#include "runtime/compile/source/source.hpp"

namespace vmrun::compile {

struct Session {
  NodeArena arena;
  Names names{arena};
  Sources sources;
  Diagnostics diagnostics;
};

}  // namespace vmrun::compile
