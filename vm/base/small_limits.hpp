#pragma once

#include <type_traits>

/// Sizes of chunks, tables and rings, and thresholds between two ways of doing something, stand
/// where they are used. A build for tests (-Dlimits=small) takes much smaller ones for those that
/// say so: then every program comes to where a table grows, a ring is full, a threshold is
/// exceeded. Nothing a program can see may depend on them.
namespace vmrun {

#ifdef VMRUN_SMALL_LIMITS
inline constexpr bool kSmallLimits = true;
#else
inline constexpr bool kSmallLimits = false;
#endif

template <class T>
constexpr T usual_or_small(T usual, std::type_identity_t<T> small) {
  return kSmallLimits ? small : usual;
}

}  // namespace vmrun
