#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "vm/term/term_space.hpp"

/// The external term format (version 131): terms as bytes, in `.beam` literals, term_to_binary and
/// distribution. Bytes come from anywhere: decoding checks everything and never trusts a length.
/// Neither direction recurses, whatever the depth. Owner of the heap only.
namespace vmrun {

struct DecodeOptions {
  bool safe = false;         // no new atoms, no new external funs
  bool version_byte = true;  // starts with 131 (literals inside a chunk and elements of messages may not)
};

/// The Decoded::error that is a system_limit.
inline constexpr char kAtomTableFull[] = "the atom table is full";

struct Decoded {
  Term term;                    // kNonValue when the bytes are no term
  std::size_t used_bytes = 0;   // of the input
  const char* error = nullptr;  // what was wrong, at byte used_bytes
};

[[nodiscard]] Decoded decode_external(TermSpace& heap, const std::uint8_t* data, std::size_t size,
                                      DecodeOptions options = {});

struct EncodeOptions {
  unsigned minor_version = 1;  // 0: floats as text; 2: all atoms as UTF-8
  int compression = 0;         // zlib level; result stays plain when that is not larger
  bool deterministic = false;  // large maps in key order
  bool version_byte = true;
};

/// Bytes of a term.
std::string encode_external(Term t, EncodeOptions options = {});

/// The same, unless it takes more steps (of some ten nanoseconds) than that: then false.
[[nodiscard]] bool encode_external_within(SWord steps, Term t, const EncodeOptions& options,
                                          std::string* bytes);

}  // namespace vmrun
