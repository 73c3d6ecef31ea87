// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

/// Signals of a profiler (probes/attach/sampling.hpp) interrupt system calls. Most calls go on by
/// themselves (SA_RESTART), but poll(2), epoll_wait(2) and their like never do, not even with a
/// timeout of 0 (signal(7)). Code that waits again in any case needs nothing; other code uses this.
namespace vmrun {

/// Repeats `call` until it is not interrupted. `call` answers as system calls do.
template <class Call>
auto uninterrupted(Call&& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace vmrun
