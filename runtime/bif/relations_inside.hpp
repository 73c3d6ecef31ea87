// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// {link_list, Who} and {monitor_list, Who} of erts_debug:get_internal_state/1: the tables of links
/// and monitors of a process, or of the connection to a node.
namespace vmrun {

Term link_list_of(Process& p, Term who);
Term monitor_list_of(Process& p, Term who);

/// The items of process_info by which a process is asked for them, in its own thread; the
/// non-value: another name.
Term relations_item(Process& p, Term name, Heap& out);

}  // namespace vmrun
