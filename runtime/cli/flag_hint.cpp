#include "runtime/cli/flag_hint.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <fmt/core.h>

namespace vmrun::cli {
namespace {

/// Flags of erl that mean something to OTP's own system alone.
constexpr std::string_view kOfSystem[] = {"-boot",  "-boot_var",   "-embedded", "-heart",
                                          "-instr", "-loader",     "-mode",     "-oldshell",
                                          "-remsh", "-init_debug", "-path",     "-shutdown_time"};

/// How many letters must be put in, left out, changed, or changed over with their neighbour
/// (Damerau's and Levenshtein's distance, of which each letter takes part in one change).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string hint_for_flag(std::string_view flag, const std::vector<std::string_view>& known) {
  if (std::ranges::find(kOfSystem, flag) != std::end(kOfSystem))
    return "; OTP's own system knows it: 'erl' in the folder bin beside vmrun";
  const auto without_hyphens = [](std::string_view word) {
    return word.substr(std::min(word.find_first_not_of("-"), word.size()));
  };
  std::string_view nearest;
  std::size_t least = flag.size() > 4 ? 3 : 2;  // who is further away was not meant
  for (const std::string_view name : known) {
    const std::size_t far = distance(without_hyphens(flag), without_hyphens(name));
    if (far < least && without_hyphens(name).size() > far) {
      nearest = name;
      least = far;
    }
  }
  if (!nearest.empty()) return fmt::format("; did you mean '{}'?", nearest);
  return "; what is for the program stands behind its name";
}

}  // namespace vmrun::cli
