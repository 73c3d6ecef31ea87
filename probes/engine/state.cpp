// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/state.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "probes/engine/trace_clock.hpp"

namespace vmrun::d {

namespace {

std::string command_name() {
  char name[64] = {};
  if (FILE* file = std::fopen("/proc/self/comm", "re")) {
    if (std::fgets(name, sizeof name, file) == nullptr) name[0] = '\0';
    std::fclose(file);
  }
  std::string text(name);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

void Shared::describe_process() {
  const std::uint32_t known_as = program.options.pid;
  pid = known_as != 0 ? known_as : static_cast<std::uint32_t>(getpid());
  ppid = static_cast<std::uint32_t>(getppid());
  uid = getuid();
  gid = getgid();
  if (!host.probes().empty()) provider = provider_of(host.probes().front().provider, known_as);
  execname = command_name();
  for (const char* name : {"BEGIN", "END", "ERROR"}) own_probes.push_back({"dtrace", "", "", name, {}});
  for (const Timer& t : program.timers) own_probes.push_back({"profile", "", "", t.name, {}});
}

bool Shared::open_variables() {
  globals.open(program.variables);
  return dynamic.open(program.variables, program.options.dynvarsize) &&
         speculations.open(program.options.nspec, program.options.specsize);
}

const ProbeInfo& Shared::probe(std::uint32_t number) const {
  static const ProbeInfo none;
  if (number < host.probes().size()) return host.probes()[number];
  const std::size_t own = number >= kBeginProbe ? number - kBeginProbe : number - kFirstTimerProbe + 3;
  return own < own_probes.size() ? own_probes[own] : none;
}

Thread::~Thread() {
  if (block_ != nullptr) munmap(block_, block_bytes_);
}

bool Thread::open(std::uint32_t number) {
  tid = static_cast<std::uint64_t>(syscall(SYS_gettid));
  random = (tid + 1) * 0x9e3779b97f4a7c15ull ^ d::timestamp();
  const Program& p = shared.program;
  // Space for the script's own allocations and for texts. Pages are mapped as they are used.
  const std::size_t scratch = ((p.options.scratchsize + 7) & ~std::uint64_t{7}) +
                              std::max<std::size_t>(16 * std::size_t{p.options.strsize}, 64 << 10);
  const std::size_t frame = (p.frame_bytes + 7) & ~std::size_t{7};
  block_bytes_ = scratch + frame + kKeyWords * 8 + kRecordWords * 8;
  void* block =
      mmap(nullptr, block_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return false;
  block_ = static_cast<char*>(block);
  key = reinterpret_cast<std::uint64_t*>(block_);
  record = key + kKeyWords;
  char* rest = reinterpret_cast<char*>(record + kRecordWords);
  memory.set(Segment::kTexts, const_cast<char*>(p.texts.data()), p.texts.size());
  memory.set(Segment::kScratch, rest, scratch);
  memory.set(Segment::kFrame, rest + scratch, p.frame_bytes);
  memory.set(Segment::kGlobals, shared.globals.block(), shared.globals.block_bytes());
  token_text.reserve(p.options.strsize);
  for (auto& t : tables)
    if (!p.aggregations.empty() && !t.open(p.aggregations, p.options.aggsize)) return false;
  table.store(&tables[0], std::memory_order_relaxed);
  ring = Ring::make(p.options.bufsize, number, tid, p.options.policy);
  return ring != nullptr;
}

std::uint64_t Thread::timestamp() {
  if (now == 0) now = d::timestamp();
  return now;
}

std::uint64_t Thread::action_in_clause() const {
  const auto& actions = shared.program.actions;
  if (action == 0 || action > actions.size() || actions[action - 1].clause != clause)
    return std::min<std::uint64_t>(action, 1);
  std::uint64_t n = 1;
  while (n < action && actions[action - 1 - n].clause == clause) ++n;
  return n;
}

bool Thread::text(Address a, std::string_view& out) {
  if (!memory.text(a, shared.program.options.strsize - 1, out)) return fail(FaultKind::kBadAddress, a);
  fuel -= static_cast<std::int64_t>(out.size()) + 1;
  return fuel >= 0 || fail(FaultKind::kIllegalOperation);
}

bool Thread::allocate(std::uint64_t bytes, Address& out) {
  const std::size_t left = shared.program.options.scratchsize - memory.given();
  if (bytes <= left) out = memory.give(bytes);
  return (bytes <= left && out != 0) || fail(FaultKind::kNoScratch);
}

bool Thread::make_text(std::string_view text, Address& out) {
  const std::size_t bytes = std::min<std::size_t>(text.size(), shared.program.options.strsize - 1);
  fuel -= static_cast<std::int64_t>(bytes) + 1;
  if (fuel < 0) return fail(FaultKind::kIllegalOperation);
  out = memory.reserve(bytes + 1);
  if (out == 0) return fail(FaultKind::kNoScratch);
  char* place = memory.at(out, bytes + 1);
  std::memmove(place, text.data(), bytes);
  place[bytes] = '\0';
  return true;
}

}  // namespace vmrun::d
