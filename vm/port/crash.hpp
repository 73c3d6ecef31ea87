#pragma once

/// When foreign code brings the machine down, it says whose it was: a fatal signal during a
/// driver's callback is reported with the driver's and the port's name on standard error before the
/// process dies of it.
namespace vmrun {

/// Once, at start.
void report_crashing_drivers();

}  // namespace vmrun
