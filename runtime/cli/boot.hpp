// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "runtime/cli/code_finder.hpp"
#include "runtime/cli/options.hpp"
#include "vm/heap/heap.hpp"
#include "vm/term/term.hpp"

/// Starts the machine: built-in functions, code source, the first process, schedulers. Then waits
/// for its end.
namespace vmrun::cli {

/// Prints the instructions that a module becomes when it is loaded. Nothing runs. Called instead of
/// boot; returns the exit status.
int print_loaded(const FoundCode& code);

/// The first process's call.
struct Beginning {
  Term module, function;
  Term arguments;  // a list, in the heap that was passed
  /// Modules of system processes that start beside it, each by start/0.
  std::vector<Term> companions = {};
  bool leads_itself = false;  // is its own group leader, like OTP's init
};

/// Loads what the program needs and returns how it begins, or nothing after reporting an error.
/// Called when the machine can load modules, before any process runs.
using Begin = std::function<std::optional<Beginning>(Heap&)>;

/// Begins a script, or what the flags name instead (without_script.hpp), under the library's init.
std::optional<Beginning> begin_script(const Options& options, CodeFinder& finder, Heap& heap);

/// Runs until the program halts. `source` supplies modules that are called and not loaded. Returns
/// the exit status. Called once, from main.
int boot(const Options& options, CodeSource& source, const Begin& begin);

/// The code source of scripts.
class FinderSource final : public CodeSource {
 public:
  explicit FinderSource(CodeFinder& finder) : finder_(finder) {}
  bool find(std::string_view module, std::vector<std::uint8_t>* beam, std::string* path) override;
  bool find_substitute(std::string_view module, std::vector<std::uint8_t>* beam, std::string* path) override;
  bool in_memory(std::string_view module) const override;
  bool compile(std::string_view name, std::string_view text, std::vector<std::uint8_t>* beam,
               std::string* messages) override;
  std::string locate(std::string_view module) override { return finder_.locate(module); }
  std::vector<std::string> path() override { return finder_.path(); }
  void set_path(std::vector<std::string> path) override { finder_.set_path(std::move(path)); }

 private:
  CodeFinder& finder_;
};

}  // namespace vmrun::cli
