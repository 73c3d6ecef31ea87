// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>
#include <vector>

#include "vm/heap/heap.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"

/// Random terms of every kind that can go to another node, built from a seed.
namespace vmrun::test {

class SentTerms {
  static constexpr Word kPids = Word{1} << 47;  // in numbers of 15 and 32 bits (vm/term/pid_numbers.hpp)

 public:
  SentTerms(Heap& heap, std::uint64_t seed) : heap_(heap), random_(seed) {}

  Word below(Word n) { return random_() % n; }

  /// Names repeat, and some have the same place in an atom cache.
  Term atom() {
    switch (below(8)) {
      case 0: return intern_atom("wire_" + std::to_string(below(5000)));
      case 1: return intern_atom("größe_" + std::to_string(below(50)));
      case 2: {
        std::string long_text;
        for (int i = 0; i < 250; ++i) long_text += "ж";
        return intern_atom(long_text + std::to_string(below(20)));
      }
      default: return Term::atom(static_cast<std::uint32_t>(below(atoms::kWellKnownCount)));
    }
  }

  Term leaf() {
    switch (below(14)) {
      case 0: return Term::nil();
      case 1: return Term::small(static_cast<SWord>(random_()) >> (4 + below(60)));
      case 2: return big();
      case 3: {
        Term* hp = heap_.alloc(2);
        return make_float(hp, static_cast<double>(static_cast<SWord>(random_())) / 1024);
      }
      case 4: return Term::pid(below(kPids));
      case 5: return Term::port(below(Word{1} << 40));
      case 6: return reference();
      case 7: return external(Term::Sub::kExternalPid, 1);
      case 8: return external(Term::Sub::kExternalPort, 1);
      case 9: return external(Term::Sub::kExternalRef, 2 + below(2));
      case 10: return bitstring();
      case 11: return export_fun();
      default: return atom();
    }
  }

  Term term(int depth) {
    if (depth <= 0) return leaf();
    switch (below(8)) {
      case 0: return list(1 + below(40), depth);
      case 1: return map(below(6) ? below(8) : 20 + below(60), depth);
      case 2: return fun(depth);
      case 3: return bytes_list(below(100));
      case 4: return tuple(below(6) ? below(6) : 250 + below(20), depth);
      case 5: return bitstring();
      case 6: return leaf();
      default: return tuple(1 + below(4), depth);
    }
  }

  Term binary(Word size) {
    std::uint8_t* bytes;
    const Term t = new_binary(heap_, size, &bytes);
    for (Word i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(random_());
    return t;
  }

 private:
  Term big() {
    std::uint8_t bytes[300];
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random_());
    return integer_from_bytes(heap_, bytes, below(sizeof bytes), true, below(2));
  }

  Term reference() {
    const bool alias = below(2);
    auto* r = reinterpret_cast<RefObject*>(heap_.alloc(alias ? 4 : 3));
    r->header = Term::header(Term::Sub::kRef, alias ? 3 : 2);
    for (auto& n : r->numbers) n = static_cast<std::uint32_t>(random_());
    r->numbers[0] &= (1u << 18) - 1;  // all that nodes take
    r->unused = 0;
    if (alias) r->owner = Term::pid(1 + below(kPids - 1));
    return Term::boxed(&r->header);
  }

  Term external(Term::Sub sub, Word words) {
    auto* o = reinterpret_cast<ExternalObject*>(heap_.alloc(3 + words));
    o->header = Term::header(sub, 2 + words);
    o->node = node_entry(intern_atom("other" + std::to_string(below(3)) + "@host"),
                         static_cast<std::uint32_t>(1 + below(2)));
    for (Word i = 0; i < words; ++i) o->data[i] = random_();
    // A third number stands alone in the second word, a fifth in the third.
    if (sub == Term::Sub::kExternalRef) o->data[words - 1] &= UINT32_MAX;
    heap_.link_off_heap(reinterpret_cast<OffHeapObject*>(o), 0);
    return Term::boxed(&o->header);
  }

  Term bitstring() {
    const Term whole = binary(below(4) ? below(200) : below(5000));
    const Word bits = bit_size_of(whole);
    if (below(2)) return whole;
    const Word from = below(2) ? below(bits / 8 + 1) * 8 : below(bits + 1);
    return make_part(heap_, whole, from, below(bits - from + 1));
  }

  Term function(Export* exported, FunEntry* entry, unsigned arity, Word free_count) {
    auto* f = reinterpret_cast<FunObject*>(heap_.alloc(sizeof(FunObject) / 8 + free_count));
    *f = FunObject{};
    f->header = Term::header(Term::Sub::kFun, sizeof(FunObject) / 8 - 1 + free_count);
    if (exported) f->exported = exported;
    else f->entry = entry;
    f->is_external = exported != nullptr;
    f->arity = static_cast<std::uint8_t>(arity);
    f->free_count = static_cast<std::uint32_t>(free_count);
    f->creator = exported ? Term::nil() : Term::pid(1 + below(1000));
    return Term::boxed(&f->header);
  }
  Term export_fun() {
    const auto arity = static_cast<unsigned>(below(5));
    return function(export_entry(atom(), atom(), arity), nullptr, arity, 0);
  }
  Term fun(int depth) {
    const Word free_count = below(4);
    std::vector<Term> environment;
    for (Word i = 0; i < free_count; ++i) environment.push_back(term(depth - 1));
    const std::uint8_t uniq[16] = {static_cast<std::uint8_t>(free_count), 2, 3};
    FunEntry* entry = fun_entry(intern_atom("wire_test"), uniq, static_cast<std::uint32_t>(free_count), 77, 2,
                                static_cast<std::uint32_t>(free_count));
    const Term t = function(nullptr, entry, 2, free_count);
    for (Word i = 0; i < free_count; ++i) fun_of(t)->environment()[i] = environment[i];
    return t;
  }

  Term list(Word n, int depth) {
    Term t = below(5) ? Term::nil() : term(depth - 1);
    for (; n; --n) {
      const Term head = term(n % 4 ? 0 : depth - 1);
      Term* hp = heap_.alloc(2);
      t = make_cons(hp, head, t);
    }
    return t;
  }
  Term bytes_list(Word n) {
    Term t = Term::nil();
    for (; n; --n) {
      Term* hp = heap_.alloc(2);
      t = make_cons(hp, Term::small(static_cast<SWord>(below(256))), t);
    }
    return t;
  }
  Term tuple(Word n, int depth) {
    if (n == 0) return empty_tuple();
    std::vector<Term> elements;
    for (Word i = 0; i < n; ++i) elements.push_back(term(n > 10 ? 0 : depth - 1));
    Term* p = heap_.alloc(n + 1);
    p[0] = Term::header(Term::Sub::kTuple, n);
    for (Word i = 0; i < n; ++i) p[i + 1] = elements[i];
    return Term::boxed(p);
  }
  Term map(Word n, int depth) {
    Term m = empty_map(heap_);
    for (; n; --n) {
      const Term key = term(0);
      m = map_put(heap_, m, key, term(n > 10 ? 0 : depth - 1));
    }
    return m;
  }

  Heap& heap_;
  std::mt19937_64 random_;
};

}  // namespace vmrun::test
