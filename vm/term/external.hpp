// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "vm/base/release.hpp"
#include "vm/term/external_bytes.hpp"
#include "vm/term/term_space.hpp"

/// The external term format (version 131): terms as bytes, in `.beam` literals, term_to_binary and
/// distribution. The bytes may come from anywhere, so decoding checks everything and never trusts a
/// length. Neither direction recurses, whatever the depth. Called by the owner of the heap only.
namespace vmrun {

class AtomReferences;

struct DecodeOptions {
  bool safe = false;            // no new atoms, no new external funs
  bool local = false;           // this machine has written it as local; set by decode_external
  bool version_byte = true;     // starts with 131 (literals inside a chunk and elements of messages may not)
  std::span<const Term> atoms;  // what atom references stand for, in messages of other nodes
  Binary* owner = nullptr;      // holds the bytes; large binaries may refer to it
};

/// The value of Decoded::error that means system_limit.
inline constexpr char kAtomTableFull[] = "the atom table is full";

struct Decoded {
  Term term;                    // kNonValue when the bytes are not a term
  std::size_t used_bytes = 0;   // of the input
  const char* error = nullptr;  // what was wrong, at byte used_bytes
};

[[nodiscard]] Decoded decode_external(TermSpace& heap, const std::uint8_t* data, std::size_t size,
                                      const DecodeOptions& options = {});

/// What follows etf::kLocal in the terms that this machine writes: another one's are refused.
std::uint64_t local_encoding_mark();

/// Returns the atom with this text, which comes from a peer. Returns the non-value, with the reason
/// in *error, when there is no such atom.
[[nodiscard]] Term atom_from_utf8(const std::uint8_t* bytes, std::size_t size, bool safe, const char** error);

/// The size of a term, computed from its bytes, so that it can be built in memory of its size.
struct Measured {
  Word words = 0;              // an upper bound; large maps with unusual hashes may take more
  std::size_t used_bytes = 0;  // of the input
  const char* error = nullptr;
};
/// Does not accept compressed terms.
[[nodiscard]] Measured measure_external(const std::uint8_t* data, std::size_t size);
/// Whether a term takes at most so many words. Reads only as many bytes as would fill them. Bytes
/// that are not a term take few.
[[nodiscard]] bool takes_few_words(const std::uint8_t* data, std::size_t size, Word most);

struct EncodeOptions {
  // 0: floats as text; 2: all atoms as UTF-8
  unsigned minor_version = default_external_version(release_number);
  int compression = 0;         // zlib level; result stays plain when that is not larger
  bool deterministic = false;  // large maps in key order
  bool local = false;          // only this machine reads it back, whatever its node is called by then
  bool version_byte = true;
  bool insert_binaries = false;     // large ones are inserted, not copied; then nothing is compressed
  AtomReferences* atoms = nullptr;  // names atoms by index, in messages to other nodes
};

/// The result of encoding a term. What has been written is useful with kWhole only.
enum class Encoded : std::uint8_t {
  kWhole,
  kMoreSteps,  // it takes more steps than there are
  kTooLarge,   // a binary of 4 GiB or more: the format has no room for its size (system_limit)
};
/// Appends the bytes of a term. Subtracts the steps that it takes (of some ten nanoseconds each)
/// from *steps.
[[nodiscard]] Encoded encode_external_within(SWord* steps, Term t, const EncodeOptions& options,
                                             ExternalBytes* bytes);

/// Returns the bytes of a term; an empty string when the term is too large.
std::string encode_external(Term t, EncodeOptions options = {});

}  // namespace vmrun
