// SPDX-License-Identifier: Apache-2.0
#include "runtime/code_path/installed_otp.hpp"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace vmrun {
namespace {

namespace fs = std::filesystem;

/// The places of Debian, Fedora, `make install` of Erlang's sources, and Homebrew.
constexpr const char* kUsualRoots[] = {"/usr/lib/erlang", "/usr/lib64/erlang", "/usr/local/lib/erlang",
                                       "/opt/homebrew/lib/erlang"};

/// Every installation has stdlib, whatever its packaging.
bool is_otp_root(const std::string& root) { return otp_application_directory(root, "stdlib").has_value(); }

/// Splits "stdlib-4.2" into "stdlib" and "4.2".
OtpApplication application_of(const fs::path& directory) {
  const std::string folder = directory.filename().string();
  const std::size_t dash = folder.rfind('-');
  const bool versioned =
      dash != std::string::npos && dash + 1 < folder.size() && std::isdigit(folder[dash + 1]);
  return {folder.substr(0, versioned ? dash : std::string::npos), versioned ? folder.substr(dash + 1) : "",
          directory.string()};
}

/// Returns the newest version of each application that has a folder here.
std::map<std::string, OtpApplication> newest_in(const std::string& directory) {
  std::map<std::string, OtpApplication> newest;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_directory(ignored)) continue;
    OtpApplication found = application_of(it->path());
    OtpApplication& known = newest[found.name];
    if (known.name.empty() || compare_versions(known.version, found.version) < 0) known = std::move(found);
  }
  return newest;
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  const auto next_number = [](std::string_view& text) -> long {
    long value = -1;  // kept when there is no further number: "8" is older than "8.1"
    auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return error == std::errc{} ? value : -1;
  };
  while (!a.empty() || !b.empty()) {
    const long x = next_number(a), y = next_number(b);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

std::vector<OtpApplication> otp_applications(const std::string& root) {
  std::vector<OtpApplication> out;
  for (auto& [name, application] : newest_in(root + "/lib")) out.push_back(std::move(application));
  return out;
}

std::optional<std::string> otp_application_directory(const std::string& root, std::string_view name) {
  for (OtpApplication& application : otp_applications(root))
    if (application.name == name) return std::move(application.directory);
  return {};
}

std::string otp_bin_directory(const std::string& root) {
  const auto newest = newest_in(root);
  const auto erts = newest.find("erts");
  return erts == newest.end() ? std::string() : erts->second.directory + "/bin";
}

std::string otp_preloaded_directory(const std::string& root) {
  const auto erts = otp_application_directory(root, "erts");
  return erts ? *erts + "/ebin" : std::string();
}

OtpVersion otp_version_of(const std::string& root) {
  OtpVersion version;
  std::ifstream(root + "/releases/start_erl.data") >> version.erts >> version.release;
  return version;
}

std::string find_otp_root(const std::string& given, std::string* error) {
  const char* environment = std::getenv("VMRUN_OTP");
  std::string wanted = !given.empty() ? given : environment ? environment : "";
  if (wanted == "none") return {};
  if (!wanted.empty()) {
    if (is_otp_root(wanted)) return wanted;
    *error = "no Erlang/OTP in '" + wanted + "': expected " + wanted + "/lib/stdlib-VERSION";
    return {};
  }
  for (const char* root : kUsualRoots)
    if (is_otp_root(root)) return root;
  return {};
}

int installed_release(const std::string& given) {
  std::string error;
  const std::string root = find_otp_root(given, &error);
  return root.empty() ? 0 : std::atoi(otp_version_of(root).release.c_str());
}

}  // namespace vmrun
