// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Floats to and from text, in every notation that Erlang prints. big.hpp has the text of integers.
/// Pure functions. Any thread.
namespace vmrun {

/// Returns the fewest digits that read back as the same float, in fixed or scientific notation as
/// OTP 25 chooses (`~w`, `[short]`).
std::string float_text_short(double d);
/// Returns d.ddde+XX with that many digits after the point; float_to_list/1 has 20. Returns "" when
/// decimals is over 249.
std::string float_text_scientific(double d, int decimals);
/// Returns fixed notation; halves of moderate size round away from zero. compact drops trailing
/// zeros but one. Returns "" when the text would pass 255 characters.
std::string float_text_decimals(double d, int decimals, bool compact);

/// Parses [+-]digits.digits[e[+-]digits], the whole text. Returns false for other forms and beyond
/// the largest float.
[[nodiscard]] bool parse_float(std::string_view text, double* out);
/// Returns the length of the longest such prefix of `text`, 0 if none. An integer part without a
/// fraction is not a float.
std::size_t float_prefix_length(std::string_view text);

}  // namespace vmrun
