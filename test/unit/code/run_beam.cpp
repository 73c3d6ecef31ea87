// Runs a function of compiled modules without the runtime: run_beam [-d] DIRECTORY MODULE FUNCTION [INTEGER...]. Prints the result. With -d prints the loaded code
// instead. Knows the few built-in functions below; for trying out and measuring the machine alone.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "vm/code/code_server.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/heap/literal.hpp"
#include "vm/process/spawn.hpp"
#include "vm/process/table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"

using namespace vmrun;

namespace {

class Directory : public CodeSource {
 public:
  explicit Directory(std::string path) : path_(std::move(path)) {}
  bool find(std::string_view module, std::vector<std::uint8_t>* beam, std::string* path) override {
    *path = path_ + "/" + std::string(module) + ".beam";
    std::ifstream in(*path, std::ios::binary);
    if (!in) return false;
    beam->assign(std::istreambuf_iterator<char>(in), {});
    return true;
  }

 private:
  std::string path_;
};

Term bif_display(Process&, const Term* a) {
  std::printf("%s\n", term_text(a[0]).c_str());
  std::fflush(stdout);
  return atoms::true_;
}
Term bif_halt(Process& p, const Term* a) {
  request_halt(static_cast<int>(a[0].small_value()), true);
  return exit_now(p, atoms::normal);
}
Term bif_error(Process& p, const Term* a) {
  raise_error(p, a[0]);
  p.exception_trace = atoms::true_;
  return kNonValue;
}
Term bif_throw(Process& p, const Term* a) {
  raise(p, ExceptionClass::kThrow, a[0]);
  p.exception_trace = atoms::true_;
  return kNonValue;
}
Term bif_exit(Process& p, const Term* a) {
  raise(p, ExceptionClass::kExit, a[0]);
  p.exception_trace = atoms::true_;
  return kNonValue;
}

const BifRow kRows[] = {
    {"erlang", "display", 1, 0, bif_display}, {"erlang", "halt", 1, 0, bif_halt},   {"erlang", "error", 1, 0, bif_error},
    {"erlang", "throw", 1, 0, bif_throw},     {"erlang", "exit", 1, 0, bif_exit},
};

}  // namespace

int main(int argc, char** argv) {
  bool dump = argc > 1 && !std::strcmp(argv[1], "-d");
  if (dump) argv++, argc--;
  if (argc < (dump ? 3 : 4)) return std::fprintf(stderr, "run_beam [-d] DIRECTORY MODULE FUNCTION [INTEGER...]\n"), 2;
  init_literal_area();
  process_table.init(1 << 16);
  register_bifs(kRows, std::size(kRows));
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
  start_schedulers(options);
  const HaltRequest halt = wait_for_halt();
  std::fflush(stdout);
  std::_Exit(halt.status);
}
