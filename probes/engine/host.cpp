#include "probes/engine/host.hpp"

namespace vmrun::d {

const ProbeInfo& function_probe_info(bool returns) {
  static const std::vector<ProbeArgument> arguments = {
      {"pid", ArgumentKind::kPid}, {"mfa", ArgumentKind::kFunction}, {"depth", ArgumentKind::kInt64}};
  static const ProbeInfo at_entry{"erlang", "", "", "entry", arguments, true};
  static const ProbeInfo at_return{"erlang", "", "", "return", arguments, true};
  return returns ? at_return : at_entry;
}

}  // namespace vmrun::d
