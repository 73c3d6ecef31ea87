// SPDX-License-Identifier: Apache-2.0
// What single things cost: a site, a firing, a text, and the primitives of a machine. Google
// Benchmark; ./dev bench micro builds and runs it. One program, so that all figures stand in one
// table; options are Google Benchmark's, and
//
//   --vmrun=PATH        the machine whose primitives are measured
//   --primitives=PATH   primitives.act, the program that it runs
//
// without which those of a machine are left out.
#include "bench/micro/micro.hpp"
#include "vm/machine.hpp"

#include <cstring>
#include <memory>
#include <vector>

using namespace vmrun::micro;

namespace {

/// Takes the measured processor time of another program for that of the benchmark, and leaves the
/// name as it was registered: Google Benchmark would append how time and repetitions are chosen.
template <class Reporter>
class Plain final : public Reporter {
 public:
  using Reporter::Reporter;
  void ReportRuns(const std::vector<typename Reporter::Run>& runs) override {
    std::vector<typename Reporter::Run> plain = runs;
    for (auto& run : plain) {
      run.run_name.min_time.clear();
      run.run_name.iterations.clear();
      if (run.run_name.time_type.empty()) continue;
      run.run_name.time_type.clear();
      run.cpu_accumulated_time = run.real_accumulated_time;
    }
    Reporter::ReportRuns(plain);
  }
};

const char* value_of(const char* argument, const char* option) {
  const std::size_t length = std::strlen(option);
  return std::strncmp(argument, option, length) == 0 ? argument + length : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  vmrun::connect_machine();
  std::string vmrun, primitives;
  bool json = false;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const char* path = value_of(argv[i], "--vmrun=");
    const char* program = value_of(argv[i], "--primitives=");
    if (path) vmrun = path;
    if (program) primitives = program;
    json = json || std::strcmp(argv[i], "--benchmark_format=json") == 0;
    if (!path && !program) argv[kept++] = argv[i];
  }
  argv[kept] = nullptr;
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 2;

  register_sites();
  register_texts();
  if (!vmrun.empty() && !primitives.empty()) register_machine(vmrun, primitives);

  std::unique_ptr<benchmark::BenchmarkReporter> reporter;
  if (json) reporter = std::make_unique<Plain<benchmark::JSONReporter>>();
  else reporter = std::make_unique<Plain<benchmark::ConsoleReporter>>();
  return benchmark::RunSpecifiedBenchmarks(reporter.get()) == 0;
}
