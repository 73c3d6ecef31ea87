#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// An Erlang/OTP that is installed on the machine: where its root is and which applications lie in
/// its lib/. What the embedded library does not have comes from there: modules from lib/*/ebin,
/// header files for -include_lib from lib/*/include. Reads directories when asked, keeps nothing;
/// any thread.
namespace vmrun {

struct OtpApplication {
  std::string name;       // "kernel"
  std::string version;    // "8.5.3", empty for a folder without one
  std::string directory;  // "/usr/lib/erlang/lib/kernel-8.5.3"
};

/// The root of the installation to use: `given` (the flag -otp) if it is not empty, else the
/// environment's VMRUN_OTP, else the first place that has one where packages put it. "none" as
/// either says that none is to be used. Empty: none. A given root that is no installation is an
/// error, said in *error; it names what was looked for.
std::string find_otp_root(const std::string& given, std::string* error);

/// The applications below root/lib, the newest version of each, by name.
std::vector<OtpApplication> otp_applications(const std::string& root);

/// The directory of one application in its newest version.
std::optional<std::string> otp_application_directory(const std::string& root, std::string_view name);

/// Where the programs of its runtime system are (inet_gethost, erl_child_setup...); empty: nowhere.
std::string otp_bin_directory(const std::string& root);

/// Where the modules are that OTP's machine has in itself ("preloaded"); empty: nowhere.
std::string otp_preloaded_directory(const std::string& root);

struct OtpVersion {
  std::string release, erts;  // "25", "13.1.5"; empty: it does not say
};
OtpVersion otp_version_of(const std::string& root);

/// -1, 0, 1: compares version texts number by number ("8.10" is newer than "8.9").
int compare_versions(std::string_view a, std::string_view b);

}  // namespace vmrun
