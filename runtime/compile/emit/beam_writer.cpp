// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/beam_writer.hpp"

#include <zlib.h>

#include <ranges>
#include <unordered_map>

#include "vm/base/release_table.hpp"
#include "vm/heap/heap.hpp"
#include "vm/ir/types.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/external.hpp"

namespace vmrun::compile {

namespace {

constexpr unsigned kTagU = 0, kTagI = 1, kTagA = 2, kTagX = 3, kTagY = 4, kTagF = 5, kTagZ = 7;

void put32(std::string& out, std::uint64_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(v >> shift);
}

/// The compact form: a tag in the low three bits, then 4, 11 or up to 64 bits of value.
void put_compact(std::string& out, unsigned tag, std::int64_t value) {
  if (value >= 0 && value < 16) {
    out += static_cast<char>(value << 4 | tag);
  } else if (value >= 0 && value < 2048) {
    out += static_cast<char>((value >> 3 & 0xE0) | 0x08 | tag);
    out += static_cast<char>(value);
  } else {
    int bytes = 2;
    while (bytes < 8 &&
           (value >= std::int64_t{1} << (8 * bytes - 1) || value < -(std::int64_t{1} << (8 * bytes - 1))))
      ++bytes;
    out += static_cast<char>((bytes - 2) << 5 | 0x18 | tag);
    for (int k = bytes - 1; k >= 0; --k) out += static_cast<char>(value >> (8 * k));
  }
}

class Writer {
 public:
  Writer(const Code& code, const core::Module& module) : code_(code), module_(module) {}

  std::string run() {
    atom(module_.name);
    std::string code = code_chunk();
    std::string imports = import_chunk(), exports, locals, funs = fun_chunk(), records = record_chunk();
    export_chunks(exports, locals);
    std::string body;
    std::string atoms;
    put32(atoms, atoms_.size());
    for (Term a : atoms_) {
      const std::string_view text = atom_text(a);
      atoms += static_cast<char>(text.size());
      atoms += text;
    }
    chunk(body, "AtU8", atoms);
    chunk(body, "Code", code);
    chunk(body, "StrT", {reinterpret_cast<const char*>(code_.strings.data()), code_.strings.size()});
    chunk(body, "ImpT", imports);
    chunk(body, "ExpT", exports);
    if (!code_.lambdas.empty()) chunk(body, "FunT", funs);
    if (!literals_.empty()) chunk(body, "LitT", literal_chunk());
    chunk(body, "Meta", encode_external(meta()));
    if (!records.empty()) chunk(body, "Recs", records);
    chunk(body, "LocT", locals);
    chunk(body, "Attr", encode_external(attributes()));
    chunk(body, "CInf", encode_external(compile_info()));
    chunk(body, "Line", line_chunk());
    if (!code_.types.empty()) chunk(body, "Type", type_chunk());
    std::string out = "FOR1";
    put32(out, body.size() + 4);
    return out + "BEAM" + body;
  }

 private:
  static void chunk(std::string& out, const char* name, std::string_view bytes) {
    out += name;
    put32(out, bytes.size());
    out += bytes;
    while (out.size() % 4 != 0) out += '\0';
  }

  std::uint32_t atom(Term a) {
    auto [it, fresh] = atom_index_.try_emplace(a.atom_index(), static_cast<std::uint32_t>(atoms_.size() + 1));
    if (fresh) atoms_.push_back(a);
    return it->second;
  }

  /// Literals are found by their bytes, because 0.0 =:= -0.0 although they are two literals.
  std::uint32_t literal(Term t) {
    auto [it, fresh] =
        literal_index_.try_emplace(encode_external(t), static_cast<std::uint32_t>(literals_.size()));
    if (fresh) literals_.push_back(&it->first);
    return it->second;
  }

  void term(std::string& out, Term t) {
    if (t.is_atom()) return put_compact(out, kTagA, atom(t));
    if (t.is_nil()) return put_compact(out, kTagA, 0);
    if (t.is_small()) return put_compact(out, kTagI, t.small_value());
    put_compact(out, kTagZ, 4);
    put_compact(out, kTagU, literal(t));
  }

