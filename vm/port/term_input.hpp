// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/word.hpp"

namespace vmrun {

/// Bytes that drivers have given to processes in terms that they built themselves, such as what
/// sockets receive. statistics(io) includes them, port_info of a port does not, as in OTP. Any
/// thread.
void count_term_input(Word bytes);
Word term_input();

}  // namespace vmrun
