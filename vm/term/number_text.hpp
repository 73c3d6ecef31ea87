#pragma once

#include <string>
#include <string_view>

/// Floats to and from text, in every notation Erlang prints. Integers' text is in big.hpp. Pure
/// functions, any thread.
namespace vmrun {

/// Fewest digits that read back as the same float; fixed or scientific notation as OTP 25 chooses
/// (`~w`, `[short]`).
std::string float_text_short(double d);
/// d.ddde+XX with that many digits after the point; 20 is float_to_list/1's. "" when decimals is
/// over 249.
std::string float_text_scientific(double d, int decimals);
/// Fixed notation, halves away from zero for moderate sizes; compact drops trailing zeros but one.
/// "" when it would pass 255 characters.
std::string float_text_decimals(double d, int decimals, bool compact);

/// [+-]digits.digits[e[+-]digits], the whole text. false: another form, or beyond the largest
/// float.
[[nodiscard]] bool parse_float(std::string_view text, double* out);
/// Length of the longest such prefix of `text`, 0 if none; where the integer part has no fraction,
/// it is no float.
std::size_t float_prefix_length(std::string_view text);

}  // namespace vmrun
