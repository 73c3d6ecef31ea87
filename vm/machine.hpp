// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The machine as a whole. Layers include headers of lower layers only; what a lower layer needs of
/// a higher one is a member of its interface (xxx_upcalls.hpp, and the receivers of
/// message/receiver.hpp).
namespace vmrun {

/// Fills the interfaces of all layers of vm/ in, except for the members that runtime/ and probes/
/// supply (runtime/connect.hpp). First of all in main, once, before there is another thread.
void connect_machine();

}  // namespace vmrun
