// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/engine/record.hpp"

/// Fields of records and elements of keys as they lie in the words, before they become texts
/// (record_texts.hpp) or terms (probes/erltrace). They refer to the words they were read from.
namespace vmrun::d {

struct RecordField {
  const Field* field = nullptr;         // in the script
  std::int64_t number = 0;              // for an integer
  Encoding shape = Encoding::kNull;     // for anything else, with ...
  std::size_t bytes = 0;                // ... how many bytes it has, ...
  std::span<const std::uint64_t> body;  // ... and the words they fill

  std::string_view text() const { return {reinterpret_cast<const char*>(body.data()), bytes}; }
};

/// Reads the field at `at`, at most up to `end`, and moves `at` behind it. Returns false when the
/// words are not such a field.
inline bool read_field(const Field& field, const std::uint64_t*& at, const std::uint64_t* end,
                       RecordField& out) {
  if (at >= end) return false;
  out = {};
  out.field = &field;
  if (field.kind == Field::Kind::kInteger) {
    out.number = static_cast<std::int64_t>(*at++);
    return true;
  }
  out.shape = static_cast<Encoding>(static_cast<std::uint32_t>(*at));
  out.bytes = *at++ >> 32;
  const std::size_t words = (out.bytes + 7) / 8;
  if (words > static_cast<std::size_t>(end - at)) return false;
  out.body = {at, words};
  at += words;
  return true;
}

/// Reads all fields, one after the other.
inline bool read_fields(const std::vector<Field>& fields, const std::uint64_t*& at, const std::uint64_t* end,
                        std::vector<RecordField>& out) {
  out.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (!read_field(fields[i], at, end, out[i])) return false;
  return true;
}

/// Calls act(number of the action, its fields) for each action in a record's words, as long as they
/// agree with the script. fields: a vector to be used again.
template <class Act>
void for_each_action(const Script& script, std::span<const std::uint64_t> words,
                     std::vector<RecordField>& fields, Act act) {
  const std::uint64_t* at = words.data();
  const std::uint64_t* const end = at + words.size();
  while (at < end) {
    const std::size_t number = static_cast<std::uint32_t>(*at++);
    if (number >= script.actions.size()) return;
    if (!read_fields(script.actions[number].fields, at, end, fields)) return;
    act(number, fields);
  }
}

}  // namespace vmrun::d
