// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/otp_compiler.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/cli/code_finder.hpp"
#include "vm/base/spawn_plan.hpp"

namespace vmrun::cli {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed with its contents.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code ignored;
    std::string name = (fs::temp_directory_path(ignored) / "vmrun-XXXXXX").string();
    if (::mkdtemp(name.data())) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

template <class Bytes>
bool write_file(const fs::path& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(out.flush());
}

std::vector<std::string> erlc_words(const OtpCompilation& what, const fs::path& folder) {
  std::vector<std::string> words{"erlc", "-pa", folder.string()};
  for (const std::string& directory : what.code_path) words.insert(words.end(), {"-pa", directory});
  const fs::path beside = fs::path(what.path).parent_path();
  words.insert(words.end(), {"-I", beside.empty() ? "." : beside.string()});
  for (const std::string& directory : what.include_path) words.insert(words.end(), {"-I", directory});
  for (const auto& [name, value] : what.macros) words.push_back("-D" + name + "=" + value);
  words.insert(words.end(), {"-o", folder.string(), (folder / (what.module + ".erl")).string()});
  return words;
}

/// Returns our environment, with the installation that is to be used.
std::vector<std::string> environment_with(const std::string& otp_root) {
  constexpr std::string_view kRoot = "VMRUN_OTP=";
  std::vector<std::string> variables{std::string(kRoot) + otp_root};
  for (char** v = environ; *v; ++v)
    if (!std::string_view(*v).starts_with(kRoot)) variables.emplace_back(*v);
  return variables;
}

/// Runs this program, with both outputs going to the file. Returns 0 or an errno.
int run_self(const std::vector<std::string>& words, const std::vector<std::string>& environment,
             const fs::path& output) {
  SpawnPlan plan;
  plan_signals(plan);
  posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&plan.actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&plan.actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &plan.actions, &plan.attributes,
                                pointers(words).data(), pointers(environment).data());
  if (error == 0)
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  return error;
}

/// Messages without a line name the file that was compiled, relative to the current folder.
std::string with_name(std::string messages, const std::string& compiled, const std::string& path) {
  for (std::size_t at = 0; (at = messages.find(compiled, at)) != std::string::npos;) {
    const std::size_t before = messages.find_last_of(" \n", at);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    messages.replace(begin, at + compiled.size() - begin, path);
    at = begin + path.size();
  }
  return messages;
}

}  // namespace

OtpCompiled compile_by_otp(const OtpCompilation& what) {
  const auto failed = [&](const std::string& why) {
    return OtpCompiled{{}, what.path + ": error: cannot run the compiler of Erlang/OTP: " + why + "\n"};
  };
  const ScratchFolder scratch;
  const fs::path& folder = scratch.path();
  if (folder.empty()) return failed("no folder for it can be made");
  bool written = write_file(folder / (what.module + ".erl"), what.text);
  for (const auto& [name, beam] : what.modules)
    written = written && write_file(folder / (name + ".beam"), beam);
  if (!written) return failed("its files cannot be written");
  const fs::path output = folder / "output";
  if (const int error = run_self(erlc_words(what, folder), environment_with(what.otp_root), output))
    return failed(std::strerror(error));
  OtpCompiled out;
  std::vector<std::uint8_t> told;
  std::string ignored;  // a missing file is an empty result
  if (read_file(output, &told, &ignored))
    out.messages = with_name({told.begin(), told.end()},
                             (folder.filename() / (what.module + ".erl")).string(), what.path);
  if (!read_file(folder / (what.module + ".beam"), &out.beam, &ignored)) out.beam.clear();
  if (out.beam.empty() && out.messages.empty()) return failed("it ends without a word");
  return out;
}

}  // namespace vmrun::cli
