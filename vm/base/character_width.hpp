// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How many columns of a terminal a character takes: 0 (combining, zero width), 1, or 2 (East Asian
/// wide and fullwidth, emoji). The data is constant and does not depend on the locale. Any thread.
/// Spec: Unicode Standard Annex #11, as wcwidth of the C library applies it.
namespace vmrun {

/// Control characters count as one column.
unsigned character_width(char32_t c);

}  // namespace vmrun
