// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

/// Sizes of chunks, tables and rings, and thresholds between two methods, stand where they are
/// used. A build for tests (-Dlimits=small) uses much smaller values where usual_or_small gives
/// them. In that build every program makes a table grow, fills a ring, or passes a threshold. What
/// a program can see must not depend on these values.
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
