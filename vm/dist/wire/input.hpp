// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "vm/dist/wire/binary_part.hpp"
#include "vm/dist/wire/distribution_flags.hpp"
#include "vm/heap/fragment.hpp"

/// Input: packets become control messages, which are decoded, and payloads, which any thread may
/// decode later. The bytes come from another node and are checked, never trusted.
namespace vmrun::dist {

/// The second term of a message, still encoded: its bytes, and the atoms that its atom indexes
/// stand for. It may go to any thread.
class EncodedPayload {
 public:
  bool empty() const { return bytes_ == 0; }
  /// Returns the number of bytes to decode.
  std::size_t bytes() const { return bytes_; }

 private:
  friend class Input;
  friend struct PayloadDecoder;
  friend struct PayloadTerms;
  void clear() {
    parts_.clear();
    atoms_.clear();
    bytes_ = 0;
  }
  std::vector<BinaryPart> parts_;
  std::vector<Term> atoms_;
  std::size_t bytes_ = 0;
};

struct DecodedPayload {
  Fragment* fragment = nullptr;  // owned by the caller; `message` is the term, words behind it are free
  const char* error = nullptr;   // why there is no fragment
};
/// Builds the term in a fragment of the right size, with `room` extra words. Binaries beyond 64
/// bytes refer to the packet's bytes if these are not much larger. Any thread.
[[nodiscard]] DecodedPayload decode_payload(const EncodedPayload& payload, Word room);

/// Whether the term takes at most `most` words, not counting what it refers to in the packet. Joins
/// the bytes into one piece.
[[nodiscard]] bool takes_few_words(EncodedPayload& payload, Word most);

/// The payload as a term that can lie in a fragment: {Atoms, Bytes}, a tuple and a list of
/// binaries. payload_term takes the references over. payload_term_words returns how many words it
/// takes.
[[nodiscard]] Word payload_term_words(const EncodedPayload& payload);
[[nodiscard]] Term payload_term(TermSpace& space, EncodedPayload& payload);
/// Returns the payload of such a term, with references of its own.
[[nodiscard]] EncodedPayload payload_of(Term term);

enum class Taken {
  kTick,     // only a sign of life
  kMore,     // a fragment; further ones are needed
  kMessage,  // control() and payload() are valid
  kBad,      // malformed, see reason(); the connection cannot go on, all further packets are bad too
};

/// The maximal number of incomplete messages of one connection.
inline constexpr std::size_t kMaxOpenSequences = 1 << 16;

/// Reads the packets of one connection, in order. Used by the thread that holds the connection's
/// input.
class Input {
 public:
  explicit Input(Flags flags);
  ~Input();

  /// Reads a packet without the length in front of it. What has to be kept is retained if it lies
  /// in `binary`; if that is nullptr, it is copied.
  [[nodiscard]] Taken take(const std::uint8_t* data, std::size_t size, Binary* binary);

  /// Returns the control message, a tuple of any shape. Valid until the next take.
  Term control() const { return control_ ? control_->message : kNonValue; }
  /// Returns the payload that came with it, or an empty() one. May be moved away.
  EncodedPayload& payload() { return payload_; }
  const char* reason() const { return reason_; }
  bool is_bad() const { return reason_ != nullptr; }

  /// Returns the number of messages whose fragments have not all arrived.
  std::size_t open_sequences() const { return sequences_.size(); }

 private:
  struct FreeFragment {
    void operator()(Fragment* f) const { Fragment::destroy(f); }
  };
  using Control = std::unique_ptr<Fragment, FreeFragment>;
  struct Sequence {
    Control control;
    EncodedPayload payload;
    std::uint64_t next;  // the fragment that must come next; the last is 1
  };
  class Reader;

  Taken bad(const char* why);
  bool refuse(const char* why);
  bool read_atoms(Reader& r);
  bool read_control(Reader& r);
  void keep(Reader& r, EncodedPayload& payload);
  Taken take_whole(Reader& r);
  Taken take_passed_through(Reader& r);
  Taken take_first_fragment(Reader& r);
  Taken take_later_fragment(Reader& r);

  Flags flags_;
  std::unique_ptr<Term[]> cache_;  // the atoms that the other node has sent
  std::unordered_map<std::uint64_t, Sequence> sequences_;
  Control control_;
  EncodedPayload payload_;
  const char* reason_ = nullptr;
};

}  // namespace vmrun::dist
