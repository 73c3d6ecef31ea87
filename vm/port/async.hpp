// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The machine's own setting of the async pool (drivers/async): how many threads it has (`+A N`; 0:
/// jobs run on schedulers). Written at start.
namespace vmrun {

inline constexpr unsigned kMaxAsyncThreads = 1024;
inline unsigned async_thread_count = 8;

}  // namespace vmrun
