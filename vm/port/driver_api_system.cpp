// SPDX-License-Identifier: Apache-2.0
// Functions for drivers: the system, time, environment, libraries.

#include <dlfcn.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "vm/base/clock.hpp"
#include "vm/base/release.hpp"
#include "vm/port/async.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/environment.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun {
namespace {

constexpr int kErrnoCount = 256;

/// Lower-case names of all errno values, as in OTP; empty where the C library has none. If a number
/// has two names, this may be another one than OTP's.
std::array<std::string, kErrnoCount> make_errno_names() {
  std::array<std::string, kErrnoCount> names;
  for (int i = 0; i < kErrnoCount; ++i) {
    const char* name = i ? strerrorname_np(i) : nullptr;
    names[static_cast<std::size_t>(i)] = name ? name : "";
    for (char& c : names[static_cast<std::size_t>(i)])
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  names[ENOTSUP] = "enotsup";  // not EOPNOTSUPP
  return names;
}

/// "errno_N". Drivers keep the pointer, so a name stays where it is once it has been asked for.
const char* numbered_errno_name(int error) {
  static std::mutex mutex;
  static std::map<int, std::string> names;
  const std::lock_guard lock(mutex);
  return names.try_emplace(error, "errno_" + std::to_string(error)).first->second.c_str();
}

}  // namespace

const char* errno_name(int error) {
  static const auto names = make_errno_names();
  const std::string* name =
      error > 0 && error < kErrnoCount ? &names[static_cast<std::size_t>(error)] : nullptr;
  if (name && !name->empty()) return name->c_str();
  return release_has(Trait::kErrnoNumbers) ? numbered_errno_name(error) : "unknown";
}

}  // namespace vmrun

using namespace vmrun;

namespace {

/// How many of a unit make a second; 0: not a unit.
ErlDrvTime per_second(ErlDrvTimeUnit unit) {
  switch (unit) {
    case ERL_DRV_SEC: return 1;
    case ERL_DRV_MSEC: return 1'000;
    case ERL_DRV_USEC: return 1'000'000;
    case ERL_DRV_NSEC: return 1'000'000'000;
  }
  return 0;
}

/// Rounds down, as Erlang converts time units.
ErlDrvTime convert(ErlDrvTime value, ErlDrvTime from, ErlDrvTime to) {
  const __int128 product = static_cast<__int128>(value) * to;
  __int128 result = product / from;
  if (product % from < 0) --result;
  return static_cast<ErlDrvTime>(result);
}

ErlDrvTime from_ns(SWord ns, ErlDrvTimeUnit unit) {
  const ErlDrvTime to = per_second(unit);
  return to ? convert(ns, 1'000'000'000, to) : ERL_DRV_TIME_ERROR;
}

}  // namespace

extern "C" {

void driver_system_info(ErlDrvSysInfo* sip, size_t si_size) {
  ErlDrvSysInfo info{};
  info.driver_major_version = ERL_DRV_EXTENDED_MAJOR_VERSION;
  info.driver_minor_version = ERL_DRV_EXTENDED_MINOR_VERSION;
  info.erts_version = erts_version.data();
  info.otp_release = otp_release.data();
  info.thread_support = info.smp_support = 1;
  info.async_threads = static_cast<int>(async_thread_count);
  info.scheduler_threads = static_cast<int>(scheduler_count());
  info.nif_major_version = 2;
  info.nif_minor_version = static_cast<int>(default_nif_minor_version(release_number));
  info.dirty_scheduler_support = 1;
  std::memcpy(sip, &info, si_size < sizeof info ? si_size : sizeof info);
}

char* erl_errno_id(int error) { return const_cast<char*>(errno_name(error)); }

// ---- Time ---------------------------------------------------------------------------------------

ErlDrvTime erl_drv_monotonic_time(ErlDrvTimeUnit time_unit) {
  return from_ns(static_cast<SWord>(monotonic_ns()), time_unit);
}
ErlDrvTime erl_drv_time_offset(ErlDrvTimeUnit time_unit) { return from_ns(time_offset_ns(), time_unit); }

ErlDrvTime erl_drv_convert_time_unit(ErlDrvTime val, ErlDrvTimeUnit from, ErlDrvTimeUnit to) {
  const ErlDrvTime from_parts = per_second(from), to_parts = per_second(to);
  return from_parts && to_parts ? convert(val, from_parts, to_parts) : ERL_DRV_TIME_ERROR;
}

int driver_get_now(ErlDrvNowData* now) {
  if (!now) return -1;
  // No two answers are equal, as with the former erlang:now/0.
  static std::mutex lock;
  static Word last = 0;
  Word us = (static_cast<Word>(static_cast<SWord>(monotonic_ns()) + time_offset_ns())) / 1000;
  {
    std::lock_guard guard(lock);
    if (us <= last) us = last + 1;
    last = us;
  }
  *now = {us / 1'000'000'000'000, us / 1'000'000 % 1'000'000, us % 1'000'000};
  return 0;
}

// ---- Environment --------------------------------------------------------------------------------

int erl_drv_putenv(const char* key, char* value) {
  if (!key || !*key || std::strchr(key, '=')) return -1;
  environment_set(key, value);
  return 0;
}

int erl_drv_getenv(const char* key, char* value, size_t* value_size) {
  const auto found = environment_get(key);
  if (!found) return -1;
  const size_t room = *value_size;
  *value_size = found->size();
  if (room <= found->size()) {
    *value_size = found->size() + 1;  // what is needed
    return 1;
  }
  std::memcpy(value, found->c_str(), found->size() + 1);
  return 0;
}

// ---- Libraries ----------------------------------------------------------------------------------

/// The name has no ".so", as in OTP.
void* driver_dl_open(char* path) { return dlopen((std::string(path) + ".so").c_str(), RTLD_NOW); }
void* driver_dl_sym(void* handle, char* name) { return dlsym(handle, name); }
int driver_dl_close(void* handle) { return dlclose(handle); }
char* driver_dl_error(void) { return dlerror(); }

}  // extern "C"
