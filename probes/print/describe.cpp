// SPDX-License-Identifier: Apache-2.0
#include "probes/print/describe.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

namespace vmrun::d {
namespace {

// Texts by FaultKind.
constexpr const char* kFaults[] = {"unknown fault",         "invalid address",     "invalid alignment",
                                   "illegal operation",     "divide-by-zero",      "out of scratch space",
                                   "invalid kernel access", "invalid user access", "unknown fault",
                                   "invalid stack"};

bool has_address(FaultKind kind) {
  return kind == FaultKind::kBadAddress || kind == FaultKind::kBadAlignment ||
         kind == FaultKind::kKernelAddress || kind == FaultKind::kUserAddress;
}

}  // namespace

ProbeInfo probe_info(const std::vector<ProbeInfo>& probes, const Program& program, std::uint32_t number) {
  if (number == kBeginProbe) return {"dtrace", "", "", "BEGIN", {}};
  if (number == kEndProbe) return {"dtrace", "", "", "END", {}};
  if (number == kErrorProbe) return {"dtrace", "", "", "ERROR", {}};
  if (number >= kFirstTimerProbe && number - kFirstTimerProbe < program.timers.size())
    return {"profile", "", "", program.timers[number - kFirstTimerProbe].name, {}};
  if (is_function_probe(number) || is_any_function_probe(number)) {
    ProbeInfo probe = function_probe_info(event_of_probe(number));
    if (!probes.empty()) probe.provider = probes.front().provider;
    return probe;
  }
  if (number < probes.size()) return probes[number];
  return {"?", "?", "?", "?", {}};
}

ProbeInfo probe_info(const std::vector<ProbeInfo>& probes, const Program& program, std::uint32_t number,
                     Texts& texts) {
  ProbeInfo probe = probe_info(probes, program, number);
  if (is_function_probe(number))
    std::tie(probe.module, probe.function) = texts.function(function_of_probe(number));
  return probe;
}

std::string describe_fault(const Fault& fault) {
  const auto kind = std::min<std::size_t>(static_cast<std::size_t>(fault.kind), std::size(kFaults) - 1);
  const std::string address = has_address(fault.kind) ? fmt::format(" (0x{:x})", fault.address) : "";
  const std::string where = fault.action == 0 ? "predicate" : fmt::format("action #{}", fault.action);
  return fmt::format("{}{} in {} at DIF offset {}", kFaults[kind], address, where, fault.offset);
}

Fault fault_of(std::span<const std::uint64_t> words) {
  Fault fault{};
  if (words.size_bytes() >= sizeof fault) std::memcpy(&fault, words.data(), sizeof fault);
  return fault;
}

}  // namespace vmrun::d
