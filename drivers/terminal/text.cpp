#include "drivers/terminal/text.hpp"

#include <cstddef>

#include "vm/term/print.hpp"

namespace vmrun::terminal {
namespace {

std::size_t sequence_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC2 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 1;
}

bool goes_on(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

bool is_character(char32_t c, std::size_t size) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return c >= kSmallest[size] && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
}

/// Whether the text may be the front of one character.
bool is_unfinished(std::string_view text) {
  if (text.size() >= sequence_size(text.front())) return false;
  for (const char byte : text.substr(1))
    if (!goes_on(byte)) return false;
  return true;
}

}  // namespace

char32_t take_character(std::string_view* text) {
  const auto first = static_cast<unsigned char>(text->front());
  const std::size_t size = sequence_size(text->front());
  char32_t c = size == 1 ? first : first & (0xFF >> (size + 1));
  bool whole = size <= text->size();
  for (std::size_t i = 1; whole && i < size; ++i) {
    whole = goes_on((*text)[i]);
    c = c << 6 | (static_cast<unsigned char>((*text)[i]) & 0x3F);
  }
  whole = whole && is_character(c, size);
  text->remove_prefix(whole ? size : 1);
  return whole ? c : first;
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
