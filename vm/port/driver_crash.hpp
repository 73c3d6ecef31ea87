// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When foreign code crashes the machine, the crash report names it: a fatal signal during a
/// driver's callback is reported with the driver's and the port's name on standard error before the
/// process dies of it.
namespace vmrun {

/// Called once, at start.
void report_crashing_drivers();

}  // namespace vmrun
