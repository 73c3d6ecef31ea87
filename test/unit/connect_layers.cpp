// SPDX-License-Identifier: Apache-2.0
// Compiled with -DCONNECT=connect_machine, or connect_runtime, for units that use the machine.
#ifdef CONNECT
namespace vmrun {
void CONNECT();
}
#endif

void connect_layers();

void connect_layers() {
#ifdef CONNECT
  vmrun::CONNECT();
#endif
}
