// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/include/erl_nif.h"

/// The native functions of prim_socket, of all releases, each in the file of its group;
/// socket_natives.cpp has their table. An installed OTP's prim_socket.erl calls them; it says what
/// they answer.
namespace vmrun::sockets {

/// Registers them for load_nif. Called before the first process runs.
void register_natives();

/// NAME, arity, flags. Functions that may wait for the disk or the network, or open something that
/// does, are dirty.
#define VMRUN_SOCKET_NATIVES(X)                    \
  X(info, 0, 0)                                    \
  X(info, 1, 0)                                    \
  X(supports, 0, 0)                                \
  X(supports, 1, ERL_NIF_DIRTY_JOB_IO_BOUND)       \
  X(command, 1, 0)                                 \
  X(open, 2, 0)                                    \
  X(open, 4, 0)                                    \
  X(bind, 2, 0)                                    \
  X(connect, 1, 0)                                 \
  X(connect, 3, 0)                                 \
  X(listen, 2, 0)                                  \
  X(accept, 2, 0)                                  \
  X(send, 4, 0)                                    \
  X(sendto, 5, 0)                                  \
  X(sendmsg, 5, 0)                                 \
  X(sendv, 3, 0)                                   \
  X(sendmmsg, 4, 0)                                \
  X(sendfile, 1, ERL_NIF_DIRTY_JOB_IO_BOUND)       \
  X(sendfile, 4, ERL_NIF_DIRTY_JOB_IO_BOUND)       \
  X(sendfile, 5, ERL_NIF_DIRTY_JOB_IO_BOUND)       \
  X(recv, 4, 0)                                    \
  X(recvfrom, 4, 0)                                \
  X(recvmsg, 5, 0)                                 \
  X(recvmmsg, 6, 0)                                \
  X(close, 1, 0)                                   \
  X(finalize_close, 1, ERL_NIF_DIRTY_JOB_IO_BOUND) \
  X(shutdown, 2, 0)                                \
  X(setopt, 5, 0)                                  \
  X(getopt, 3, 0)                                  \
  X(getopt, 4, 0)                                  \
  X(getopt, 5, 0)                                  \
  X(sockname, 1, 0)                                \
  X(peername, 1, 0)                                \
  X(socknames, 2, 0)                               \
  X(peernames, 2, 0)                               \
  X(peeloff, 2, 0)                                 \
  X(ioctl, 2, 0)                                   \
  X(ioctl, 3, 0)                                   \
  X(ioctl, 4, 0)                                   \
  X(cancel, 3, 0)

#define VMRUN_DECLARE_NATIVE(name, arity, flags) \
  ERL_NIF_TERM name##_##arity(ErlNifEnv* env, int argc, const ERL_NIF_TERM args[]);
namespace native {
VMRUN_SOCKET_NATIVES(VMRUN_DECLARE_NATIVE)
}
#undef VMRUN_DECLARE_NATIVE

}  // namespace vmrun::sockets
