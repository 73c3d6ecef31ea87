// SPDX-License-Identifier: Apache-2.0
// Runs a function of compiled modules on the machine and its built-in functions, without library
// and boot: run_beam [-d] DIRECTORY MODULE FUNCTION [INTEGER...]. The function ends by erlang:halt.
// With -d the loaded code is printed instead.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/connect.hpp"
#include "vm/base/halt.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/code/interpreter.hpp"
#include "vm/heap/literal.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"

using namespace vmrun;

namespace {

class Directory : public CodeSource {
 public:
  explicit Directory(std::string path) : path_(std::move(path)) {}
  bool find(std::string_view module, std::vector<std::uint8_t>* beam, std::string* path) override {
    *path = locate(module);
    std::ifstream in(*path, std::ios::binary);
    if (!in) return false;
    beam->assign(std::istreambuf_iterator<char>(in), {});
    return true;
  }
  std::string locate(std::string_view module) override { return path_ + "/" + std::string(module) + ".beam"; }
  std::vector<std::string> path() override { return {path_}; }
  void set_path(std::vector<std::string> path) override { path_ = path.at(0); }

 private:
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  connect_runtime();
  bool dump = argc > 1 && !std::strcmp(argv[1], "-d");
  if (dump) argv++, argc--;
  if (argc < (dump ? 3 : 4))
    return std::fprintf(stderr, "run_beam [-d] DIRECTORY MODULE FUNCTION [INTEGER...]\n"), 2;
  init_literal_area();
  process_table.init(1 << 16);
  register_bifs(kBifRows, kBifRowCount);
  Directory source(argv[1]);
  set_code_source(&source);
  const Term module = intern_atom(argv[2]);
  if (dump) {
    std::string message;
    if (!autoload_module(module, &message)) return std::fprintf(stderr, "%s\n", message.c_str()), 1;
    std::fputs(disassemble(*current_module(module)).c_str(), stdout);
    return 0;
  }
  Arena arena;
  Term list = Term::nil();
  for (int i = argc - 1; i > 3; i--) {
    Term* hp = arena.alloc(2);
    list = make_cons(hp, Term::small(std::atol(argv[i])), list);
  }
  if (!spawn_process(nullptr, module, intern_atom(argv[3]), list, SpawnOptions{}).is_value()) return 1;
  SchedulerOptions options;
  options.schedulers = 1;
  options.run = interpret;
  start_schedulers(options);
  const HaltRequest halt = wait_for_halt();
  stop_schedulers();
  return halt.status;
}
