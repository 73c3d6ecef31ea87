#include "runtime/bif/support.hpp"
#include "runtime/bif/weight.hpp"
#include "vm/process/fiber.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/external_tags.hpp"

/// term_to_binary and its inverse.
namespace vmrun {
namespace {

bool encode_options(Term list, EncodeOptions* options) {
  SWord n;
  for (; list.is_list(); list = list.tail()) {
    const Term o = list.head();
    const bool pair = o.is_tuple() && o.tuple_arity() == 2;
    if (o == intern_atom("compressed")) options->compression = 6;
    else if (o == intern_atom("deterministic")) options->deterministic = true;
    else if (o == intern_atom("local")) continue;  // what it asks for is only that this node reads it back
    else if (pair && o.element(0) == intern_atom("compressed") && small_in_range(o.element(1), 0, 9, &n))
      options->compression = static_cast<int>(n);
    else if (pair && o.element(0) == intern_atom("minor_version") && small_in_range(o.element(1), 0, 2, &n))
      options->minor_version = static_cast<unsigned>(n);
    else return false;
  }
  return list.is_nil();
}

Term encode(Process& p, Term t, Term option_list) {
  EncodeOptions options;
  if (!encode_options(option_list, &options)) return raise_badarg(p);
  const std::string bytes = encode_external(t, options);
  charge(p, static_cast<SWord>(bytes.size() / 4));
  return text_binary(p.heap, bytes);
}

/// Whether a term is compressed and long when it is not: its bytes alone do not tell.
bool inflates_long(Term binary) {
  if (!is_binary(binary) || bit_size_of(binary) / 8 < 6) return false;
  const BytesOf bytes(binary);
  const std::uint8_t* b = bytes.data();
  return b[1] == etf::kCompressed &&
         too_long((Word{b[2]} << 24 | Word{b[3]} << 16 | Word{b[4]} << 8 | b[5]) / kBytesPerStep);
}

Term decode(Process& p, Term binary, Term options) {
  DecodeOptions how;
  bool used = false;
  for (; options.is_list(); options = options.tail()) {
    if (options.head() == intern_atom("safe")) how.safe = true;
    else if (options.head() == intern_atom("used")) used = true;
    else return raise_badarg(p);
  }
  if (!options.is_nil() || !is_binary(binary)) return raise_badarg(p);
  const BytesOf bytes(binary);
  const Decoded d = decode_external(p.heap, bytes.data(), bytes.size(), how);
  if (!d.term) return d.error == kAtomTableFull ? raise_system_limit(p) : raise_badarg(p);
  charge(p, static_cast<SWord>(d.used_bytes / 4));
  return used ? new_tuple(p.heap, d.term, Term::small(static_cast<SWord>(d.used_bytes))) : d.term;
}

Term external_size(Process& p, Term t, EncodeOptions options) {
  options.compression = 0;
  const std::string bytes = encode_external(t, options);
  charge(p, static_cast<SWord>(bytes.size() / 4));
  return Term::small(static_cast<SWord>(bytes.size()));
}

}  // namespace

Term bif_erlang_term_to_binary_1(Process& p, const Term* a) { return encode(p, a[0], Term::nil()); }
Term bif_erlang_term_to_binary_2(Process& p, const Term* a) { return encode(p, a[0], a[1]); }

/// One binary is a list of binaries too.
Term bif_erlang_term_to_iovec_2(Process& p, const Term* a) {
  const Term binary = encode(p, a[0], a[1]);
  if (!binary) return binary;
  ListBuilder list(p.heap);
  list.add(binary);
  return list.finish();
}
Term bif_erlang_term_to_iovec_1(Process& p, const Term* a) {
  const Term args[] = {a[0], Term::nil()};
  return bif_erlang_term_to_iovec_2(p, args);
}

Term bif_erlang_binary_to_term_1(Process& p, const Term* a) {
  if (inflates_long(a[0])) return run_elsewhere(p, bif_erlang_binary_to_term_1, a, 1);
  return decode(p, a[0], Term::nil());
}
Term bif_erlang_binary_to_term_2(Process& p, const Term* a) {
  if (inflates_long(a[0])) return run_elsewhere(p, bif_erlang_binary_to_term_2, a, 2);
  return decode(p, a[0], a[1]);
}

Term bif_erlang_external_size_1(Process& p, const Term* a) { return external_size(p, a[0], {}); }
Term bif_erlang_external_size_2(Process& p, const Term* a) {
  EncodeOptions options;
  return encode_options(a[1], &options) ? external_size(p, a[0], options) : raise_badarg(p);
}

}  // namespace vmrun
