#include "probes/erltrace/terms.hpp"

#include <limits>

#include "probes/attach/place.hpp"
#include "probes/engine/aggregation.hpp"
#include "probes/print/plots.hpp"
#include "vm/term/term.hpp"

namespace vmrun::erltrace {
namespace {

/// The code point at `at`, which goes behind it; -1: what stands there is no UTF-8.
std::int32_t code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < more) return -1;
  std::int32_t c = first & (0x3F >> more);
  for (unsigned i = 0; i < more; ++i) {
    const auto next = static_cast<unsigned char>(text[at++]);
    if ((next & 0xC0) != 0x80) return -1;
    c = c << 6 | (next & 0x3F);
  }
  constexpr std::int32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = c >= 0xD800 && c < 0xE000;
  return c < kLeast[more] || c > 0x10FFFF || is_surrogate ? -1 : c;
}

bool code_points(std::string_view text, std::vector<std::int32_t>& out) {
  for (std::size_t at = 0; at < text.size();) {
    out.push_back(code_point(text, at));
    if (out.back() < 0) return false;
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
    const attach::Place place = attach::place_of(address);
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

ERL_NIF_TERM Terms::shaped(const d::RecordField& field) {
  const std::span<const std::uint64_t> words = field.body;
  switch (field.shape) {
    case d::Shape::kPid:
      if (words.size() < 2) break;
      return Term::pid(words[0] | words[1] << 28).raw();
    case d::Shape::kPort:
      if (words.empty()) break;
      return Term::port(words[0]).raw();
    case d::Shape::kFunction:
      if (words.size() < 3) break;
      return tuple(words[0], words[1], integer(static_cast<std::int64_t>(words[2])));
    case d::Shape::kAtom:
      if (words.empty()) break;
      return words[0];
    case d::Shape::kStack: return stack(words);
    case d::Shape::kBytes: return binary(field.text());
    case d::Shape::kText: {
      const std::string_view all = field.text();
      return text(all.substr(0, all.find('\0')));
    }
    case d::Shape::kNull: break;
  }
  return atom("undefined");
}

ERL_NIF_TERM Terms::value(const d::RecordField& field) {
  if (field.field->kind != d::Field::Kind::kInteger) return shaped(field);
  if (field.field->is_signed) return integer(field.number);
  const auto all = static_cast<std::uint64_t>(field.number);
  const unsigned width = field.field->bytes;
  return enif_make_uint64(env_, width >= 8 ? all : all & ((std::uint64_t{1} << 8 * width) - 1));
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
