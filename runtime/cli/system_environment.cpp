// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/system_environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "runtime/cli/system.hpp"
#include "runtime/code_path/installed_otp.hpp"

namespace vmrun::cli {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Whether the file is this program, possibly by a link.
bool is_own(const fs::path& file) {
  std::error_code error;
  return fs::equivalent(file, "/proc/self/exe", error) && !error;
}

/// Returns the folder of the command as it was typed, or "".
std::string folder_of_command(const std::string& typed) {
  std::error_code error;
  if (typed.find('/') != std::string::npos) return fs::absolute(typed, error).parent_path().string();
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_own(fs::path(folder) / typed)) return fs::absolute(folder, error).string();
  return {};
}

/// Returns the folders in front of the others, which keep their order.
std::string with_in_front(const std::vector<std::string>& front, const std::string& path) {
  std::string whole;
  const auto add = [&](const std::string& folder) {
    if (!folder.empty()) whole += (whole.empty() ? "" : ":") + folder;
  };
  std::ranges::for_each(front, add);
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::ranges::find(front, folder) == front.end()) add(folder);
  return whole;
}

}  // namespace

void set_system_environment(const std::string& root, const std::string& typed) {
  const std::string bin = otp_bin_directory(root), folder = folder_of_command(typed);
  ::setenv("ROOTDIR", root.c_str(), 1);
  ::setenv("BINDIR", bin.c_str(), 1);
  ::setenv("EMU", "beam", 1);
  ::setenv("PROGNAME", std::string(kSystemCommand).c_str(), 1);
  ::setenv("PATH", with_in_front({folder, bin, root + "/bin"}, environment("PATH")).c_str(), 1);
}

}  // namespace vmrun::cli