  void operand(std::string& out, const Operand& o) {
    if (o.type != 0) {
      put_compact(out, kTagZ, 5);
      put_compact(out, o.kind == Operand::kX ? kTagX : kTagY, o.n);
      return put_compact(out, kTagU, o.type);
    }
    switch (o.kind) {
      case Operand::kU:
      case Operand::kExt:
      case Operand::kString:
      case Operand::kFun: return put_compact(out, kTagU, o.n);
      case Operand::kTerm: return term(out, o.term);
      case Operand::kX: return put_compact(out, kTagX, o.n);
      case Operand::kY: return put_compact(out, kTagY, o.n);
      case Operand::kLabel: return put_compact(out, kTagF, o.n);
      case Operand::kFr: put_compact(out, kTagZ, 2); return put_compact(out, kTagU, o.n);
      case Operand::kList: put_compact(out, kTagZ, 1); return put_compact(out, kTagU, o.n);
      case Operand::kAlloc: {
        const std::uint32_t parts[] = {o.n, o.floats, o.funs};
        put_compact(out, kTagZ, 3);
        put_compact(out, kTagU, (o.n != 0) + (o.floats != 0) + (o.funs != 0));
        for (int k = 0; k < 3; ++k) {
          if (parts[k] == 0) continue;
          put_compact(out, kTagU, k);
          put_compact(out, kTagU, parts[k]);
        }
      }
    }
  }

  std::string code_chunk() {
    std::string bytes;
    auto highest = static_cast<unsigned>(Bop::kSwap);  // OTP 26 takes less for code of an old compiler
    for (const AsmInstr& i : code_.code) {
      bytes += static_cast<char>(i.op);
      highest = std::max(highest, static_cast<unsigned>(i.op));
      for (const Operand& o : i.args) operand(bytes, o);
    }
    std::string out;
    put32(out, 16);
    put32(out, 0);
    put32(out, highest);
    put32(out, code_.labels);
    put32(out, code_.funs.size());
    return out + bytes;
  }

  std::string import_chunk() {
    std::string out;
    put32(out, code_.imports.size());
    for (const Import& i : code_.imports) {
      put32(out, atom(i.module));
      put32(out, atom(i.name));
      put32(out, i.arity);
    }
    return out;
  }

  /// From the last function to the first, like erlc; programs see the reverse order.
  void export_chunks(std::string& exports, std::string& locals) {
    std::string e, l;
    std::uint32_t exported = 0, local = 0;
    std::unordered_map<std::uint64_t, bool> wanted;
    for (const core::Export& x : module_.exports) wanted[x.name.raw() << 10 | x.arity] = true;
    for (const Code::Fun& f : code_.funs | std::views::reverse) {
      const bool is_exported =
          wanted.contains(f.name.raw() << 10 | f.arity) || (f.name == atoms::module_info && f.arity < 2);
      std::string& out = is_exported ? e : l;
      (is_exported ? exported : local)++;
      put32(out, atom(f.name));
      put32(out, f.arity);
      put32(out, f.entry);
    }
    put32(exports, exported);
    exports += e;
    put32(locals, local);
    locals += l;
  }

  std::string fun_chunk() {
    std::string out;
    put32(out, code_.lambdas.size());
    for (std::size_t i = 0; i < code_.lambdas.size(); ++i) {
      const Code::Lambda& l = code_.lambdas[i];
      const Code::Fun& f = code_.funs[l.fun];
      put32(out, atom(f.name));
      put32(out, f.arity);
      put32(out, f.entry);
      put32(out, i);
      put32(out, l.free_count);
      put32(out, 0);
    }
    return out;
  }

  /// The definitions of native records, as OTP 29 writes them: each is an instruction call_last
  /// with the name, whether it is exported, and the fields with their defaults, where 0 is none.
  std::string record_chunk() {
    if (module_.records.empty()) return {};
    std::string out, definitions;
    std::size_t fields = 0;
    for (const core::RecordDef& r : module_.records) {
      definitions += static_cast<char>(Bop::kCallLast);
      term(definitions, r.name);
      term(definitions, r.exported ? atoms::true_ : atoms::false_);
      operand(definitions, Operand::list(2 * r.fields.size()));
      for (const core::RecordDef::Field& f : r.fields) {
        term(definitions, f.name);
        if (f.value.is_value()) term(definitions, f.value);
        else put_compact(definitions, kTagU, 0);
      }
      fields += r.fields.size();
    }
    put32(out, 0);
    put32(out, module_.records.size());
    put32(out, fields);
    return out + definitions;
  }

  std::string literal_chunk() {
    std::string plain;
    put32(plain, literals_.size());
    for (const std::string* bytes : literals_) {
      put32(plain, bytes->size());
      plain += *bytes;
    }
    uLongf size = compressBound(plain.size());
    std::string packed(size, '\0');
    compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
              plain.size(), 1);
    packed.resize(size);
    std::string out;
    put32(out, plain.size());
    return out + packed;
  }

