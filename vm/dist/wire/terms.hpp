// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "vm/dist/wire/input.hpp"
#include "vm/term/external.hpp"

namespace vmrun::dist {

/// Decodes the term that these bytes begin with, in a fragment of the right size. *used_bytes: how
/// many bytes the term had.
DecodedPayload decode_term(std::span<const std::uint8_t> bytes, const DecodeOptions& options, Word room,
                           std::size_t* used_bytes);

}  // namespace vmrun::dist
