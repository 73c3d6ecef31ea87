#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "vm/dist/wire/binary_part.hpp"
#include "vm/dist/wire/flags.hpp"
#include "vm/heap/fragment.hpp"

/// The way in: packets become control messages, decoded, and payloads, which may wait for whoever
/// has the time. The bytes come from another node and are checked, never trusted.
namespace vmrun::dist {

/// The second term of a message, undecoded: bytes, and what its atom indexes stand for. May go to
/// any thread.
class EncodedPayload {
 public:
  bool empty() const { return bytes_ == 0; }
  /// How many bytes there are to decode.
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
  Fragment* fragment = nullptr;  // the caller's; `message` is the term, words behind it are free
  const char* error = nullptr;   // if there is none: why
};
/// Builds the term in a fragment of the right size, with `room` words besides. Binaries beyond 64
/// bytes refer to the packet's bytes where these are not many more. Any thread.
[[nodiscard]] DecodedPayload decode_payload(const EncodedPayload& payload, Word room);

/// Whether the term takes no more than so many words, not counting what it refers to in the packet.
/// Makes one piece of the bytes.
[[nodiscard]] bool takes_few_words(EncodedPayload& payload, Word most);

/// The payload as a term, to travel in a fragment: {Atoms, Bytes}, a tuple and a list of binaries.
/// Takes the references over. words: how many it takes.
[[nodiscard]] Word payload_term_words(const EncodedPayload& payload);
[[nodiscard]] Term payload_term(TermSpace& space, EncodedPayload& payload);
/// Such a term, with references of its own.
[[nodiscard]] EncodedPayload payload_of(Term term);

enum class Taken {
  kTick,     // nothing but a sign of life
  kMore,     // a fragment; further ones are needed
  kMessage,  // control() and payload() are there
  kBad,      // reason() says why; the connection cannot go on, all further packets are bad too
};

/// So many messages of one connection may have begun without being complete.
inline constexpr std::size_t kMaxOpenSequences = 1 << 16;

/// Packets of one connection, in their order. Whoever holds its input.
class Input {
 public:
  explicit Input(Flags flags);
  ~Input();

  /// A packet without the length in front of it. What is kept of it is kept by reference if it lies
  /// in `binary`; nullptr: it is copied.
  [[nodiscard]] Taken take(const std::uint8_t* data, std::size_t size, Binary* binary);

  /// The control message, a tuple of any shape; until the next take.
  Term control() const { return control_ ? control_->message : kNonValue; }
  /// What came with it; empty() when nothing did. May be moved away.
  EncodedPayload& payload() { return payload_; }
  const char* reason() const { return reason_; }
  bool is_bad() const { return reason_ != nullptr; }

  /// Messages whose fragments have not all arrived.
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
  std::unique_ptr<Term[]> cache_;  // of the atoms that the other node has told
  std::unordered_map<std::uint64_t, Sequence> sequences_;
  Control control_;
  EncodedPayload payload_;
  const char* reason_ = nullptr;
};

}  // namespace vmrun::dist
