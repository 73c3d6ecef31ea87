// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/nif/resource.hpp"

/// enif_select: a resource waits for a descriptor, and a process gets one message when it is ready.
/// Any thread.
namespace vmrun {

/// Does what enif_select and enif_select_x do. message: the whole message with
/// ERL_NIF_SELECT_CUSTOM_MSG, else the reference in {select, Resource, Ref, ready_input}. Returns
/// bits ERL_NIF_SELECT_…, negative for failures.
int select_for_resource(int fd, int mode, Resource& resource, Term pid, Term message);

/// known: how many descriptors are selected, or have been and are not stopped
/// (ERL_NIF_SELECT_STOP). closed: those of them that are not open files any more.
struct SelectedByNative {
  Word known = 0, closed = 0;
};
SelectedByNative selected_by_native();

}  // namespace vmrun
