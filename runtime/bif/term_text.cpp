// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstring>

#include "runtime/bif/bif_upcalls.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_texts.hpp"
#include "vm/base/release.hpp"
#include "vm/code/module.hpp"
#include "vm/dist/channels.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits_fields.hpp"
#include "vm/term/external_identifier.hpp"
#include "vm/term/pid_numbers.hpp"
#include "vm/term/print.hpp"
#include "vm/term/term_upcalls.hpp"

/// Texts of atoms, identifiers and funs, the conversion back, and information about funs.
namespace vmrun {
namespace {

enum class MakeAtom { kCreate, kExisting };

Term make_atom(Process& p, std::string_view utf8, MakeAtom how) {
  if (how == MakeAtom::kExisting) {
    const Term t = existing_atom(utf8);
    return t ? t : raise_badarg(p);
  }
  if (utf8_characters(utf8) > kAtomMaxCharacters) return raise_system_limit(p);
  const Term t = try_intern_atom(utf8);
  return t ? t : raise_system_limit(p);
}

/// Whether the text is valid UTF-8 and not longer than an atom's may be; *too_long if it is longer.
bool valid_utf8(std::string_view text, bool* too_long) {
  MatchContext m{};
  m.base = reinterpret_cast<const std::uint8_t*>(text.data());
  m.size_bits = text.size() * 8;
  for (Word n = 0; n < kAtomMaxCharacters && bits_left(m); ++n) {
    if (!bs_get_utf8(m)) return false;
  }
  *too_long = bits_left(m);
  return true;
}

Term atom_from_list(Process& p, Term list, MakeAtom how) {
  std::string text;
  return list_to_utf8(list, &text) ? make_atom(p, text, how) : raise_badarg(p);
}

bool is_latin1_name(Term encoding) { return encoding == intern_atom("latin1"); }
bool is_utf8_name(Term encoding) {
  return encoding == intern_atom("utf8") || encoding == intern_atom("unicode");
}

Term atom_from_binary(Process& p, Term binary, Term encoding, MakeAtom how) {
  if (!is_binary(binary)) return raise_badarg(p);
  const BytesOf bytes(binary);
  std::string text;
  if (is_latin1_name(encoding)) {
    for (Word i = 0; i < bytes.size(); ++i) append_utf8(text, bytes.data()[i]);
  } else if (is_utf8_name(encoding)) {
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    bool too_long = false;
    if (!valid_utf8(text, &too_long)) return raise_badarg(p);
    if (too_long) return how == MakeAtom::kCreate ? raise_system_limit(p) : raise_badarg(p);
  } else {
    return raise_badarg(p);
  }
  return make_atom(p, text, how);
}

Term atom_to_binary(Process& p, Term atom, Term encoding) {
  if (!atom.is_atom()) return raise_badarg(p);
  const std::string_view text = atom_text(atom);
  if (is_utf8_name(encoding)) return text_binary(p.heap, text);
  if (!is_latin1_name(encoding)) return raise_badarg(p);
  std::string latin1;
  MatchContext m{};
  m.base = reinterpret_cast<const std::uint8_t*>(text.data());
  m.size_bits = text.size() * 8;
  while (bits_left(m)) {
    const SWord c = bs_get_utf8(m).small_value();
    if (c > 255) return raise_badarg(p);
    latin1 += static_cast<char>(c);
  }
  return text_binary(p.heap, latin1);
}

/// Reads numbers between fixed texts: prefix N . N . N >, up to `most` of them. Returns how many; 0
/// when the text is something else.
unsigned scan_numbers(Term list, std::string_view prefix, Word* numbers, unsigned most) {
  std::string text;
  if (!list_to_bytes(list, &text) || !text.starts_with(prefix) || !text.ends_with(">")) return 0;
  const char *at = text.data() + prefix.size(), *end = text.data() + text.size() - 1;
  for (unsigned i = 0; i < most; ++i) {
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || next == at) return 0;
    if (next == end) return i + 1;
    if (*next != '.') return 0;
    at = next + 1;
  }
  return 0;
}

/// Makes an identifier of a node that is connected now, from the numbers of its text. Raises badarg
/// when there is no such node.
Term remote_identifier(Process& p, Term::Sub sub, Word node, const Word* data, Word words) {
  Node* of = dist::connected_node(node);
  return of ? external_identifier(p.heap, sub, of, data, words) : raise_badarg(p);
}

/// Returns one item of fun_info, or the non-value when a fun of that kind does not have it.
Term fun_item(Process& p, const FunObject& f, Term item) {
  const bool external = f.is_external;
  const auto is = [item](const char* name) { return item == intern_atom(name); };
  if (is("module")) return external ? f.exported->module : f.entry->module;
  if (is("name")) {
    if (external) return f.exported->function;
    return f.entry->address.load(std::memory_order_relaxed) ? f.entry->function.load() : Term::nil();
  }
  if (is("arity")) return Term::small(f.arity);
  if (is("type")) return intern_atom(external ? "external" : "local");
  if (is("env")) {
    ListBuilder list(p.heap);
    for (std::uint32_t i = 0; i < f.free_count; ++i) list.add(f.environment()[i]);
    return list.finish();
  }
  const bool local_only =
      is("pid") || is("index") || is("new_index") || is("uniq") || is("new_uniq") || is("refc");
  if (!local_only) return kNonValue;
  if (external) return atoms::undefined;
  if (is("pid")) return release_has(Trait::kAnonymousFuns) ? kInitPid : f.creator;
  if (is("uniq")) return Term::small(f.entry->old_uniq);
  if (is("new_uniq")) return make_binary(p.heap, f.entry->uniq, sizeof f.entry->uniq);
  return Term::small(f.entry->index);
}

}  // namespace

