// SPDX-License-Identifier: Apache-2.0
// What a firing costs on the D engine, without a machine: the host does nothing, or next to
// nothing. Google Benchmark; ./dev bench engine builds and runs it.
#include <benchmark/benchmark.h>

#include <cstring>

#include "probes/engine/null_host.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/ring.hpp"
#include "probes/engine/session.hpp"
#include "probes/engine/trace_clock.hpp"

using namespace vmrun::d;
using Op = Operation;

namespace {

// A process is shown as two words, as the machine does.
class BenchHost final : public NullHost {
 public:
  const std::vector<ProbeInfo>& probes() const override { return probes_; }
  EncodedArgument encoded_argument(const Firing& f, unsigned n, char* out, std::size_t) override {
    const std::uint64_t words[] = {f.arguments[n] & 0xfffffff, f.arguments[n] >> 28};
    std::memcpy(out, words, sizeof words);
    return {Encoding::kPid, sizeof words};
  }
  std::uint64_t self_key(const Firing& f) override { return f.arguments[0]; }
  std::uint64_t builtin_number(unsigned, const Firing&) override { return 1; }

 private:
  std::vector<ProbeInfo> probes_{2, {"erlang1", "vmrun", "-", "message-send", {}}};
};

Program program(std::vector<Instruction> body, bool makes_record) {
  Program p;
  p.aggregations.resize(1);
  p.actions.resize(1);
  p.variables.push_back({"ts", Scope::kSelf});
  p.variables.push_back({"n", Scope::kGlobal});
  Clause c;
  c.probes.push_back({0, "", "", -1});
  c.body = std::move(body);
  c.body.push_back({Op::kRet});
  c.makes_record = makes_record;
  p.clauses.push_back(c);
  return p;
}

// processes: how many fire in turn. The ring is emptied whenever it is half full, without the
// clock.
void fire(benchmark::State& state, std::vector<Instruction> body, bool makes_record,
          std::uint64_t processes) {
  BenchHost host;
  std::string why;
  auto session = Session::open(program(std::move(body), makes_record), host, why);
  if (session == nullptr || !session->begin()) {
    state.SkipWithError(why.c_str());
    return;
  }
  static constexpr ArgumentKind kinds[] = {ArgumentKind::kPid, ArgumentKind::kInt64, ArgumentKind::kInt64};
  std::uint64_t n = 0;
  std::vector<std::uint64_t> words;
  for (auto _ : state) {
    const std::uint64_t arguments[] = {0x1000 + n % processes, n, 42};
    session->fire({0, 3, arguments, kinds});
    if (++n % 32768 == 0 && makes_record) {
      state.PauseTiming();
      words.clear();
      session->rings()[0]->take(words, 1 << 24);
      state.ResumeTiming();
    }
  }
  if (session->drops(Drop::kPrincipal) != 0) state.SkipWithError("dropped records");
}

void not_enabled(benchmark::State& state) {
  BenchHost host;
  std::string why;
  auto session = Session::open(program({}, false), host, why);
  session->begin();
  for (auto _ : state) session->fire({1, 0, nullptr, nullptr});
}
BENCHMARK(not_enabled);

void count(benchmark::State& state) {
  fire(state, {{Op::kLoad, 0, 0, 0, 1}, {Op::kAgg, 0, 0, 0, 0}}, false, 1);
}
BENCHMARK(count);

void count_by_process(benchmark::State& state) {
  fire(state, {{Op::kLoad, 0, 0, 0, 1}, {Op::kKeyarg, 0, 0, 0, 0}, {Op::kAgg, 0, 0, 0, 0}}, false,
       static_cast<std::uint64_t>(state.range(0)));
}
BENCHMARK(count_by_process)->Arg(1)->Arg(100)->Arg(10000);

void record_of_three(benchmark::State& state) {
  fire(state,
       {{Op::kBegin, 0, 0, 0, 0},
        {Op::kArg, 0, 0, 0, 0},
        {Op::kFi, 0},
        {Op::kArg, 0, 0, 0, 1},
        {Op::kFi, 0},
        {Op::kArg, 0, 0, 0, 2},
        {Op::kFi, 0}},
       true, 1);
}
BENCHMARK(record_of_three);

void self_variable(benchmark::State& state) {
  fire(state, {{Op::kBuiltin, 0, 0, 0, 0}, {Op::kStt, 0, 0, 0, 0}, {Op::kLdt, 0, 0, 0, 0}}, false, 1000);
}
BENCHMARK(self_variable);

void global_variable(benchmark::State& state) {
  fire(state, {{Op::kLdg, 0, 0, 0, 1}, {Op::kLoad, 1, 0, 0, 1}, {Op::kAdd, 0, 0, 1}, {Op::kStg, 0, 0, 0, 1}},
       false, 1);
}
BENCHMARK(global_variable);

void clock_reading(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(timestamp());
}
BENCHMARK(clock_reading);

}  // namespace

BENCHMARK_MAIN();
