// SPDX-License-Identifier: Apache-2.0
// Sites and firings: nobody looks; a semaphore is raised and no more; bpftrace or the D engine
// counts. The kernel's floor stands beside them: sites with nothing around them.
#include <sys/sdt.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/micro/consumer.hpp"
#include "bench/micro/micro.hpp"
#include "probes/engine/null_host.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/session.hpp"
#include "vm/probes/fire.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::micro {

namespace {

// ---- What fires ---------------------------------------------------------------------------------

/// The number of message-send, the first row of probes.tab.
constexpr std::uint32_t kMessageSend = 0;

struct Arguments {
  Term sender = Term::pid(12345), receiver = Term::pid(67);
  Word words = 12;
  Term module = intern_atom("gen_server"), function = intern_atom("handle_msg"),
       normal = intern_atom("normal");
};

/// As the machine writes them. The compiler may know nothing about the arguments.
[[gnu::noinline]] void message_send(const Arguments& a) {
  if (probe::message_send_enabled()) [[unlikely]]
    probe::fire_message_send(a.sender, a.receiver, a.words, 0, 0, 0);
}
[[gnu::noinline]] void local_function_entry(const Arguments& a) {
  if (probe::local_function_entry_enabled()) [[unlikely]]
    probe::fire_local_function_entry(a.sender, {a.module, a.function, 6}, 3);
}
[[gnu::noinline]] void process_exit(const Arguments& a) {
  if (probe::process_exit_enabled()) [[unlikely]]
    probe::fire_process_exit(a.sender, a.normal);
}
[[gnu::noinline]] void gc_minor_start(const Arguments& a) {
  if (probe::gc_minor_start_enabled()) [[unlikely]]
    probe::fire_gc_minor_start(a.sender, a.words);
}
[[gnu::noinline]] void nothing(const Arguments& a) { benchmark::DoNotOptimize(&a); }

[[gnu::noinline]] void empty_nop(const Arguments&) { STAP_PROBE(micro, empty_nop); }
#ifdef __x86_64__
// The form that Linux 6.18 replaces by a call: see SITE_INSTRUCTION in probes/gen_probes.py.
#undef _SDT_NOP
#define _SDT_NOP \
  .byte 0x0f;    \
  .byte 0x1f;    \
  .byte 0x44;    \
  .byte 0;       \
  .byte 0
[[gnu::noinline]] void empty_nop5(const Arguments&) { STAP_PROBE(micro, empty_nop5); }
#endif

using Fire = void (*)(const Arguments&);

void fire_again_and_again(benchmark::State& state, Fire fire) {
  const Arguments arguments;
  for (auto _ : state) fire(arguments);
}

struct Firing {
  const char* name;  // as D has it
  const char* note;  // as bpftrace has it
  std::uint16_t* semaphore;
  Fire fire;
};
const std::array kFirings = {
    Firing{"message-send", "erlang:message__send", &erlang_message__send_semaphore, message_send},
    Firing{"local-function-entry", "erlang:local__function__entry", &erlang_local__function__entry_semaphore,
           local_function_entry},
    Firing{"process-exit", "erlang:process__exit",
           reinterpret_cast<std::uint16_t*>(&erlang_process__exit_watch), process_exit},
    Firing{"gc_minor-start", "erlang:gc_minor__start",
           reinterpret_cast<std::uint16_t*>(&erlang_gc_minor__start_watch), gc_minor_start},
};

// ---- Consumers ----------------------------------------------------------------------------------

/// Raised as a tracer raises it, without a tracer: so all of a firing happens but the trap.
void enabled(benchmark::State& state, const Firing& firing) {
  __atomic_fetch_add(firing.semaphore, 1, __ATOMIC_SEQ_CST);
  fire_again_and_again(state, firing.fire);
  __atomic_fetch_sub(firing.semaphore, 1, __ATOMIC_SEQ_CST);
}

void by_bpftrace(benchmark::State& state, const char* note, const char* action, Fire fire) {
  Bpftrace bpftrace(note, action);
  if (!bpftrace.why_not().empty()) {
    state.SkipWithError(bpftrace.why_not().c_str());
    return;
  }
  fire_again_and_again(state, fire);
  const std::uint64_t counted = bpftrace.detach();
  const bool counts = std::strchr(action, '@') != nullptr;
  if (counts && counted < static_cast<std::uint64_t>(state.iterations()))
    state.SkipWithError("bpftrace has not counted all firings");
}

/// The probes of the program, for the engine: raising one is all that there is to do.
class Host final : public d::NullHost {
 public:
  const std::vector<d::ProbeInfo>& probes() const override { return probes_; }
  d::EncodedArgument encoded_argument(const d::Firing& f, unsigned n, char* out, std::size_t) override {
    const std::uint64_t words[] = {f.arguments[n] & 0xfffffff, f.arguments[n] >> 28};
    std::memcpy(out, words, sizeof words);
    return {d::Encoding::kPid, sizeof words};
  }
  void enable(std::uint32_t probe) override { probe::raise_inside(probe); }
  void disable(std::uint32_t probe) override { probe::lower_inside(probe); }

