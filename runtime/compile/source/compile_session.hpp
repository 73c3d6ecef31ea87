// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "runtime/compile/source/diagnostics.hpp"
#include "runtime/compile/source/interned_names.hpp"
#include "runtime/compile/source/source.hpp"
#include "vm/base/node_arena.hpp"

/// The data that all phases of one compilation share. One thread at a time.
namespace vmrun::compile {

/// Says what is wrong with a call of another module's function if that is certain; else returns "".
using CheckRemoteCall =
    std::function<std::string(std::string_view module, std::string_view function, std::uint32_t arity)>;

/// Whether a module of the library has a function.
using LibraryHas =
    std::function<bool(std::string_view module, std::string_view function, std::uint32_t arity)>;

struct Session {
  NodeArena arena;
  Names names{arena};
  Sources sources;
  Diagnostics diagnostics;
  CheckRemoteCall check_remote_call;  // may be empty
  LibraryHas library_has;             // may be empty
  bool matches_generate = false;      // -feature(compr_assign, enable): P = E in a comprehension is P <:- [E]
};

}  // namespace vmrun::compile
