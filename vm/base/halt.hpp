#pragma once

/// The end of the whole machine.
namespace vmrun {

/// Ends the VM: the thread in wait_for_halt returns with `status`. The first call counts. Any
/// thread.
void request_halt(int status, bool flush);
struct HaltRequest {
  int status;
  bool flush;
};
HaltRequest wait_for_halt();

}  // namespace vmrun
