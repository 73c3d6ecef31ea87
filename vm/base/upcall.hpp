// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <concepts>

/// A call from a lower layer to a higher one. A layer states what it needs of those above it as
/// members of one struct, xxx_upcalls.hpp, and calls them like functions. connect_machine()
/// (vm/machine.hpp) fills all structs in before anything runs; test/harness/arrows.tab lists who
/// fills in what. A call costs what a call through a pointer costs.
namespace vmrun {

template <class Signature>
class Upcall;

template <class Result, class... Arguments>
class Upcall<Result(Arguments...)> {
 public:
  using Function = Result (*)(Arguments...);

  constexpr Upcall() = default;
  constexpr Upcall(Function function) : function_(function) {}
  template <std::convertible_to<Function> F>
  constexpr Upcall(F function) : function_(function) {}

  Result operator()(Arguments... arguments) const {
    assert(function_ && "an upward call that connect_machine() has not filled in");
    return function_(arguments...);
  }
  /// For members that may stay empty; their structs say which.
  explicit operator bool() const { return function_; }

 private:
  Function function_ = nullptr;
};

}  // namespace vmrun
