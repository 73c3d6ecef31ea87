// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/sampled_threads.hpp"

namespace vmrun::attach {

Sampler samplers[kSamplers];
Clock clocks[kMostClocks];
std::atomic<std::uint16_t> clock_of_event[kMostDescriptors];
constinit thread_local SampledThread* sampled_here = nullptr;
constinit thread_local int known_tid = 0;

}  // namespace vmrun::attach
