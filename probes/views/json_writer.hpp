// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Pieces of JSON, appended to a buffer of the caller's. The documents here are long lists that are
/// written once and in order, while their contents come, so no tree is built. There is no state;
/// any thread may call. Spec: RFC 8259.
namespace vmrun::d {

/// Puts a text in quotes. Bytes that are not UTF-8 become U+FFFD, so any name of a traced program
/// makes a valid document.
void put_json(std::string& out, std::string_view text);
void put_json(std::string& out, std::int64_t number);
void put_json(std::string& out, std::uint64_t number);

/// Puts a member of an object that has begun with `{`: a comma unless it is the first, the name,
/// the value.
template <typename Value>
void put_member(std::string& out, std::string_view name, const Value& value) {
  if (out.back() != '{') out += ',';
  put_json(out, name);
  out += ':';
  put_json(out, value);
}

}  // namespace vmrun::d
