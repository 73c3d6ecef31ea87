// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The end of a machine waits for calls of native functions whose library asks for it
/// (ERL_NIF_OPT_DELAY_HALT). A call lasts until the function gives control back to the machine.
namespace vmrun {

/// A call, by the thread that runs it. Once the machine waits, a new one never begins: its thread
/// stops there.
class DelayingCall {
 public:
  explicit DelayingCall(bool delays) : delays_(delays) {
    if (delays_) [[unlikely]]
      begin();
  }
  ~DelayingCall() {
    if (delays_) [[unlikely]]
      end();
  }
  DelayingCall(const DelayingCall&) = delete;

 private:
  static void begin();
  static void end();
  const bool delays_;
};

/// Returns when no such call is under way. Called by the main thread at the end of a machine that
/// flushes.
void wait_for_delaying_calls();

}  // namespace vmrun
