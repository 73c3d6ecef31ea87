// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/include/erl_driver.h"
#include "vm/port/port.hpp"
#include "vm/term/atom.hpp"

/// How the functions of erl_driver.h see the machine: an ErlDrvPort is a Port*, an ErlDrvTermData
/// is a term's word, and an ErlDrvBinary is the tail of a Binary, so no function has to translate.
/// For the implementation of the driver interface and for linked-in drivers.
namespace vmrun {

inline Port& port_of(ErlDrvPort port) { return *reinterpret_cast<Port*>(port); }
inline ErlDrvPort driver_port(Port& p) { return reinterpret_cast<ErlDrvPort>(&p); }

static_assert(sizeof(SysIOVec) == sizeof(iovec) && offsetof(SysIOVec, iov_len) == offsetof(iovec, iov_len));
static_assert(offsetof(Binary, data) == offsetof(Binary, used_bytes) + offsetof(ErlDrvBinary, orig_bytes));
inline Binary* binary_of(ErlDrvBinary* bin) {
  return reinterpret_cast<Binary*>(reinterpret_cast<char*>(bin) - offsetof(Binary, used_bytes));
}
inline ErlDrvBinary* driver_binary(Binary* b) { return reinterpret_cast<ErlDrvBinary*>(&b->used_bytes); }

inline Term term_of(ErlDrvTermData data) { return Term::from_raw(data); }
inline ErlDrvTermData driver_term(Term t) { return t.raw(); }

/// Returns the atom of a driver's text; undefined when the atom table is full.
inline Term text_atom(const char* text) {
  const Term atom = intern_atom(text ? text : "");
  return atom ? atom : atoms::undefined;
}

/// Sends a term in the notation of erl_drv_send_term as a message; a closing port may send too.
/// Returns false if it is not a term, or if the receiver does not exist.
bool send_driver_term(Term to, const ErlDrvTermData* data, int length);

/// In outputv: whether another outputv follows at once, so that these data may be kept and written
/// together with its data.
inline bool more_output_follows(ErlDrvPort port) { return port_of(port).more_follows; }

/// Returns "enoent" and so on; for a number that is not an errno "unknown", since OTP 29 "errno_N".
/// The text stays where it is.
const char* errno_name(int error);

}  // namespace vmrun