Term bif_erlang_atom_to_list_1(Process& p, const Term* a) {
  return a[0].is_atom() ? code_point_list(p.heap, atom_text(a[0])) : raise_badarg(p);
}
Term bif_erlang_atom_to_binary_1(Process& p, const Term* a) {
  return atom_to_binary(p, a[0], intern_atom("utf8"));
}
Term bif_erlang_atom_to_binary_2(Process& p, const Term* a) { return atom_to_binary(p, a[0], a[1]); }
Term bif_erlang_list_to_atom_1(Process& p, const Term* a) {
  return atom_from_list(p, a[0], MakeAtom::kCreate);
}
Term bif_erlang_list_to_existing_atom_1(Process& p, const Term* a) {
  return atom_from_list(p, a[0], MakeAtom::kExisting);
}
Term bif_erlang_binary_to_atom_1(Process& p, const Term* a) {
  return atom_from_binary(p, a[0], intern_atom("utf8"), MakeAtom::kCreate);
}
Term bif_erlang_binary_to_atom_2(Process& p, const Term* a) {
  return atom_from_binary(p, a[0], a[1], MakeAtom::kCreate);
}
Term bif_erlang_binary_to_existing_atom_1(Process& p, const Term* a) {
  return atom_from_binary(p, a[0], intern_atom("utf8"), MakeAtom::kExisting);
}
Term bif_erlang_binary_to_existing_atom_2(Process& p, const Term* a) {
  return atom_from_binary(p, a[0], a[1], MakeAtom::kExisting);
}

Term bif_erlang_pid_to_list_1(Process& p, const Term* a) {
  return a[0].is_pid() ? text_list(p.heap, pid_text(a[0])) : raise_badarg(p);
}
Term bif_erlang_port_to_list_1(Process& p, const Term* a) {
  return a[0].is_port() ? text_list(p.heap, port_text(a[0])) : raise_badarg(p);
}
Term bif_erlang_ref_to_list_1(Process& p, const Term* a) {
  return a[0].is_ref() ? text_list(p.heap, ref_text(a[0])) : raise_badarg(p);
}
Term bif_erlang_fun_to_list_1(Process& p, const Term* a) {
  return a[0].is_fun() ? code_point_list(p.heap, fun_text(a[0])) : raise_badarg(p);
}

// Node 0 is the local node.

Term bif_erlang_list_to_pid_1(Process& p, const Term* a) {
  Word n[3];
  if (scan_numbers(a[0], "<", n, 3) != 3) return raise_badarg(p);
  if (n[0] == 0) return is_pid_id(n[1], n[2]) ? Term::pid(pid_id(n[1], n[2])) : raise_badarg(p);
  const Word data = n[2] << 32 | (n[1] & UINT32_MAX);
  return remote_identifier(p, Term::Sub::kExternalPid, n[0], &data, 1);
}

Term bif_erlang_list_to_port_1(Process& p, const Term* a) {
  Word n[2];
  if (scan_numbers(a[0], "#Port<", n, 2) != 2) return raise_badarg(p);
  if (n[0] == 0) return is_port_number(n[1]) ? Term::port(n[1]) : raise_badarg(p);
  return remote_identifier(p, Term::Sub::kExternalPort, n[0], &n[1], 1);
}

