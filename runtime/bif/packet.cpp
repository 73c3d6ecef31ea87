// erlang:decode_packet/3: the arguments are read here, the packet in packet_decoder.erl.

#include <algorithm>
#include <iterator>

#include "runtime/bif/support.hpp"
#include "vm/code/module.hpp"

namespace vmrun {
namespace {

/// As packet_decoder names it; kNonValue for what is no type.
Term packet_type(Term t) {
  static const Term raw = intern_atom("raw");
  static const Term types[] = {raw,
                               Term::small(1),
                               Term::small(2),
                               Term::small(4),
                               intern_atom("asn1"),
                               intern_atom("sunrm"),
                               intern_atom("cdr"),
                               intern_atom("fcgi"),
                               intern_atom("line"),
                               intern_atom("tpkt"),
                               intern_atom("http"),
                               intern_atom("httph"),
                               intern_atom("http_bin"),
                               intern_atom("httph_bin"),
                               intern_atom("ssl_tls")};
  if (t == Term::small(0)) return raw;
  return std::ranges::find(types, t) != std::end(types) ? t : kNonValue;
}

}  // namespace

Term bif_erlang_decode_packet_3(Process& p, const Term* a) {
  static const Term packet_size = intern_atom("packet_size"), line_length = intern_atom("line_length"),
                    line = intern_atom("line"), line_delimiter = intern_atom("line_delimiter");
  const Term type = packet_type(a[0]);
  if (!type.is_value() || !a[1].is_bitstring()) return raise_badarg(p);
  SWord most = 0, cut = 0, delimiter = '\n';
  Term options = a[2];
  for (; options.is_list(); options = options.tail()) {
    const Term o = options.head();
    SWord n;
    if (!o.is_tuple() || o.tuple_arity() != 2 || !small_in_range(o.element(1), 0, UINT32_MAX, &n))
      return raise_badarg(p);
    if (o.element(0) == packet_size) most = n;
    else if (o.element(0) == line_length) cut = n;
    else if (o.element(0) == line_delimiter && type == line && n <= 255) delimiter = n;
    else return raise_badarg(p);
  }
  if (!options.is_nil()) return raise_badarg(p);
  static Export* const decode = export_entry(intern_atom("packet_decoder"), intern_atom("decode"), 5);
  return trap_to(p, decode, {type, a[1], Term::small(most), Term::small(cut), Term::small(delimiter)});
}

}  // namespace vmrun
