// SPDX-License-Identifier: Apache-2.0
// vmrunc: the compiler as a program. The build uses it for the library, and its output can be
// inspected with it.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/code_path/installed_otp.hpp"
#include "runtime/compile/compiler.hpp"
#include "vm/machine.hpp"

namespace {

constexpr const char* kUsage =
    "usage: vmrunc [OPTIONS] FILE\n"
    "\n"
    "Compiles one module in Erlang's syntax to a .beam file, MODULE.beam in the current directory.\n"
    "\n"
    "  -o FILE          write the module to FILE\n"
    "  -I DIR           look for included files in DIR too\n"
    "  -L DIR           look below DIR for files of -include_lib\n"
    "  -D NAME[=VALUE]  define a macro\n"
    "  -r RELEASE       write code for this release of OTP; without it for the installed one\n"
    "  -s               FILE is a script: -module may be missing, and main is exported by itself\n"
    "  -n NAME          the file's name in messages and stack traces\n"
    "  -w               no warnings\n"
    "  -c               only check\n"
    "  -E               print the preprocessed text\n"
    "  -core            print the module as Core, the compiler's first form\n"
    "  -ssa             print it as blocks of single assignments, its second form\n"
    "  -S               print the generic assembly\n"
    "  -V, --version    print the version\n"
    "  -h, --help       print this text\n"
    "\n"
    "Exit status: 0; 1 when the module does not compile or cannot be written; 2 for a usage error.\n";

bool write_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  FILE* f = std::fopen(path.c_str(), "wb");
  if (!f) return false;
  const bool good = std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  return (std::fclose(f) == 0) && good;
}

}  // namespace

int main(int argc, char** argv) {
  vmrun::connect_machine();
  vmrun::compile::CompileOptions options;
  std::string out, file, release;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    auto value = [&](std::size_t flag) {
      return a.size() > flag ? a.substr(flag) : i + 1 < argc ? std::string(argv[++i]) : "";
    };
    if (a == "-h" || a == "--help") return std::fputs(kUsage, stdout), 0;
    else if (a == "-V" || a == "--version") return std::puts("vmrunc: vmrun " VMRUN_VERSION), 0;
    else if (a == "-core") options.want_core = true;
    else if (a == "-ssa") options.want_ssa = true;
    else if (a == "-S") options.want_assembly = true;
    else if (a == "-E") options.only_preprocess = true;
    else if (a == "-c") options.only_check = true;
    else if (a == "-w") options.warnings = false;
    else if (a == "-s") options.script = true;
    else if (a.starts_with("-r")) release = value(2);
    else if (a.starts_with("-I")) options.include_path.push_back(value(2));
    else if (a.starts_with("-L")) options.library_path.push_back(value(2));
    else if (a.starts_with("-n")) options.shown_name = value(2);
    else if (a.starts_with("-o")) out = value(2);
    else if (a.starts_with("-D")) {
      std::string d = value(2);
      const std::size_t eq = d.find('=');
      options.macros.emplace_back(d.substr(0, eq), eq == std::string::npos ? "" : d.substr(eq + 1));
    } else if (a.starts_with("-") || !file.empty()) {
      std::fputs(kUsage, stderr);
      return 2;
    } else {
      file = a;
    }
  }
  if (file.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (const int number = release.empty() ? vmrun::installed_release("") : std::atoi(release.c_str()))
    options.release = number;
  options.colours = vmrun::compile::wants_colours(STDERR_FILENO);
  const vmrun::compile::CompileResult result = vmrun::compile::compile_file(file, options);
  std::fputs(result.messages.c_str(), stderr);
  if (!result.ok) return 1;
  std::fputs(result.preprocessed.c_str(), stdout);
  std::fputs((result.core + result.ssa + result.assembly).c_str(), stdout);
  const bool shown = options.want_core || options.want_ssa || options.want_assembly;
  if (options.only_preprocess || options.only_check || (shown && out.empty())) return 0;
  if (out.empty()) out = result.module + ".beam";
  if (!write_file(out, result.beam)) {
    std::fprintf(stderr, "vmrunc: cannot write %s: %s\n", out.c_str(), std::strerror(errno));
    return 1;
  }
  return 0;
}
