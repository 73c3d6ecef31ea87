#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Pieces of JSON, appended to a buffer of the caller's. Documents here are long lists that are
/// written once, in order, while they come: no tree of them is ever built. No state; any thread.
/// Spec: RFC 8259.
namespace vmrun::d {

/// A text in quotes. Bytes that are no UTF-8 become U+FFFD, so that any name of a traced program
/// makes a valid document.
void put_json(std::string& out, std::string_view text);
void put_json(std::string& out, std::int64_t number);
void put_json(std::string& out, std::uint64_t number);

/// In an object that has begun with `{`: a comma unless it is the first, the name, the value.
template <typename Value>
void put_member(std::string& out, std::string_view name, const Value& value) {
  if (out.back() != '{') out += ',';
  put_json(out, name);
  out += ':';
  put_json(out, value);
}

}  // namespace vmrun::d
