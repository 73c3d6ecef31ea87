// SPDX-License-Identifier: Apache-2.0
#include "probes/views/json_writer.hpp"

#include <fmt/format.h>

#include "vm/base/utf8.hpp"

namespace vmrun::d {

void put_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto [code_point, bytes] = utf8::decode(text.data(), text.size());
    if (bytes == 0) out += "\\ufffd";
    else if (code_point == '"' || code_point == '\\') (out += '\\') += static_cast<char>(code_point);
    else if (code_point == '\n') out += "\\n";
    else if (code_point < 0x20 || code_point == 0x7F)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code_point);
    else out += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  out += '"';
}

void put_json(std::string& out, std::int64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

void put_json(std::string& out, std::uint64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

}  // namespace vmrun::d
