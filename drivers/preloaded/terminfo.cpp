// SPDX-License-Identifier: Apache-2.0
#include "drivers/preloaded/terminfo.hpp"

#ifdef VMRUN_TERMINFO

#include <array>
#include <mutex>

// Its macros for single capabilities would replace words of other headers.
#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>

namespace vmrun::terminfo {
namespace {

std::mutex library_lock;
TERMINAL* users_terminal = nullptr;  // made by setupterm
std::string padded;                  // what tputs writes

int add_to_padded(int c) {
  padded += static_cast<char>(c);
  return c;
}

std::string pad(const char* text) {
  padded.clear();
  tputs(text, 1, add_to_padded);
  return padded;
}

std::optional<std::string> copied(const char* text) {
  if (!text) return {};
  return text;
}

}  // namespace

bool load(const char* terminal) {
  const std::lock_guard lock(library_lock);
  return tgetent(nullptr, terminal) > 0;
}

bool load_users() {
  const std::lock_guard lock(library_lock);
  int status;
  if (setupterm(nullptr, -1, &status) < 0) return false;
  if (users_terminal) del_curterm(users_terminal);
  users_terminal = cur_term;
  return true;
}

int number(const char* capability) {
  const std::lock_guard lock(library_lock);
  return tgetnum(capability);
}

bool flag(const char* capability) {
  const std::lock_guard lock(library_lock);
  return tgetflag(capability) > 0;
}

std::optional<std::string> termcap_string(const char* capability) {
  const std::lock_guard lock(library_lock);
  // The library returns a string of its own if it is given no buffer.
  return copied(tgetstr(capability, nullptr));
}

bool string(const char* capability, std::optional<std::string>* value) {
  const std::lock_guard lock(library_lock);
  const char* const text = tigetstr(capability);
  if (text == reinterpret_cast<const char*>(-1)) return false;
  *value = copied(text);
  return true;
}

std::optional<std::string> with_parameters(const char* capability, std::span<const long> parameters) {
  const std::lock_guard lock(library_lock);
  std::array<long, 9> p{};
  for (std::size_t i = 0; i < parameters.size() && i < p.size(); ++i) p[i] = parameters[i];
  const char* const text = parameters.empty()
                               ? capability
                               : tparm(capability, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]);
  if (!text) return {};
  return pad(text);
}

std::optional<std::string> with_position(const char* capability, int column, int row) {
  const std::lock_guard lock(library_lock);
  const char* const text = tgoto(capability, column, row);
  if (!text) return {};
  return pad(text);
}

std::vector<Name> names(Kind kind) {
  using Array = const char* const*;
  struct Arrays {
    Array names, codes, full_names;
  };
  const Arrays all = kind == Kind::kFlag     ? Arrays{boolnames, boolcodes, boolfnames}
                     : kind == Kind::kNumber ? Arrays{numnames, numcodes, numfnames}
                                             : Arrays{strnames, strcodes, strfnames};
  std::vector<Name> out;
  for (std::size_t i = 0; all.names[i] && all.codes[i] && all.full_names[i]; ++i)
    out.push_back({all.names[i], all.codes[i], all.full_names[i]});
  return out;
}

}  // namespace vmrun::terminfo

#endif
