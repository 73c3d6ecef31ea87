#pragma once

#include "vm/term/print.hpp"

/// Texts of ports and of who calls them, for probes.
namespace vmrun {

struct PortText : StackText<64> {
  explicit PortText(Term port) {
    BoundedText out(bytes_, sizeof bytes_);
    print_port(out, port);
  }
};
/// A process, a port, or -raw- for the machine itself (the non-value).
struct CallerText : StackText<64> {
  explicit CallerText(Term who) {
    BoundedText out(bytes_, sizeof bytes_);
    if (!who) out.put("-raw-");
    else if (who.is_local_port()) print_port(out, who);
    else print_pid(out, who);
  }
};

}  // namespace vmrun
