#pragma once

#include <string>

/// Whose interfaces and libraries the machine follows, as programs and drivers ask for it
/// (erlang:system_info, driver_system_info): its own, or those of the installed system that it
/// runs. Written before the first process, then only read.
namespace vmrun {

inline std::string erts_version = "13.1.5", otp_release = "25";
inline bool runs_installed_system = false;

}  // namespace vmrun
