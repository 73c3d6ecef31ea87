// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/wire/input.hpp"
#include "vm/term/bits.hpp"

namespace vmrun::dist {

/// Converts in both directions. All bytes lie in binaries outside of heaps.
struct PayloadTerms {
  static constexpr Word kPartWords = sizeof(RefcBinary) / sizeof(Term) + 2;

  static Word words(const EncodedPayload& payload) {
    return 3 + 1 + payload.atoms_.size() + kPartWords * payload.parts_.size();
  }

  static Term make(TermSpace& space, EncodedPayload& payload) {
    Term bytes = Term::nil();
    for (std::size_t i = payload.parts_.size(); i-- > 0;) {
      BinaryPart& part = payload.parts_[i];
      auto* data = const_cast<std::uint8_t*>(part.data());
      const std::size_t size = part.size();
      const Term binary = make_refc_binary(space, part.take_reference(), data, size);
      Term* hp = space.alloc(2);
      bytes = make_cons(hp, binary, bytes);
    }
    Term atoms = Term::nil();
    if (const std::size_t n = payload.atoms_.size()) {
      Term* object = space.alloc(n + 1);
      object[0] = Term::header(Term::Sub::kTuple, n);
      for (std::size_t i = 0; i < n; ++i) object[i + 1] = payload.atoms_[i];
      atoms = Term::boxed(object);
    }
    payload.clear();
    Term* hp = space.alloc(3);
    return make_tuple(hp, atoms, bytes);
  }

  static EncodedPayload payload(Term term) {
    EncodedPayload payload;
    const Term atoms = term.element(0);
    if (!atoms.is_nil())
      payload.atoms_.assign(atoms.tuple_elements(), atoms.tuple_elements() + atoms.tuple_arity());
    for (Term rest = term.element(1); rest.is_list(); rest = rest.tail()) {
      const auto& binary = *reinterpret_cast<const RefcBinary*>(rest.head().boxed_ptr());
      binary.binary->retain();
      payload.parts_.emplace_back(binary.binary, binary.bytes, binary.size_bytes);
      payload.bytes_ += binary.size_bytes;
    }
    return payload;
  }
};

Word payload_term_words(const EncodedPayload& payload) { return PayloadTerms::words(payload); }
Term payload_term(TermSpace& space, EncodedPayload& payload) { return PayloadTerms::make(space, payload); }
EncodedPayload payload_of(Term term) { return PayloadTerms::payload(term); }

}  // namespace vmrun::dist
