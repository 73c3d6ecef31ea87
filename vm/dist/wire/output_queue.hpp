// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vm/dist/wire/binary_part.hpp"
#include "vm/dist/wire/distribution_flags.hpp"
#include "vm/term/external.hpp"

/// Output: a sender encodes its message once, in its own thread. The thread that holds the
/// connection's output makes packets of it, with a header that fits the connection's atom cache at
/// that moment.
namespace vmrun {
class ExternalBytes;
}

namespace vmrun::dist {

/// Packets of a fragmented message have at most this many bytes of control and payload. Only a
/// control message that is longer makes a longer packet, since it must not be cut.
inline constexpr std::size_t kFragmentBytes = 64 * 1024;
/// Entries of the atom cache of a connection, in each direction.
inline constexpr unsigned kAtomCacheEntries = 2048;
/// Atoms that one message can name through the cache; further ones stand in the term as text.
inline constexpr unsigned kMaxAtomReferences = 255;

/// Bytes left free in front of each message for its header, which usually fits.
inline constexpr std::size_t kHeaderRoom = 64;

/// Control message and payload in the external term format, without a header. Atoms are indexes
/// into the message's own list. Binaries beyond 64 bytes are retained, not copied. Owned by one
/// thread at a time.
class OutgoingMessage {
 public:
  OutgoingMessage() = default;
  OutgoingMessage(const OutgoingMessage&) = delete;
  OutgoingMessage& operator=(const OutgoingMessage&) = delete;

  /// Returns the bytes of control and payload; the header is not counted.
  std::size_t bytes() const { return bytes_; }
  /// Returns nearly all memory that it takes, in bytes.
  std::size_t memory() const { return sizeof *this + kHeaderRoom + bytes_; }
  /// Whether some of it has been sent.
  bool has_begun() const { return sent_bytes_ > 0; }
  /// The pid of the sender. Messages with equal values keep their order, others need not.
  /// OutputQueue uses it; the caller may set it before pushing.
  Word sender = 0;
  /// Grows from message to message of a connection. OutputQueue uses it; the caller may set it
  /// before pushing.
  Word serial = 0;
  /// Whether the other node has caused it (Channel::owes_much). The caller may set it before
  /// pushing.
  bool is_answer = false;
  /// For a connection that is pending: a flag that this form of the message needs, and the form for
  /// a node without it; nullptr: such a node does not get the message. The caller may set both.
  Flags needs = 0;
  std::unique_ptr<OutgoingMessage> otherwise;

 private:
  friend class MessageEncoder;
  friend class OutputCache;
  std::vector<Term> atoms_;        // by index; no two have the same place in the cache
  std::vector<BinaryPart> parts_;  // the bytes, in order, from part_ on
  std::size_t part_ = 0;
  std::size_t bytes_ = 0, control_bytes_ = 0, sent_bytes_ = 0;
  std::uint64_t sequence_ = 0, fragments_left_ = 0;
};

/// There is a message if `how` is kWhole.
struct EncodedMessage {
  Encoded how;
  std::unique_ptr<OutgoingMessage> message;
};
/// Encodes for a connection with these flags (those that both nodes have). payload: the non-value
/// for none. There is a message if encoding takes at most `steps` (some ten nanoseconds each; see
/// steps_here) and the format has room for it. Any thread that may read the terms; the caller owns
/// them again afterwards.
///
/// Before a connection's flags are known, use 0: the result fits every connection.
[[nodiscard]] EncodedMessage encode_message(Term control, Term payload, Flags flags, SWord steps);

/// One packet, without the length in front of it, as an I/O vector.
struct Packet {
  std::vector<BinaryPart> parts;
  std::size_t bytes = 0;
};

/// The atoms of one connection that the other node knows. Used by the thread that holds the
/// connection's output.
class OutputCache {
 public:
  explicit OutputCache(Flags flags) : flags_(flags) {}
  /// Makes the message's next packet and drops what was in *packet. Returns true while more packets
  /// of the message follow. Other messages may be sent in between, but all packets must go out in
  /// the order in which they were made.
  bool next_packet(OutgoingMessage& m, Packet* packet);

 private:
  static void cut(OutgoingMessage& m, std::size_t n, Packet* packet);
  static void cut_first(OutgoingMessage& m, ExternalBytes& head, std::size_t n, Packet* packet);
  static void pass_through(OutgoingMessage& m, Packet* packet);
  void first_packet(OutgoingMessage& m, Packet* packet);
  void later_packet(OutgoingMessage& m, Packet* packet);

  Flags flags_;
  std::uint64_t last_sequence_ = 0;
  std::unique_ptr<Term[]> atoms_;  // by place in the cache; made with the first header that needs it
};

/// Messages that wait for their turn on one connection. Large ones go out fragment by fragment in
/// turns with later messages; but messages of the same sender stay behind. Used by the thread that
/// holds the connection's output.
class OutputQueue {
 public:
  explicit OutputQueue(Flags flags) : cache_(flags) {}
  void push(std::unique_ptr<OutgoingMessage> m);
  /// Returns false if there is nothing to send.
  bool next_packet(Packet* packet);
  /// Returns the bytes (OutgoingMessage::bytes) of messages that have not gone out completely.
  std::size_t bytes() const { return bytes_; }
  /// Returns the memory (OutgoingMessage::memory) of the answers among them.
  std::size_t answers() const { return answers_; }
  bool empty() const { return turns_.empty(); }
  /// Whether there is a message of which some fragments have gone out.
  bool is_amid_large() const { return !held_.empty(); }
  /// Whether all that the sender has pushed up to that serial number has gone out. (What it pushed
  /// later may not have.)
  bool has_sent(Word sender, Word serial) const { return serial <= begun_ && !held_.contains(sender); }

 private:
  using Waiting = std::deque<std::unique_ptr<OutgoingMessage>>;
  OutputCache cache_;
  Waiting turns_;
  std::unordered_map<Word, Waiting>
      held_;  // behind a message of their sender that is being sent in fragments
  std::size_t bytes_ = 0, answers_ = 0;
  Word begun_ = 0;  // messages up to this serial number have begun to go out, or are held
};

}  // namespace vmrun::dist
