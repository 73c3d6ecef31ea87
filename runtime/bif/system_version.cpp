// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/system_version.hpp"

#include <fmt/core.h>

#include "vm/base/release.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/port/async.hpp"
#include "vm/sched/online.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun {

std::string system_version() {
  const std::string name = runs_installed_system
                               ? fmt::format("Erlang/OTP {} [erts-{}] [vmrun]", otp_release, erts_version)
                               : fmt::format("vmrun (Erlang/OTP {} language)", otp_release);
  return fmt::format("{} [64-bit] [smp:{}:{}] [ds:{}:{}:{}] [async-threads:{}]", name, scheduler_count(),
                     schedulers_online(), dirty_cpu_schedulers(), dirty_cpu_schedulers_online(),
                     dirty_io_schedulers(), async_thread_count);
}

}  // namespace vmrun