  std::string line_chunk() {
    std::unordered_map<std::uint32_t, std::uint32_t> files;  // file of the program → number here
    std::string names, items;
    std::uint32_t now = 0, instructions = 0;
    for (const AsmInstr& i : code_.code) instructions += i.op == Bop::kLine;
    for (const Code::Line& l : code_.lines) {
      auto [it, fresh] = files.try_emplace(l.file, static_cast<std::uint32_t>(files.size() + 1));
      if (fresh) {
        const std::string_view name =
            l.file < module_.files.size() ? module_.files[l.file] : std::string_view("?");
        names += static_cast<char>(name.size() >> 8);
        names += static_cast<char>(name.size());
        names += name;
      }
      if (it->second != now) put_compact(items, kTagA, it->second);
      now = it->second;
      put_compact(items, kTagI, l.line);
    }
    std::string out;
    put32(out, 0);
    put32(out, 0);
    put32(out, instructions);
    put32(out, code_.lines.size());
    put32(out, files.size());
    return out + items + names;
  }

  static void put16(std::string& out, unsigned v) {
    out += static_cast<char>(v >> 8);
    out += static_cast<char>(v);
  }
  static void put_bounds(std::string& out, const Code::ValueType& t) {
    for (const std::int64_t bound : {t.low, t.high}) {
      put32(out, static_cast<std::uint64_t>(bound) >> 32);
      put32(out, static_cast<std::uint32_t>(bound));
    }
  }

  /// Since OTP 26: so many bits of kinds, without that of match states, which are bit strings. The
  /// bits behind them say which of a lower bound, an upper bound and a unit follow.
  static void put_type(std::string& out, unsigned kind_bits, const Code::ValueType& t, bool is_any) {
    if (is_any) return put16(out, (1u << kind_bits) - 1);
    constexpr unsigned kLowest = ir::kind::kAtom | ir::kind::kBitstring;
    const bool bounded = t.kinds == ir::kind::kInteger && t.low <= t.high;
    put16(out, (t.kinds & kLowest) | (t.kinds & ir::kind::kMatchState ? ir::kind::kBitstring : 0) |
                   (t.kinds >> 1 & ~kLowest) | (bounded ? 3u << kind_bits : 0));
    if (bounded) put_bounds(out, t);
  }

  /// Up to OTP 25: version, number, and for each type 16 bits of kinds and two bounds of 64 bits.
  std::string type_chunk() {
    const unsigned version = default_type_chunk_version(code_.release);
    std::string out;
    put32(out, version);
    put32(out, code_.types.size());
    for (const Code::ValueType& t : code_.types) {
      if (version > 1) {
        put_type(out, version == 3 ? 12 : 13, t, &t == code_.types.data());
        continue;
      }
      put16(out, t.kinds);
      put_bounds(out, t);
    }
    return out;
  }

  Term pair(Term a, Term b) {
    Term* p = heap_.alloc(3);
    return make_tuple(p, a, b);
  }
  Term cons(Term head, Term tail) {
    Term* p = heap_.alloc(2);
    return make_cons(p, head, tail);
  }
  Term text(std::string_view s) {
    Term out = Term::nil();
    for (std::size_t i = s.size(); i-- > 0;) out = cons(Term::small(static_cast<unsigned char>(s[i])), out);
    return out;
  }

  Term meta() { return cons(pair(intern_atom("enabled_features"), Term::nil()), Term::nil()); }

  Term attributes() {
    Term out = Term::nil();
    for (std::size_t i = module_.attributes.size(); i-- > 0;)
      out = cons(pair(module_.attributes[i].name, module_.attributes[i].value), out);
    return out;
  }

  Term compile_info() {
    Term out = cons(pair(intern_atom("source"), text(module_.source)), Term::nil());
    out = cons(pair(intern_atom("options"), Term::nil()), out);
    return cons(pair(intern_atom("version"), text("1.0")), out);
  }

  const Code& code_;
  const core::Module& module_;
  Heap heap_;
  std::vector<Term> atoms_;
  std::unordered_map<std::uint32_t, std::uint32_t> atom_index_;
  std::unordered_map<std::string, std::uint32_t> literal_index_;
  std::vector<const std::string*> literals_;  // keys of the index
};

}  // namespace

std::string write_beam(const Code& code, const core::Module& module) { return Writer(code, module).run(); }

}  // namespace vmrun::compile
