// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// The OTP version that programs and drivers are told (erlang:system_info, driver_system_info): the
/// machine's own, or that of the installed system that it runs. Written before the first process
/// starts, then only read.
namespace vmrun {

inline std::string erts_version = "13.1.5", otp_release = "25";
inline bool runs_installed_system = false;

}  // namespace vmrun
