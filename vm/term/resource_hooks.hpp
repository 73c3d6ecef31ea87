#pragma once

#include "vm/term/term_space.hpp"

/// What terms ask of resources of native code (the memory that magic references keep alive), filled
/// in by vm/nif before main begins. Any thread.
namespace vmrun {

struct ResourceHooks {
  /// The last reference is gone.
  void (*destroy)(Binary* resource) = nullptr;
  /// Its reference becomes bytes (term_to_binary): from now on `find` knows it.
  void (*expose)(Binary* resource) = nullptr;
  /// The magic reference for the numbers of a local reference, if that is one of an exposed
  /// resource that still lives; else the non-value.
  Term (*find)(const std::uint32_t* numbers, TermSpace& heap) = [](const std::uint32_t*, TermSpace&) {
    return kNonValue;
  };
};
extern constinit ResourceHooks resource_hooks;

}  // namespace vmrun
