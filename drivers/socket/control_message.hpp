// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <span>
#include <vector>

#include "drivers/socket/named_numbers.hpp"

/// Control messages: the ancillary data of sendmsg(2) and recvmsg(2), as the maps #{level, type,
/// data, value} of socket:cmsg().
namespace vmrun::sockets {

/// Writes a list of them as bytes for msg_control. Returns false when one of them is bad, or they
/// take more than `most` bytes.
bool get_control_messages(ErlNifEnv* env, ERL_NIF_TERM list, std::size_t most, std::vector<char>* to);
/// Makes the list of the received messages. Levels are `socket` or numbers; prim_socket knows the
/// names.
ERL_NIF_TERM control_messages_term(ErlNifEnv* env, const msghdr& message);
/// Makes a list of the names in msg_flags; bits without a name are a number at its end.
ERL_NIF_TERM message_flags_term(ErlNifEnv* env, int flags);

/// The flags that have names.
std::span<const Named> message_flags();

}  // namespace vmrun::sockets
