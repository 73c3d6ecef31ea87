// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/without_script.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace vmrun::cli {
namespace {

bool is_flag(std::string_view word) { return word.size() > 1 && (word[0] == '-' || word[0] == '+'); }

}  // namespace

bool is_without_script(int argc, const char* const* argv, int first) {
  for (int i = first; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "-extra" || word == "--") return false;
    if (word == "-s" || word == "-run" || word == "-eval" || word == "-user") return true;
  }
  return false;
}

std::string read_without_script(int argc, const char* const* argv, const OwnFlag& own,
                                std::vector<KeptFlag>* kept, std::vector<std::string>* plain) {
  for (int i = 1; i < argc;) {
    const std::string flag = argv[i++];
    if (!is_flag(flag)) {
      plain->push_back(flag);
      continue;
    }
    if (flag == "-extra") {
      plain->insert(plain->end(), argv + i, argv + argc);
      break;
    }
    std::vector<std::string> values;
    while (i < argc && !is_flag(argv[i])) values.emplace_back(argv[i++]);
    std::string error;
    if (flag == "--") {
      plain->insert(plain->end(), values.begin(), values.end());
    } else if (flag == "-env" && values.size() == 2) {
      ::setenv(values[0].c_str(), values[1].c_str(), 1);
    } else if (!own(flag, values, &error)) {
      if (flag[0] == '+') return "unknown flag '" + flag + "'";
      kept->push_back({flag.substr(1), std::move(values)});
    }
    if (!error.empty()) return error;
  }
  return {};
}

void detach() {
  if (::fork() != 0) ::_exit(0);
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
  if (null > 2) ::close(null);
}

}  // namespace vmrun::cli
