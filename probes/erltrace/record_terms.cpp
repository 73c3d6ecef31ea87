// SPDX-License-Identifier: Apache-2.0
#include "probes/erltrace/record_terms.hpp"

#include <limits>

#include "probes/attach/code_location.hpp"
#include "probes/engine/aggregation.hpp"
#include "probes/print/plots.hpp"
#include "probes/print/value.hpp"
#include "vm/base/utf8.hpp"
#include "vm/term/pid_numbers.hpp"
#include "vm/term/term.hpp"

namespace vmrun::erltrace {
namespace {

bool code_points(std::string_view text, std::vector<std::int32_t>& out) {
  while (!text.empty()) {
    const auto [value, bytes] = utf8::decode(text.data(), text.size());
    if (bytes == 0) return false;
    out.push_back(static_cast<std::int32_t>(value));
    text.remove_prefix(bytes);
  }
  return true;
}

bool is_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

}  // namespace

ERL_NIF_TERM Terms::atom(std::string_view name) { return enif_make_atom_len(env_, name.data(), name.size()); }

ERL_NIF_TERM Terms::text(std::string_view bytes) {
  std::vector<std::int32_t> points;
  if (is_ascii(bytes) || !code_points(bytes, points))
    return enif_make_string_len(env_, bytes.data(), bytes.size(), ERL_NIF_LATIN1);
  ERL_NIF_TERM list = enif_make_list(env_, 0);
  for (std::size_t i = points.size(); i-- > 0;)
    list = enif_make_list_cell(env_, enif_make_int(env_, points[i]), list);
  return list;
}

ERL_NIF_TERM Terms::binary(std::string_view bytes) {
  ERL_NIF_TERM made;
  unsigned char* to = enif_make_new_binary(env_, bytes.size(), &made);
  std::copy(bytes.begin(), bytes.end(), to);
  return made;
}

ERL_NIF_TERM Terms::probe(const d::ProbeInfo& p) {
  return tuple(atom(p.provider), atom(p.module), atom(p.function), atom(p.name));
}

ERL_NIF_TERM Terms::stack(std::span<const std::uint64_t> addresses) {
  std::vector<ERL_NIF_TERM> frames;
  for (const std::uint64_t address : addresses) {
    const attach::CodeLocation place = attach::code_location_of(address);
    if (!place.module) continue;  // where a process begins, or code that is gone
    std::vector<ERL_NIF_TERM> where;
    if (place.line != 0) {
      where.push_back(tuple(atom("file"), text(place.file)));
      where.push_back(tuple(atom("line"), integer(place.line)));
    }
    frames.push_back(tuple(place.module.raw(), place.function.raw(), integer(place.arity), list(where)));
  }
  return list(frames);
}

ERL_NIF_TERM Terms::encoded(const d::RecordField& field) {
  const std::span<const std::uint64_t> words = field.body;
  switch (field.shape) {
    case d::Encoding::kPid:
      if (words.size() < 2) break;
      return Term::pid(pid_id(words[0], words[1])).raw();
    case d::Encoding::kPort:
      if (words.empty()) break;
      return Term::port(words[0]).raw();
    case d::Encoding::kFunction:
      if (words.size() < 3) break;
      return tuple(words[0], words[1], integer(static_cast<std::int64_t>(words[2])));
    case d::Encoding::kAtom:
      if (words.empty()) break;
      return words[0];
    case d::Encoding::kStack: return stack(words);
    case d::Encoding::kBytes: return binary(field.text());
    case d::Encoding::kText: return text(d::until_nul(field.text()));
    case d::Encoding::kNull: break;
  }
  return atom("undefined");
}

ERL_NIF_TERM Terms::value(const d::RecordField& field) {
  if (field.field->kind != d::Field::Kind::kInteger) return encoded(field);
  if (field.field->is_signed) return integer(field.number);
  return enif_make_uint64(env_, d::Value::integer(field.number, field.field->bytes, false).raw());
}

ERL_NIF_TERM Terms::buckets(const d::Aggregation& how, const std::uint64_t* values, std::int64_t normal) {
  std::vector<ERL_NIF_TERM> some;
  for (const d::Bucket& bucket : d::buckets_of(how, values))
    if (bucket.count != 0)
      some.push_back(
          tuple(tuple(integer(bucket.least), integer(bucket.most)), integer(bucket.count / normal)));
  return list(some);
}

ERL_NIF_TERM Terms::aggregated(const d::Aggregation& how, const std::uint64_t* values, std::uint64_t normal) {
  if (d::is_plot(how)) return buckets(how, values, static_cast<std::int64_t>(normal));
  if (how.how == d::Aggregating::kAvg) {
    const auto count = static_cast<double>(values[0]);
    const auto sum = static_cast<double>(static_cast<std::int64_t>(values[1]));
    return enif_make_double(env_, count == 0 ? 0 : sum / static_cast<double>(normal) / count);
  }
  const std::int64_t n = d::single_value(how, values, normal);
  return how.is_signed ? integer(n) : enif_make_uint64(env_, static_cast<std::uint64_t>(n));
}

}  // namespace vmrun::erltrace
