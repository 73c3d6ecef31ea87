// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/code/instruction_support.hpp"
#include "vm/code/instructions.hpp"
#include "vm/term/atom.hpp"

/// Segments of bs_create_bin, as the loader encodes them, and the exceptions for segments that
/// cannot be built.
namespace vmrun {

/// The names of the segment types in the generic instruction, in the order of BinarySegment.
inline constexpr const char* kSegmentNames[] = {"integer", "float", "binary", "string",        "utf8",
                                                "utf16",   "utf32", "append", "private_append"};

struct SegmentReader {
  BinarySegment type;
  unsigned flags, unit, position;
  bool whole;  // it takes all of its source
  Term source, size;
  SegmentReader(const Word* s, const Term* x, const Term* e)
      : type(static_cast<BinarySegment>(s[0] & 0xFF)),
        flags(s[0] >> 8 & 0xFF),
        unit(static_cast<unsigned>(s[0] >> 16 & 0xFFFF)),
        position(static_cast<unsigned>(s[0] >> 32)),
        whole(s[2] == atoms::all.raw()) {
    if (type == BinarySegment::kString) return;
    source = decode_source(s[1], x, e);
    size = decode_source(s[2], x, e);
  }
};

/// Sets the exception, with error_info for erl_erts_errors:format_bs_fail/2. Returns kNonValue.
Term raise_bad_segment(Process& p, const SegmentReader& s);
Term raise_large_segment(Process& p, const SegmentReader& s);

}  // namespace vmrun
