// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// An Erlang/OTP that is installed on the machine: where its root is and which applications lie in
/// its lib/. It supplies what the embedded library does not have: modules from lib/*/ebin, header
/// files for -include_lib from lib/*/include. The functions read directories at each call and keep
/// nothing. Any thread may call them.
namespace vmrun {

struct OtpApplication {
  std::string name;       // "kernel"
  std::string version;    // "8.5.3", empty for a folder without one
  std::string directory;  // "/usr/lib/erlang/lib/kernel-8.5.3"
};

/// Returns the root of the installation to use: `given` (the flag -otp) if it is not empty, else
/// the environment's VMRUN_OTP, else the first of the places where packages put it. "none" in
/// either disables the search. Returns "" when there is no installation. A given root that is not
/// an installation is an error: *error says what was looked for.
std::string find_otp_root(const std::string& given, std::string* error);

/// Returns the applications below root/lib by name, each in its newest version.
std::vector<OtpApplication> otp_applications(const std::string& root);

/// Returns the directory of one application in its newest version.
std::optional<std::string> otp_application_directory(const std::string& root, std::string_view name);

/// Returns the directory of the runtime system's programs (inet_gethost, erl_child_setup...), or
/// "".
std::string otp_bin_directory(const std::string& root);

/// Returns the directory of the modules that OTP's machine has preloaded, or "".
std::string otp_preloaded_directory(const std::string& root);

struct OtpVersion {
  std::string release, erts;  // "25", "13.1.5"; empty when not known
};
OtpVersion otp_version_of(const std::string& root);

/// Returns the number of the release of the installation to use, as find_otp_root() finds it; 0
/// when there is none or its release is not known.
int installed_release(const std::string& given);

/// Compares version texts number by number ("8.10" is newer than "8.9"). Returns -1, 0 or 1.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace vmrun