Term bif_erlang_list_to_ref_1(Process& p, const Term* a) {
  constexpr unsigned kMostNumbers = 5;
  Word n[1 + kMostNumbers];
  const unsigned count = scan_numbers(a[0], "#Ref<", n, 1 + kMostNumbers);
  if (count < 2) return raise_badarg(p);
  std::uint32_t numbers[kMostNumbers + 1] = {};
  for (unsigned i = 1; i < count; ++i) {
    if (n[i] >> 32) return raise_badarg(p);
    numbers[count - 1 - i] = static_cast<std::uint32_t>(n[i]);
  }
  if (n[0] != 0) {
    Word data[3];
    std::memcpy(data, numbers, sizeof data);
    return remote_identifier(p, Term::Sub::kExternalRef, n[0], data, count <= 4 ? 2 : 3);
  }
  if (count != 4 || numbers[0] > kFirstNumberMask) return raise_badarg(p);
  if (const Term resource = term_upcalls.find_resource(numbers, p.heap)) return resource;
  Term* hp = p.heap.alloc(kRefWords);
  return make_ref(hp, {Word{numbers[1]} << 32 | numbers[0], numbers[2]});
}

Term bif_erlang_make_fun_3(Process& p, const Term* a) {
  SWord arity;
  if (!a[0].is_atom() || !a[1].is_atom() || !a[2].is_small()) return raise_badarg(p);
  if (!small_in_range(a[2], 0, 255, &arity)) return raise_badarg(p);
  auto* f = reinterpret_cast<FunObject*>(p.heap.alloc(sizeof(FunObject) / sizeof(Term)));
  *f = FunObject{};
  f->header = Term::header(Term::Sub::kFun, sizeof(FunObject) / sizeof(Term) - 1);
  f->exported = export_entry(a[0], a[1], static_cast<unsigned>(arity));
  f->arity = static_cast<std::uint8_t>(arity);
  f->is_external = 1;
  f->creator = Term::nil();
  return Term::boxed(&f->header);
}

/// Returns false for functions that are written in Erlang in OTP, as system_info(snifs) does not
/// name them. apply and yield are exceptions: they are instructions there.
Term bif_erlang_is_builtin_3(Process& p, const Term* a) {
  static const Export* const yield = export_entry(atoms::erlang, intern_atom("yield"), 0);
  SWord arity;
  if (!a[0].is_atom() || !a[1].is_atom() || !a[2].is_small()) return raise_badarg(p);
  if (!small_in_range(a[2], 0, 255, &arity)) return atoms::false_;
  const Export* e = find_export(a[0], a[1], static_cast<unsigned>(arity));
  const auto is_listed = [&] { return e->bif && !(e->bif_flags & BifRow::kUnlisted); };
  return bool_term(e && (is_listed() || e == yield || is_apply(*e)));
}

namespace {

/// Runs on a dirty scheduler; the machine is stopped meanwhile.
Term fun_references_item(Process& p, const Term* a) {
  return new_tuple(p.heap, a[1], make_unsigned(p.heap, bif_upcalls.fun_references(p, *fun_of(a[0])->entry)));
}

}  // namespace

Term bif_erlang_fun_info_2(Process& p, const Term* a) {
  if (!a[0].is_fun() || !a[1].is_atom()) return raise_badarg(p);
  if (a[1] == intern_atom("refc") && !fun_of(a[0])->is_external)
    return run_on_dirty(p, fun_references_item, a, 2, DirtyKind::kIo);
  const Term value = fun_item(p, *fun_of(a[0]), a[1]);
  return value ? new_tuple(p.heap, a[1], value) : raise_badarg(p);
}

Term bif_erlang_fun_info_1(Process& p, const Term* a) {
  if (!a[0].is_fun()) return raise_badarg(p);
  const FunObject& f = *fun_of(a[0]);
  static constexpr const char* kLocal[] = {"pid",  "module", "new_index", "new_uniq", "index",
                                           "uniq", "name",   "arity",     "env",      "type"};
  static constexpr const char* kExternal[] = {"module", "name", "arity", "env", "type"};
  ListBuilder list(p.heap);
  const auto add = [&](const char* name) {
    const Term item = intern_atom(name);
    list.add(new_tuple(p.heap, item, fun_item(p, f, item)));
  };
  if (f.is_external) {
    for (const char* name : kExternal) add(name);
  } else {
    for (const char* name : kLocal) add(name);
  }
  return list.finish();
}

/// {Module, Function, Arity}: the fun's name in stack traces.
Term bif_erlang_fun_info_mfa_1(Process& p, const Term* a) {
  if (!a[0].is_fun()) return raise_badarg(p);
  const FunObject& f = *fun_of(a[0]);
  const Term module = f.is_external ? f.exported->module : f.entry->module;
  const Term function = f.is_external ? f.exported->function : f.entry->function.load();
  return new_tuple(p.heap, module, function, Term::small(f.arity));
}

}  // namespace vmrun
