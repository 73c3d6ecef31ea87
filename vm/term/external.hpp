#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "vm/term/external_bytes.hpp"
#include "vm/term/term_space.hpp"

/// The external term format (version 131): terms as bytes, in `.beam` literals, term_to_binary and
/// distribution. Bytes come from anywhere: decoding checks everything and never trusts a length.
/// Neither direction recurses, whatever the depth. Owner of the heap only.
namespace vmrun {

class AtomReferences;

struct DecodeOptions {
  bool safe = false;            // no new atoms, no new external funs
  bool version_byte = true;     // starts with 131 (literals inside a chunk and elements of messages may not)
  std::span<const Term> atoms;  // what atom references stand for, in messages of other nodes
  Binary* owner = nullptr;      // where the bytes lie; large binaries may refer to it
};

/// The Decoded::error that is a system_limit.
inline constexpr char kAtomTableFull[] = "the atom table is full";

struct Decoded {
  Term term;                    // kNonValue when the bytes are no term
  std::size_t used_bytes = 0;   // of the input
  const char* error = nullptr;  // what was wrong, at byte used_bytes
};

[[nodiscard]] Decoded decode_external(TermSpace& heap, const std::uint8_t* data, std::size_t size,
                                      const DecodeOptions& options = {});

/// The atom with this text, of a peer: the non-value, and why, when there is none.
[[nodiscard]] Term atom_from_utf8(const std::uint8_t* bytes, std::size_t size, bool safe, const char** error);

/// What a term takes, from a look at its bytes: so that it can be built in memory of its size.
struct Measured {
  Word words = 0;              // at most; of large maps with odd hashes it may be more
  std::size_t used_bytes = 0;  // of the input
  const char* error = nullptr;
};
/// No compressed ones.
[[nodiscard]] Measured measure_external(const std::uint8_t* data, std::size_t size);
/// Whether it takes no more than so many words: found by looking at as much of it as would fill
/// them. Bytes that are no term take few.
[[nodiscard]] bool takes_few_words(const std::uint8_t* data, std::size_t size, Word most);

struct EncodeOptions {
  unsigned minor_version = 1;  // 0: floats as text; 2: all atoms as UTF-8
  int compression = 0;         // zlib level; result stays plain when that is not larger
  bool deterministic = false;  // large maps in key order
  bool version_byte = true;
  bool insert_binaries = false;     // large ones are inserted, not copied; then nothing is compressed
  AtomReferences* atoms = nullptr;  // by which atoms are named, in messages to other nodes
};

/// What has become of a term that was to be encoded. Of all but kWhole what has been written is
/// worth nothing.
enum class Encoded : std::uint8_t {
  kWhole,
  kMoreSteps,  // it takes more than there are
  kTooLarge,   // a binary of 4 GiB or more: the format has no room for its size (system_limit)
};
/// Appends the bytes of a term. *steps (of some ten nanoseconds) become fewer.
[[nodiscard]] Encoded encode_external_within(SWord* steps, Term t, const EncodeOptions& options,
                                             ExternalBytes* bytes);

/// Bytes of a term; none of one that is too large.
std::string encode_external(Term t, EncodeOptions options = {});

}  // namespace vmrun