 private:
  std::vector<d::ProbeInfo> probes_{1, {"erlang1", "vmrun", "-", "message-send", {}}};
};

/// message-send { @ = count(); }, or { @[arg0] = count(); }.
d::Program counting(bool by_sender) {
  d::Program program;
  program.aggregations.resize(1);
  d::Clause clause;
  clause.probes.push_back({kMessageSend, "", "", -1});
  clause.body = {{d::Operation::kLoad, 0, 0, 0, 1}};
  if (by_sender) clause.body.push_back({d::Operation::kKeyarg, 0, 0, 0, 0});
  clause.body.push_back({d::Operation::kAgg, 0, 0, 0, 0});
  clause.body.push_back({d::Operation::kRet});
  program.clauses.push_back(clause);
  return program;
}

d::Session* session_that_looks;

void to_the_session(unsigned probe, unsigned argument_count, const std::uint64_t* words) {
  using enum d::ArgumentKind;
  static constexpr d::ArgumentKind kinds[] = {kPid, kPid, kUint32, kInt, kInt, kInt};
  session_that_looks->fire({probe, argument_count, words, kinds});
}

void by_engine(benchmark::State& state, bool by_sender) {
  Host host;
  std::string why;
  const auto session = d::Session::open(counting(by_sender), host, why);
  if (!session) {
    state.SkipWithError(why.c_str());
    return;
  }
  session_that_looks = session.get();
  probe::fire_inside = to_the_session;
  session->begin();
  fire_again_and_again(state, message_send);
  session->end();
  std::uint64_t counted = 0;
  for (const d::Element& e : session->aggregations()) counted += e.values[0];
  if (counted < static_cast<std::uint64_t>(state.iterations()))
    state.SkipWithError("the engine has not counted all firings");
}

std::array<std::uint64_t, 4096> counts;

void counted_inside(benchmark::State& state) {
  probe::counts_of_thread = [] { return counts.data(); };
  counts.fill(0);
  probe::count_inside(kMessageSend);
  fire_again_and_again(state, message_send);
  probe::stop_counting_inside(kMessageSend);
  if (counts[kMessageSend] < static_cast<std::uint64_t>(state.iterations()))
    state.SkipWithError("not all firings are counted");
}

template <class Run>
benchmark::internal::Benchmark* add(const std::string& name, Run run) {
  return benchmark::RegisterBenchmark(name.c_str(), run);
}

/// So often a site with bpftrace attached fires: known beforehand, for attaching takes a second.
constexpr benchmark::IterationCount kTraps = 20'000;

}  // namespace

void register_sites() {
  using benchmark::State;
  add("site/nothing", [](State& state) { fire_again_and_again(state, nothing); });
  for (const Firing& f : kFirings) {
    const std::string name = std::string("site/") + f.name;
    add(name + " that nobody looks at", [&f](State& state) { fire_again_and_again(state, f.fire); });
    add(name + " with a semaphore raised", [&f](State& state) { enabled(state, f); });
    add(name + "/bpftrace", [&f](State& state) {
      by_bpftrace(state, f.note, "{ @ = count(); }", f.fire);
    })->Iterations(kTraps);
  }
  add("site/message-send/vmtrace", counted_inside);
  add("site/message-send by a clause/vmtrace", [](State& state) { by_engine(state, false); });
  add("site/message-send by sender/vmtrace", [](State& state) { by_engine(state, true); });

  struct Empty {
    const char *name, *note;
    Fire fire;
  };
  static constexpr Empty kEmpty[] = {
      {"nop", "micro:empty_nop", empty_nop},
#ifdef __x86_64__
      {"nop5", "micro:empty_nop5", empty_nop5},
#endif
  };
  for (const Empty& e : kEmpty) {
    const std::string name = std::string("site/empty ") + e.name;
    add(name + "/bpftrace", [&e](State& state) {
      by_bpftrace(state, e.note, "{ @ = count(); }", e.fire);
    })->Iterations(kTraps);
    add(name + " without an action/bpftrace", [&e](State& state) {
      by_bpftrace(state, e.note, "{ }", e.fire);
    })->Iterations(kTraps);
  }
}

}  // namespace vmrun::micro
