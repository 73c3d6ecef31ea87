// SPDX-License-Identifier: Apache-2.0
#include "vm/port/driver_crash.hpp"

#include <unistd.h>

#include <cstring>

#include "vm/base/fatal_signal.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/port.hpp"
#include "vm/term/print.hpp"

namespace vmrun {
namespace {

bool report(const FatalSignal& signal) {
  const Port* p = current_port;
  if (!p) return false;
  char text[512];
  BoundedText out(text, sizeof text);
  out.put("vmrun: driver ");
  out.put(p->driver->name);
  char how[128];
  out.put(" ");
  out.put(signal.text(how, sizeof how));
  out.put(" in port ");
  print_port(out, p->id);
  out.put(" (");
  out.put(p->name);
  out.put(")\n");
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, out.text().size());
  return true;
}

}  // namespace

void report_crashing_drivers() { on_fatal_signal(report); }

}  // namespace vmrun
