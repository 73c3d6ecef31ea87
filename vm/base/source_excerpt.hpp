// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Shows the line of a source text to which a message belongs, with carets under the token. The
/// compiler of scripts and vmtrace's compiler of D share it. It has no state, so any thread may
/// call it.
namespace vmrun {

/// The escape sequences of each colour; all are empty for output without colours.
struct ReportColours {
  std::string_view place, error, warning, message, margin, caret, off;
};
inline constexpr ReportColours kReportColours{"\x1b[1m",    "\x1b[1;31m", "\x1b[1;35m", "\x1b[1m",
                                              "\x1b[1;34m", "\x1b[1;32m", "\x1b[0m"};
inline constexpr ReportColours kNoReportColours{};

inline void add_coloured(std::string& out, std::string_view colour, std::string_view text,
                         const ReportColours& colours) {
  out.append(colour).append(text).append(colours.off);
}

/// What is underlined. Line and column begin with 1; column and length count characters.
struct ExcerptPlace {
  std::uint32_t line = 0, column = 0;
  std::size_t length = 1;
};

/// Appends the line with its number, and a line with the carets. Of a very long line only the part
/// around the place is shown. Characters that would move the cursor are shown as blanks.
/// text: UTF-8, without the end of line.
void append_excerpt(std::string& out, std::string_view text, const ExcerptPlace& place,
                    const ReportColours& colours);

}  // namespace vmrun
