// SPDX-License-Identifier: Apache-2.0
#include "probes/views/machines.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "probes/vmtrace/reach.hpp"

namespace vmrun::d {
namespace {

std::string command_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return text;
}

/// Recognises a machine by the name of its program. The signal decides what may be traced, but
/// other programs may use that signal too.
bool is_vmrun(const std::filesystem::path& process) {
  std::error_code error;
  return std::filesystem::read_symlink(process / "exe", error).filename().string().starts_with("vmrun");
}

}  // namespace

std::vector<Machine> running_machines() {
  std::vector<Machine> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    std::int64_t pid = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    struct stat status {};
    if (wrong != std::errc{} || end != name.data() + name.size() || pid == getpid()) continue;
    if (stat(entry.path().c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
    if (is_vmrun(entry.path()) && may_be_traced(pid)) found.push_back({pid, command_of(pid)});
  }
  std::ranges::sort(found, {}, &Machine::pid);
  return found;
}

}  // namespace vmrun::d
