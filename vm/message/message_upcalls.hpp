// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

struct Fragment;
enum class RemoteLink : std::uint8_t;

/// What vm/message needs of higher layers, beside the receivers of receiver.hpp. Any thread, under
/// an epoch.
struct MessageUpcalls {
  /// Makes a message or signal of what has arrived undecoded; nullptr when the bytes are bad, which
  /// has been dealt with.
  Upcall<Fragment*(const Fragment& undecoded)> decode_payload_of;
  /// Ends the connection that it has come over, if that is still there.
  Upcall<void(const Fragment& undecodable)> refuse_undecodable;
  /// The link of a process here with one of another node.
  Upcall<RemoteLink(Term here, Term there)> remote_link;
};
inline constinit MessageUpcalls message_upcalls;

}  // namespace vmrun
