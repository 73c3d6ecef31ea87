// SPDX-License-Identifier: Apache-2.0
// The texts that the machine makes of terms for tracers outside.
#include <string>

#include "bench/micro/micro.hpp"
#include "vm/heap/build.hpp"
#include "vm/heap/literal.hpp"
#include "vm/probes/texts.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::micro {

namespace {

template <class MakeText>
void measure(benchmark::State& state, MakeText make_text) {
  for (auto _ : state) {
    const auto text = make_text();
    benchmark::DoNotOptimize(static_cast<const char*>(text));
    benchmark::ClobberMemory();
  }
}

/// {badmatch, {error, Number}}: what a process that has failed exits with, without its stack.
Term failure(Heap& heap) {
  Term* hp = heap.alloc(6);
  const Term error = make_tuple(hp, intern_atom("error"), Term::small(123456));
  return make_tuple(hp, intern_atom("badmatch"), error);
}

}  // namespace

void register_texts() {
  benchmark::RegisterBenchmark("text/pid", [](benchmark::State& state) {
    Term pid = Term::pid(12345);
    measure(state, [&] {
      benchmark::DoNotOptimize(pid);
      return probe::PidText(pid, "");
    });
  });
  benchmark::RegisterBenchmark("text/function", [](benchmark::State& state) {
    probe::FunctionArgument f{intern_atom("gen_server"), intern_atom("handle_msg"), 6};
    measure(state, [&] {
      benchmark::DoNotOptimize(f);
      return probe::FunctionText(f);
    });
  });
  benchmark::RegisterBenchmark("text/reason that is an atom", [](benchmark::State& state) {
    Term reason = intern_atom("normal");
    measure(state, [&] {
      benchmark::DoNotOptimize(reason);
      return probe::TermText<255>(reason);
    });
  });
  benchmark::RegisterBenchmark("text/reason that is a term", [](benchmark::State& state) {
    Heap heap;
    Term reason = failure(heap);
    measure(state, [&] {
      benchmark::DoNotOptimize(reason);
      return probe::TermText<255>(reason);
    });
  });
}

}  // namespace vmrun::micro
