#pragma once

#include "vm/term/term_space.hpp"

/// Functions that terms call for resources of native code (the memory that magic references keep
/// alive). vm/nif sets them before main begins. Any thread.
namespace vmrun {

struct ResourceHooks {
  /// Called when the last reference is gone.
  void (*destroy)(Binary* resource) = nullptr;
  /// Called when a reference becomes bytes (term_to_binary). From now on `find` knows the resource.
  void (*expose)(Binary* resource) = nullptr;
  /// Returns the magic reference for the numbers of a local reference, if these belong to an
  /// exposed resource that still lives; else the non-value.
  Term (*find)(const std::uint32_t* numbers, TermSpace& heap) = [](const std::uint32_t*, TermSpace&) {
    return kNonValue;
  };
};
extern constinit ResourceHooks resource_hooks;

}  // namespace vmrun
