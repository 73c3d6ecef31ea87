// SPDX-License-Identifier: Apache-2.0
#include "probes/probes.hpp"
#include "runtime/bif/support.hpp"
#include "vm/process/trace_state.hpp"
#include "vm/term/bits.hpp"

/// erlang:dt_*: the user tag of dyntrace, which a process may set, spread with its messages and
/// pass to drivers. Without probes there are no tags.
namespace vmrun {
namespace {

Term tag_or_undefined(Term tag) { return tag.is_nil() ? atoms::undefined : tag; }

/// Returns the tag's bytes up to the first NUL, and a NUL, as a driver gets them.
Term terminated_tag(Process& p) {
  const Term tag = user_tag(p);
  if (tag.is_nil()) return make_binary(p.heap, "", 1);
  const BytesOf bytes(tag);
  const Word length = strnlen(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::uint8_t* out;
  const Term binary = new_binary(p.heap, length + 1, &out);
  std::memcpy(out, bytes.data(), length);
  out[length] = 0;
  return binary;
}

Term cons(Process& p, Term head, Term tail) {
  Term* hp = p.heap.alloc(2);
  return make_cons(hp, head, tail);
}

}  // namespace

Term bif_erlang_dt_put_tag_1(Process& p, const Term* a) {
  if (!probe::kCompiledIn) return atoms::undefined;
  if (a[0] != atoms::undefined && !is_binary(a[0])) return raise_badarg(p);
  const Term old = tag_or_undefined(own_tag(p));
  if (a[0] == atoms::undefined) set_user_tag(p, Term::nil(), 0);
  else set_user_tag(p, a[0], tag_flags(p) | kTagFlagOwn);
  return old;
}
Term bif_erlang_dt_get_tag_0(Process& p, const Term*) { return tag_or_undefined(own_tag(p)); }
Term bif_erlang_dt_get_tag_data_0(Process& p, const Term*) { return tag_or_undefined(user_tag(p)); }

Term bif_erlang_dt_spread_tag_1(Process& p, const Term* a) {
  if (!probe::kCompiledIn) return atoms::true_;
  if (a[0] != atoms::true_ && a[0] != atoms::false_) return raise_badarg(p);
  const Term tag = user_tag(p);
  const Word flags = tag_flags(p);
  const Term state = new_tuple(p.heap, Term::small(static_cast<SWord>(flags)), tag);
  if (!tag.is_nil())
    set_user_tag(p, tag, a[0] == atoms::true_ ? flags | kTagFlagSpreading : flags & ~kTagFlagSpreading);
  return state;
}
Term bif_erlang_dt_restore_tag_1(Process& p, const Term* a) {
  if (!probe::kCompiledIn) return a[0] == atoms::true_ ? atoms::true_ : raise_badarg(p);
  if (!a[0].is_tuple() || a[0].tuple_arity() != 2) return raise_badarg(p);
  const Term flags = a[0].element(0), tag = a[0].element(1);
  if (!flags.is_small() || !(tag.is_nil() || is_binary(tag))) return raise_badarg(p);
  set_user_tag(p, tag, static_cast<Word>(flags.small_value()) & (kTagFlagOwn | kTagFlagSpreading));
  return atoms::true_;
}

Term bif_erlang_dt_prepend_vm_tag_data_1(Process& p, const Term* a) {
  return probe::kCompiledIn ? cons(p, terminated_tag(p), a[0]) : a[0];
}
Term bif_erlang_dt_append_vm_tag_data_1(Process& p, const Term* a) {
  return probe::kCompiledIn ? cons(p, a[0], terminated_tag(p)) : a[0];
}

}  // namespace vmrun
