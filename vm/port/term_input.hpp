#pragma once

#include "vm/base/word.hpp"

namespace vmrun {

/// Bytes that drivers have given to processes in terms of their own making, such as what sockets
/// receive: statistics(io) has them, port_info of a port has not, as in OTP. Any thread.
void count_term_input(Word bytes);
Word term_input();

}  // namespace vmrun
