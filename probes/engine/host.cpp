// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/host.hpp"

namespace vmrun::d {

std::string provider_of(std::string_view name, std::uint64_t pid) {
  const std::size_t letters = name.find_last_not_of("0123456789") + 1;
  if (pid == 0 || letters == name.size()) return std::string(name);
  return std::string(name.substr(0, letters)) + std::to_string(pid);
}

const ProbeInfo& function_probe_info(FunctionEvent event) {
  static const std::vector<ProbeArgument> arguments = {
      {"pid", ArgumentKind::kPid}, {"mfa", ArgumentKind::kFunction}, {"depth", ArgumentKind::kInt64}};
  static const ProbeInfo infos[kFunctionEvents] = {{"erlang", "", "", "entry", arguments, true},
                                                   {"erlang", "", "", "return", arguments, true},
                                                   {"erlang", "", "", "exception", arguments, true}};
  return infos[static_cast<unsigned>(event)];
}

}  // namespace vmrun::d
