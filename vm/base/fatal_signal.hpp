#pragma once

/// A signal that ends the VM (a bad address, abort, …): whoever ran foreign code says whose it was
/// on standard error before the VM dies as it would have.
namespace vmrun {

/// report is called in the thread that got the signal, after those that were given before; it may
/// do only what a handler may. The first call installs the handlers, except where somebody (a
/// sanitizer) already has one that tells more. At most four reports. Any thread.
void on_fatal_signal(void (*report)(int signal_number));

}  // namespace vmrun
