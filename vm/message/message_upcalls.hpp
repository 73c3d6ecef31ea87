// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

struct Fragment;

/// What vm/message needs of higher layers, beside the receivers of receiver.hpp. Any thread, under
/// an epoch.
struct MessageUpcalls {
  /// Makes a message or signal of what has arrived undecoded; nullptr when the bytes are bad, which
  /// has been dealt with.
  Upcall<Fragment*(const Fragment& undecoded)> decode_payload_of;
  /// Ends the connection that it has come over, if that is still there.
  Upcall<void(const Fragment& undecodable)> refuse_undecodable;
  /// A process here handles a link or an unlink from one of another node, or has ended without
  /// handling it. Returns false if it has linked or unlinked itself since, and so must ignore it.
  Upcall<bool(Term here, Term there, bool is_link, std::uint32_t number)> link_signal_arrives;
};
inline constinit MessageUpcalls message_upcalls;

}  // namespace vmrun
