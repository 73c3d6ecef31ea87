#pragma once

#include <string>
#include <string_view>

#include "probes/print/aggregation_print.hpp"

/// What -x and #pragma D option set for the reader of records. Plain data.
namespace vmrun::d {

struct ConsumerOptions {
  bool quiet = false, flow_indent = false, destructive = false;
  bool error_tags = false, drop_tags = false;
  TableOptions tables;

  /// False: there is no such option, or with `why` its value is not one.
  bool set(std::string_view name, std::string_view value, std::string& why);
  /// setopt() of a script that runs. What is to be said of it; empty: it is done.
  std::string set_by_script(std::string_view name, std::string_view value);
};

}  // namespace vmrun::d
