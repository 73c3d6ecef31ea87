// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
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
    else if (o == intern_atom("local")) options->local = true;
    else if (pair && o.element(0) == intern_atom("compressed") && small_in_range(o.element(1), 0, 9, &n))
      options->compression = static_cast<int>(n);
    else if (pair && o.element(0) == intern_atom("minor_version") && small_in_range(o.element(1), 0, 2, &n))
      options->minor_version = static_cast<unsigned>(n);
    else return false;
  }
  return list.is_nil();
}

/// The current call, and how it continues when there is much to do.
struct TermCall {
  Process& p;
  const Term* a;
  unsigned arity;
  BifFn self;
  Term on_dirty() const { return run_on_dirty(p, self, a, arity); }
};

/// Passes the bytes of the first argument to `result`.
template <class Result>
[[gnu::no_stack_protector]] Term encode(const TermCall& c, Result result, bool compress = true,
                                        bool insert_binaries = false) {
  EncodeOptions options;
  if (c.arity == 2 && !encode_options(c.a[1], &options)) return raise_badarg(c.p);
  if (!compress) options.compression = 0;
  options.insert_binaries = insert_binaries && options.compression == 0;
  ExternalBytes bytes;
  SWord steps = steps_here();
  switch (encode_external_within(&steps, c.a[0], options, &bytes)) {
    case Encoded::kMoreSteps: return c.on_dirty();
    case Encoded::kTooLarge: return raise_system_limit(c.p);
    case Encoded::kWhole: break;
  }
  charge(c.p, static_cast<SWord>(bytes.own_bytes().size() / 4));
  return result(bytes);
}
Term encode_to_binary(const TermCall& c) {
  return encode(c, [&c](ExternalBytes& bytes) { return bytes.to_binary(c.p.heap); });
}
Term encode_to_iovec(const TermCall& c) {
  return encode(
      c, [&c](ExternalBytes& bytes) { return bytes.to_iovec(c.p.heap); }, true, true);
}
Term encoded_size(const TermCall& c) {
  return encode(
      c, [](ExternalBytes& bytes) { return Term::small(static_cast<SWord>(bytes.size())); }, false, true);
}

/// Returns the size of the external form without compression.
Word inflated_size(const BytesOf& bytes) {
  const std::uint8_t* b = bytes.data();
  if (bytes.size() < 6 || b[1] != etf::kCompressed) return bytes.size();
  return Word{b[2]} << 24 | Word{b[3]} << 16 | Word{b[4]} << 8 | b[5];
}

bool read_decode_options(Term options, DecodeOptions* how, bool* used) {
  static const Term kSafe = intern_atom("safe"), kUsed = intern_atom("used");
  for (; options.is_list(); options = options.tail()) {
    if (options.head() == kSafe) how->safe = true;
    else if (options.head() == kUsed) *used = true;
    else return false;
  }
  return options.is_nil();
}

}  // namespace

Term binary_to_term_cause(Process&, unsigned, const Term* a) {
  DecodeOptions how;
  bool used;
  return read_decode_options(a[1], &how, &used) ? kNonValue : atoms::badopt;
}

namespace {

[[gnu::no_stack_protector]] Term decode(const TermCall& c) {
  DecodeOptions how;
  bool used = false;
  if (c.arity == 2 && !read_decode_options(c.a[1], &how, &used)) return raise_badarg(c.p);
  if (!is_binary(c.a[0])) return raise_badarg(c.p);
  const BytesOf bytes(c.a[0]);
  if (too_long(std::max(inflated_size(bytes), bytes.size()) / kBytesPerStep)) return c.on_dirty();
  const Decoded d = decode_external(c.p.heap, bytes.data(), bytes.size(), how);
  if (!d.term) return d.error == kAtomTableFull ? raise_system_limit(c.p) : raise_badarg(c.p);
  charge(c.p, static_cast<SWord>(d.used_bytes / 4));
  return used ? new_tuple(c.p.heap, d.term, Term::small(static_cast<SWord>(d.used_bytes))) : d.term;
}

}  // namespace

Term bif_erlang_term_to_binary_1(Process& p, const Term* a) {
  return encode_to_binary({p, a, 1, bif_erlang_term_to_binary_1});
}
Term bif_erlang_term_to_binary_2(Process& p, const Term* a) {
  return encode_to_binary({p, a, 2, bif_erlang_term_to_binary_2});
}

Term bif_erlang_term_to_iovec_1(Process& p, const Term* a) {
  return encode_to_iovec({p, a, 1, bif_erlang_term_to_iovec_1});
}
Term bif_erlang_term_to_iovec_2(Process& p, const Term* a) {
  return encode_to_iovec({p, a, 2, bif_erlang_term_to_iovec_2});
}

Term bif_erlang_binary_to_term_1(Process& p, const Term* a) {
  return decode({p, a, 1, bif_erlang_binary_to_term_1});
}
Term bif_erlang_binary_to_term_2(Process& p, const Term* a) {
  return decode({p, a, 2, bif_erlang_binary_to_term_2});
}

/// (Atoms of the cache references, Bytes): returns the elements of a message between nodes.
Term bif_erts_debug_dist_ext_to_term_2(Process& p, const Term* a) {
  if (!a[0].is_tuple() || !is_binary(a[1])) return raise_badarg(p);
  const std::span<const Term> atoms(a[0].tuple_elements(), a[0].tuple_arity());
  if (!std::ranges::all_of(atoms, [](Term t) { return t.is_atom(); })) return raise_badarg(p);
  const BytesOf bytes(a[1]);
  if (too_long(bytes.size() / kBytesPerStep)) return run_on_dirty(p, bif_erts_debug_dist_ext_to_term_2, a, 2);
  DecodeOptions how;
  how.atoms = atoms;
  const Decoded d = decode_external(p.heap, bytes.data(), bytes.size(), how);
  return d.term ? d.term : raise_badarg(p);
}

Term bif_erlang_external_size_1(Process& p, const Term* a) {
  return encoded_size({p, a, 1, bif_erlang_external_size_1});
}
Term bif_erlang_external_size_2(Process& p, const Term* a) {
  return encoded_size({p, a, 2, bif_erlang_external_size_2});
}

}  // namespace vmrun
