// SPDX-License-Identifier: Apache-2.0
#include "drivers/terminal/terminal_input.hpp"

#include <cstddef>

#include "vm/base/utf8.hpp"
#include "vm/term/print.hpp"

namespace vmrun::terminal {
namespace {

/// Whether the text may be the front of one character.
bool is_unfinished(std::string_view text) {
  if (text.size() >= utf8::size_from(static_cast<unsigned char>(text.front()))) return false;
  return utf8::count(text.substr(1)) == 0;
}

}  // namespace

char32_t take_character(std::string_view* text) {
  const auto first = static_cast<unsigned char>(text->front());
  const utf8::Decoded c = utf8::decode(text->data(), text->size());
  text->remove_prefix(c.size ? c.size : 1);
  return c.size ? c.value : first;
}

std::string Input::take(std::string_view bytes, bool utf8) {
  std::string out;
  if (!utf8) {
    out = take_rest();
    for (const char byte : bytes) append_utf8(out, static_cast<unsigned char>(byte));
    return out;
  }
  waiting_ += bytes;
  std::string_view rest = waiting_;
  while (!rest.empty() && !is_unfinished(rest)) append_utf8(out, take_character(&rest));
  waiting_ = std::string(rest);
  return out;
}

std::string Input::take_rest() {
  std::string out;
  std::string_view rest = waiting_;
  while (!rest.empty()) append_utf8(out, take_character(&rest));
  waiting_.clear();
  return out;
}

}  // namespace vmrun::terminal
