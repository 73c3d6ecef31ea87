#pragma once

/// Whose interfaces and libraries the machine follows, as programs and drivers ask for it
/// (erlang:system_info, driver_system_info).
namespace vmrun {

inline constexpr char kErtsVersion[] = "15.0", kOtpRelease[] = "27";

}  // namespace vmrun
