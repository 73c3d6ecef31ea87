// SPDX-License-Identifier: Apache-2.0
// erlang:decode_packet/3 takes the first packet off some bytes.

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/packet/http.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"

namespace vmrun {
namespace {

constexpr Word kLookBytes = 64 * 1024;  // to search for the end of a line before it counts as much work

std::optional<PacketType> packet_type(Term t) {
  static const Term types[kPacketTypes] = {
      intern_atom("raw"),     Term::small(1),          Term::small(2),          Term::small(4),
      intern_atom("asn1"),    intern_atom("sunrm"),    intern_atom("cdr"),      intern_atom("fcgi"),
      intern_atom("line"),    intern_atom("tpkt"),     intern_atom("http"),     intern_atom("httph"),
      intern_atom("ssl_tls"), intern_atom("http_bin"), intern_atom("httph_bin")};
  if (t == Term::small(0)) return PacketType::kRaw;
  const auto* found = std::ranges::find(types, t);
  if (found == std::end(types)) return {};
  return static_cast<PacketType>(found - types);
}

/// Returns false when the list of options is bad.
bool read_options(Term options, PacketType type, PacketLimits* limits) {
  static const Term packet_size = intern_atom("packet_size"), line_length = intern_atom("line_length"),
                    line_delimiter = intern_atom("line_delimiter");
  for (; options.is_list(); options = options.tail()) {
    const Term o = options.head();
    SWord n;
    if (!o.is_tuple() || o.tuple_arity() != 2 || !small_in_range(o.element(1), 0, UINT32_MAX, &n))
      return false;
    if (o.element(0) == packet_size) limits->most = static_cast<std::uint32_t>(n);
    else if (o.element(0) == line_length) limits->cut = static_cast<std::uint32_t>(n);
    else if (o.element(0) == line_delimiter && type == PacketType::kLine && n <= 255)
      limits->delimiter = static_cast<std::uint8_t>(n);
    else return false;
  }
  return options.is_nil();
}

/// Builds terms for put_http.
class TermSink {
 public:
  TermSink(Heap& heap, bool binaries) : heap_(heap), binaries_(binaries) {}
  void atom(std::string_view name) { stack_.push_back(intern_atom(name)); }
  void number(std::uint64_t n) { stack_.push_back(make_unsigned(heap_, n)); }
  void text(std::string_view bytes) {
    if (binaries_) return stack_.push_back(make_binary(heap_, bytes.data(), bytes.size()));
    Term* hp = heap_.alloc(2 * bytes.size());
    Term list = Term::nil();
    for (std::size_t i = bytes.size(); i--;)
      list = make_cons(hp, Term::small(static_cast<std::uint8_t>(bytes[i])), list);
    stack_.push_back(list);
  }
  void term(Term t) { stack_.push_back(t); }
  void tuple(unsigned n) {
    Term* object = heap_.alloc(n + 1);
    object[0] = Term::header(Term::Sub::kTuple, n);
    std::copy(stack_.end() - n, stack_.end(), object + 1);
    stack_.resize(stack_.size() - n);
    stack_.push_back(Term::boxed(object));
  }
  Term result() const { return stack_.back(); }

 private:
  Heap& heap_;
  bool binaries_;
  std::vector<Term> stack_;
};

/// {ssl_tls, [], Type, {Major, Minor}, Data}
Term tls_term(Heap& heap, std::string_view bytes) {
  const TlsRecord record = parse_tls(bytes);
  TermSink to(heap, true);
  to.atom("ssl_tls");
  to.term(Term::nil());
  to.number(record.type);
  to.number(record.major);
  to.number(record.minor);
  to.tuple(2);
  to.text(record.front + std::string(bytes.substr(record.begin)));
  to.tuple(5);
  return to.result();
}

Term packet_term(Heap& heap, PacketType type, Term bits, std::string_view bytes) {
  if (is_http(type)) {
    TermSink to(heap, http_as_binaries(type));
    put_http(to, parse_http(type, bytes));
    return to.result();
  }
  if (type == PacketType::kSslTls) return tls_term(heap, bytes);
  const PacketBody body =
      packet_body(type, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return make_part(heap, bits, 8 * body.begin, 8 * body.size);
}

}  // namespace

Term bif_erlang_decode_packet_3(Process& p, const Term* a) {
  static const Term more = intern_atom("more"), invalid = intern_atom("invalid");
  const std::optional<PacketType> type = packet_type(a[0]);
  PacketLimits limits;
  if (!type || !a[1].is_bitstring() || !read_options(a[2], *type, &limits)) return raise_badarg(p);
  const Word bits = bit_size_of(a[1]), size = bits / 8;
  ReductionBudget steps;
  const auto on_dirty = [&] { return run_on_dirty(p, bif_erlang_decode_packet_3, a, 3); };
  // Bytes that are not aligned with those of their binary are copied.
  const bool copied = !bits_of(a[1]).aligned() || bits % 8;
  if (copied && !steps.spend(size / kBytesPerStep)) return on_dirty();
  const BytesOf bytes(a[1]);
  const Word examined = std::min(size, kLookBytes);
  PacketLength length = packet_length(*type, bytes.data(), examined, limits);
  if (length.kind == PacketLength::Kind::kMore && examined < size) {  // a very long line
    if (!steps.spend(size / kBytesPerStep)) return on_dirty();
    length = packet_length(*type, bytes.data(), size, limits);
  }
  const auto answer = [&](Term first, Term second) {
    Term* hp = p.heap.alloc(3);
    return make_tuple(hp, first, second);
  };
  if (length.kind == PacketLength::Kind::kBad) return answer(atoms::error, invalid);
  if (length.kind == PacketLength::Kind::kMore) return answer(more, atoms::undefined);
  if (length.bytes > size) return answer(more, Term::small(static_cast<SWord>(length.bytes)));
  const std::string_view packet(reinterpret_cast<const char*>(bytes.data()), length.bytes);
  const Term body = packet_term(p.heap, *type, a[1], packet);
  const Term rest = make_part(p.heap, a[1], 8 * length.bytes, bits - 8 * length.bytes);
  Term* hp = p.heap.alloc(4);
  return make_tuple(hp, atoms::ok, body, rest);
}

}  // namespace vmrun
