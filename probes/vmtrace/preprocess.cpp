// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/preprocess.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace vmrun::d {
namespace {

/// A file in memory serves better than a pipe: a program that writes before it has read everything
/// would block both sides.
int memory_file(const std::string& text) {
  const int file = memfd_create("vmtrace", MFD_CLOEXEC);
  if (file < 0) return -1;
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(file, text.data() + at, text.size() - at);
    if (n <= 0) return close(file), -1;
    at += static_cast<std::size_t>(n);
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

std::string contents(int file) {
  std::string text;
  lseek(file, 0, SEEK_SET);
  char part[4096];
  for (ssize_t n = 0; (n = read(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  return text;
}

std::string folder_of(const std::string& file) {
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash + 1);
}

/// Returns the program's exit status, or an error number below 0.
int run(const std::vector<std::string>& words, int in, int out, int errors) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -error;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

bool preprocess(const std::string& file, const std::string& text, const std::vector<std::string>& flags,
                std::string& out, std::string& said) {
  std::string marked = "# 1 \"" + file + "\"\n" + text;
  if (text.starts_with("#!")) marked.replace(marked.size() - text.size(), 2, "//");
  std::vector<std::string> words = {"cpp",           "-D__linux",    "-D__unix",
                                    "-D__SVR4",      "-D__SUNW_D=1", "-D__SUNW_D_VERSION=1",
                                    "-D__SUNW_D_64", "-U__GNUC__"};
  // C99 leaves out what GNU's libraries add to C, because those headers define functions.
  if (std::ranges::find(flags, "-traditional-cpp") == flags.end()) words.push_back("-std=c99");
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back("-I" + folder_of(file));
  words.push_back("-");
  const int in = memory_file(marked), result = memory_file(""), errors = memory_file("");
  const int status = in < 0 || result < 0 || errors < 0 ? -errno : run(words, in, result, errors);
  if (status == 0) out = contents(result);
  if (status < 0) said = std::string("vmtrace: cannot run cpp: ") + std::strerror(-status) + "\n";
  else said = contents(errors);
  for (const int f : {in, result, errors})
    if (f >= 0) close(f);
  return status == 0;
}

}  // namespace vmrun::d
