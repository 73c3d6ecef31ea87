// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "probes/print/aggregation_print.hpp"

/// What -x and #pragma D option set for the consumer of records. Plain data.
namespace vmrun::d {

struct ConsumerOptions {
  bool quiet = false, flow_indent = false, destructive = false;
  bool error_tags = false, drop_tags = false;
  TableOptions tables;

  /// Returns false when there is no such option or, with `why`, when the option cannot have this
  /// value.
  bool set(std::string_view name, std::string_view value, std::string& why);
  /// Sets an option for setopt() of a running script. Returns a message for the user, or an empty
  /// text when it is done.
  std::string set_by_script(std::string_view name, std::string_view value);
};

}  // namespace vmrun::d
