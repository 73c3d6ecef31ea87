// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "vm/base/release.hpp"
#include "vm/base/utf8.hpp"
#include "vm/code/native_env.hpp"
#include "vm/heap/copy.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/external_atoms.hpp"
#include "vm/term/hash.hpp"

// The native interface: testing, reading and making terms. OTP's documentation of erl_nif specifies
// the functions.

using namespace vmrun;

// ---- What a term is -----------------------------------------------------------------------------

ErlNifTermType enif_term_type(ErlNifEnv*, ERL_NIF_TERM term) {
  const Term t = to_term(term);
  if (t.is_atom()) return ERL_NIF_TERM_TYPE_ATOM;
  if (t.is_integer()) return ERL_NIF_TERM_TYPE_INTEGER;
  if (t.is_cons_or_nil()) return ERL_NIF_TERM_TYPE_LIST;
  if (t.is_tuple()) return ERL_NIF_TERM_TYPE_TUPLE;
  if (t.is_bitstring()) return ERL_NIF_TERM_TYPE_BITSTRING;
  if (t.is_map()) return ERL_NIF_TERM_TYPE_MAP;
  if (t.is_float()) return ERL_NIF_TERM_TYPE_FLOAT;
  if (t.is_pid()) return ERL_NIF_TERM_TYPE_PID;
  if (t.is_ref()) return ERL_NIF_TERM_TYPE_REFERENCE;
  if (t.is_fun()) return ERL_NIF_TERM_TYPE_FUN;
  return ERL_NIF_TERM_TYPE_PORT;
}

int enif_is_atom(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_atom(); }
int enif_is_binary(ErlNifEnv*, ERL_NIF_TERM t) { return is_binary(to_term(t)); }
int enif_is_empty_list(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_nil(); }
int enif_is_exception(ErlNifEnv* env, ERL_NIF_TERM t) { return env->raised && !to_term(t).is_value(); }
int enif_is_fun(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_fun(); }
int enif_is_list(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_cons_or_nil(); }
int enif_is_map(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_map(); }
int enif_is_number(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_number(); }
int enif_is_pid(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_pid(); }
int enif_is_port(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_port(); }
int enif_is_ref(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_ref(); }
int enif_is_tuple(ErlNifEnv*, ERL_NIF_TERM t) { return to_term(t).is_tuple(); }
int enif_is_identical(ERL_NIF_TERM a, ERL_NIF_TERM b) { return equal_exact(to_term(a), to_term(b)); }
int enif_compare(ERL_NIF_TERM a, ERL_NIF_TERM b) {
  const int c = compare(to_term(a), to_term(b));
  return c < 0 ? -1 : c > 0;
}

size_t enif_term_size(ERL_NIF_TERM term) { return size_words(to_term(term)) * sizeof(ERL_NIF_TERM); }

int enif_get_atom_cache_index(ErlNifEnv*, ERL_NIF_TERM atom, unsigned* index) {
  if (!to_term(atom).is_atom() || !index) return 0;
  *index = AtomReferences::place_of(to_term(atom));
  return 1;
}
unsigned enif_max_atom_cache_index(void) { return AtomReferences::kPlaces - 1; }

ErlNifUInt64 enif_hash(ErlNifHash type, ERL_NIF_TERM term, ErlNifUInt64 salt) {
  if (type == ERL_NIF_INTERNAL_HASH) {
    const std::uint64_t hash = hash_term(to_term(term), salt);
    return release_has(Trait::kWideInternalHash) ? hash : hash >> 32;
  }
  return portable_hash2(to_term(term)) & 0x7FFFFFF;
}

// ---- Reading terms ------------------------------------------------------------------------------

int enif_get_long(ErlNifEnv*, ERL_NIF_TERM term, long* out) {
  const Term t = to_term(term);
  if (t.is_small()) {
    *out = t.small_value();
    return 1;
  }
  return t.is_big() && integer_to_int64(t, out);
}

int enif_get_ulong(ErlNifEnv*, ERL_NIF_TERM term, unsigned long* out) {
  const Term t = to_term(term);
  if (t.is_small()) {
    if (t.small_value() < 0) return 0;
    *out = static_cast<unsigned long>(t.small_value());
    return 1;
  }
  return t.is_big() && integer_to_uint64(t, out);
}

int enif_get_int(ErlNifEnv*, ERL_NIF_TERM term, int* out) {
  const Term t = to_term(term);
  if (!t.is_small() || t.small_value() < INT32_MIN || t.small_value() > INT32_MAX) return 0;
  *out = static_cast<int>(t.small_value());
  return 1;
}

int enif_get_uint(ErlNifEnv*, ERL_NIF_TERM term, unsigned* out) {
  const Term t = to_term(term);
  if (!t.is_small() || t.small_value() < 0 || t.small_value() > UINT32_MAX) return 0;
  *out = static_cast<unsigned>(t.small_value());
  return 1;
}

int enif_get_double(ErlNifEnv*, ERL_NIF_TERM term, double* out) {
  const Term t = to_term(term);
  if (!t.is_float()) return 0;
  *out = float_of(t)->value;
  return 1;
}

namespace {

bool is_known(ErlNifCharEncoding encoding) { return encoding == ERL_NIF_LATIN1 || encoding == ERL_NIF_UTF8; }

/// Calls put(code point) for the characters of a list until it returns false. Returns whether all
/// of the list is characters that the encoding has; a list that was not read to its end counts as
/// such.
template <class Put>
bool each_character(Term list, ErlNifCharEncoding encoding, Put put) {
  for (; list.is_list(); list = list.tail()) {
    const Term c = list.head();
    if (!c.is_small() || c.small_value() < 0) return false;
    const auto code = static_cast<std::uint64_t>(c.small_value());
    if (encoding == ERL_NIF_LATIN1 ? code > 255 : !utf8::is_scalar(code)) return false;
    if (!put(static_cast<std::uint32_t>(code))) return true;
  }
  return list.is_nil();
}

/// The text of an atom in UTF-8; false when the bytes are not of that encoding, or too many.
bool atom_name(const char* name, std::size_t length, ErlNifCharEncoding encoding, std::string* text) {
  if (!is_known(encoding)) return false;
  if (encoding == ERL_NIF_LATIN1) {
    if (length > kAtomMaxCharacters) return false;
    *text = utf8::from_latin1({name, length});
    return true;
  }
  std::size_t characters = 0;
  for (std::size_t at = 0; at < length; ++characters) {
    const auto c = utf8::decode(name + at, length - at);
    if (!c.size) return false;
    at += c.size;
  }
  text->assign(name, length);
  return characters <= kAtomMaxCharacters;
}

}  // namespace

int enif_get_atom_length(ErlNifEnv*, ERL_NIF_TERM atom, unsigned* length, ErlNifCharEncoding encoding) {
  if (!is_known(encoding) || !to_term(atom).is_atom()) return 0;
  unsigned n = 0;
  if (encoding == ERL_NIF_UTF8) {
    *length = static_cast<unsigned>(atom_text(to_term(atom)).size());
    return 1;
  }
  for (const unsigned char c : atom_text(to_term(atom))) {
    if (c >= 0xC4) return 0;  // beyond Latin-1
    n += !utf8::is_continuation(c);
  }
  *length = n;
  return 1;
}

int enif_get_atom(ErlNifEnv* env, ERL_NIF_TERM atom, char* buffer, unsigned size,
                  ErlNifCharEncoding encoding) {
  unsigned length;
  if (!enif_get_atom_length(env, atom, &length, encoding) || length >= size) return 0;
  const std::string_view text = atom_text(to_term(atom));
  char* out = buffer;
  if (encoding == ERL_NIF_UTF8) out += text.copy(out, text.size());
  else
    for (std::size_t i = 0; i < text.size();) *out++ = static_cast<char>(utf8::next(text, i));
  *out = 0;
  return static_cast<int>(length) + 1;
}

namespace {

/// What does not fit is cut behind a whole character; the negated number of bytes reports that.
int string_in_utf8(Term list, char* buffer, unsigned size) {
  unsigned n = 0;
  bool fits = true;
  const bool good = each_character(list, ERL_NIF_UTF8, [&](std::uint32_t c) {
    fits = n + utf8::size_of(c) < size;
    if (fits) n += static_cast<unsigned>(utf8::encode(c, buffer + n));
    return fits;
  });
  if (!good) n = 0;
  buffer[n] = 0;
  return !good ? 0 : fits ? static_cast<int>(n) + 1 : -(static_cast<int>(n) + 1);
}

}  // namespace

int enif_get_string_length(ErlNifEnv*, ERL_NIF_TERM list, unsigned* length, ErlNifCharEncoding encoding) {
  unsigned n = 0;
  const bool good = is_known(encoding) && each_character(to_term(list), encoding, [&](std::uint32_t c) {
                      n += encoding == ERL_NIF_UTF8 ? static_cast<unsigned>(utf8::size_of(c)) : 1;
                      return true;
                    });
  if (good) *length = n;
  return good;
}

int enif_get_string(ErlNifEnv*, ERL_NIF_TERM list, char* buffer, unsigned size, ErlNifCharEncoding encoding) {
  if (!is_known(encoding) || size < 1) return 0;
  if (encoding == ERL_NIF_UTF8) return string_in_utf8(to_term(list), buffer, size);
  Term t = to_term(list);
  unsigned n = 0;
  for (; t.is_list(); t = t.tail()) {
    const Term c = t.head();
    if (!c.is_small() || c.small_value() < 0 || c.small_value() > 255) {
      buffer[n] = 0;
      return 0;
    }
    buffer[n++] = static_cast<char>(c.small_value());
    if (n == size) {  // it does not fit: it is cut, and the negated size reports that
      buffer[n - 1] = 0;
      return -static_cast<int>(size);
    }
  }
  buffer[n] = 0;
  return t.is_nil() ? static_cast<int>(n) + 1 : 0;
}

int enif_get_list_cell(ErlNifEnv*, ERL_NIF_TERM list, ERL_NIF_TERM* head, ERL_NIF_TERM* tail) {
  const Term t = to_term(list);
  if (!t.is_list()) return 0;
  *head = from_term(t.head());
  *tail = from_term(t.tail());
  return 1;
}

int enif_get_list_length(ErlNifEnv*, ERL_NIF_TERM list, unsigned* length) {
  unsigned n = 0;
  Term t = to_term(list);
  for (; t.is_list(); t = t.tail()) ++n;
  if (!t.is_nil()) return 0;
  *length = n;
  return 1;
}

int enif_get_tuple(ErlNifEnv*, ERL_NIF_TERM tuple, int* arity, const ERL_NIF_TERM** elements) {
  const Term t = to_term(tuple);
  if (!t.is_tuple()) return 0;
  *arity = static_cast<int>(t.tuple_arity());
  *elements = reinterpret_cast<const ERL_NIF_TERM*>(t.tuple_elements());
  return 1;
}

int enif_get_local_pid(ErlNifEnv*, ERL_NIF_TERM term, ErlNifPid* pid) {
  if (!to_term(term).is_local_pid()) return 0;
  pid->pid = term;
  return 1;
}

int enif_get_local_port(ErlNifEnv*, ERL_NIF_TERM term, ErlNifPort* port) {
  if (!to_term(term).is_local_port()) return 0;
  port->port_id = term;
  return 1;
}

// ---- Making terms -------------------------------------------------------------------------------

ERL_NIF_TERM enif_make_int(ErlNifEnv*, int i) { return from_term(Term::small(i)); }
ERL_NIF_TERM enif_make_uint(ErlNifEnv*, unsigned i) { return from_term(Term::small(i)); }
ERL_NIF_TERM enif_make_long(ErlNifEnv* env, long i) { return from_term(make_integer(*env->heap, i)); }
ERL_NIF_TERM enif_make_ulong(ErlNifEnv* env, unsigned long i) {
  return from_term(make_unsigned(*env->heap, i));
}

ERL_NIF_TERM enif_make_double(ErlNifEnv* env, double d) {
  const Term t = make_float_checked(*env->heap, d);
  return t.is_value() ? from_term(t) : enif_make_badarg(env);
}

namespace {

Term tuple_of(ErlNifEnv* env, unsigned count) {
  if (count == 0) return empty_tuple();
  Term* object = env->heap->alloc(count + 1);
  *object = Term::header(Term::Sub::kTuple, count);
  return Term::boxed(object);
}

}  // namespace

ERL_NIF_TERM enif_make_atom_len(ErlNifEnv* env, const char* name, size_t length) {
  if (length > kAtomMaxCharacters) return enif_make_badarg(env);
  const Term t = intern_atom(utf8::from_latin1({name, length}));
  return t.is_value() ? from_term(t) : enif_make_badarg(env);
}
ERL_NIF_TERM enif_make_atom(ErlNifEnv* env, const char* name) {
  return enif_make_atom_len(env, name, std::strlen(name));
}

int enif_make_existing_atom_len(ErlNifEnv*, const char* name, size_t length, ERL_NIF_TERM* atom,
                                ErlNifCharEncoding encoding) {
  std::string text;
  if (!atom_name(name, length, encoding, &text)) return 0;
  const Term t = existing_atom(text);
  if (!t.is_value()) return 0;
  *atom = from_term(t);
  return 1;
}
int enif_make_new_atom_len(ErlNifEnv*, const char* name, size_t length, ERL_NIF_TERM* atom,
                           ErlNifCharEncoding encoding) {
  std::string text;
  if (!atom_name(name, length, encoding, &text)) return 0;
  const Term t = intern_atom(text);
  if (!t.is_value()) return 0;
  *atom = from_term(t);
  return 1;
}
int enif_make_new_atom(ErlNifEnv* env, const char* name, ERL_NIF_TERM* atom, ErlNifCharEncoding encoding) {
  return enif_make_new_atom_len(env, name, std::strlen(name), atom, encoding);
}
int enif_make_existing_atom(ErlNifEnv* env, const char* name, ERL_NIF_TERM* atom,
                            ErlNifCharEncoding encoding) {
  return enif_make_existing_atom_len(env, name, std::strlen(name), atom, encoding);
}

ERL_NIF_TERM enif_make_tuple_from_array(ErlNifEnv* env, const ERL_NIF_TERM elements[], unsigned count) {
  const Term t = tuple_of(env, count);
  for (unsigned i = 0; i < count; ++i) t.tuple_elements()[i] = to_term(elements[i]);
  return from_term(t);
}

ERL_NIF_TERM enif_make_tuple(ErlNifEnv* env, unsigned count, ...) {
  const Term t = tuple_of(env, count);
  va_list elements;
  va_start(elements, count);
  for (unsigned i = 0; i < count; ++i) t.tuple_elements()[i] = to_term(va_arg(elements, ERL_NIF_TERM));
  va_end(elements);
  return from_term(t);
}

ERL_NIF_TERM enif_make_list_from_array(ErlNifEnv* env, const ERL_NIF_TERM elements[], unsigned count) {
  Term list = Term::nil();
  Term* hp = env->heap->alloc(2 * Word{count});
  for (unsigned i = count; i-- > 0;) list = make_cons(hp, to_term(elements[i]), list);
  return from_term(list);
}

ERL_NIF_TERM enif_make_list(ErlNifEnv* env, unsigned count, ...) {
  if (count == 0) return from_term(Term::nil());
  Term* hp = env->heap->alloc(2 * Word{count});
  Term* const first = hp;
  va_list elements;
  va_start(elements, count);
  for (unsigned i = 0; i < count; ++i) {
    hp[0] = to_term(va_arg(elements, ERL_NIF_TERM));
    hp[1] = i + 1 < count ? Term::list(hp + 2) : Term::nil();
    hp += 2;
  }
  va_end(elements);
  return from_term(Term::list(first));
}

ERL_NIF_TERM enif_make_list_cell(ErlNifEnv* env, ERL_NIF_TERM head, ERL_NIF_TERM tail) {
  Term* hp = env->heap->alloc(2);
  return from_term(make_cons(hp, to_term(head), to_term(tail)));
}

int enif_make_reverse_list(ErlNifEnv* env, ERL_NIF_TERM in, ERL_NIF_TERM* out) {
  unsigned length;
  if (!enif_get_list_length(env, in, &length)) return 0;
  Term* hp = env->heap->alloc(2 * Word{length});
  Term list = Term::nil();
  for (Term t = to_term(in); t.is_list(); t = t.tail()) list = make_cons(hp, t.head(), list);
  *out = from_term(list);
  return 1;
}

namespace {

/// Bytes that are no UTF-8 make no string: badarg, as OTP has it.
ERL_NIF_TERM string_of_utf8(ErlNifEnv* env, std::string_view text) {
  std::vector<std::uint32_t> characters;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = utf8::decode(text.data() + at, text.size() - at);
    if (!c.size) return enif_make_badarg(env);
    characters.push_back(c.value);
    at += c.size;
  }
  Term* hp = env->heap->alloc(2 * characters.size());
  Term list = Term::nil();
  for (std::size_t i = characters.size(); i-- > 0;) list = make_cons(hp, Term::small(characters[i]), list);
  return from_term(list);
}

}  // namespace

ERL_NIF_TERM enif_make_string_len(ErlNifEnv* env, const char* string, size_t length,
                                  ErlNifCharEncoding encoding) {
  if (encoding == ERL_NIF_UTF8) return string_of_utf8(env, {string, length});
  Term* hp = env->heap->alloc(2 * length);
  Term list = Term::nil();
  for (std::size_t i = length; i-- > 0;)
    list = make_cons(hp, Term::small(static_cast<unsigned char>(string[i])), list);
  return from_term(list);
}
ERL_NIF_TERM enif_make_string(ErlNifEnv* env, const char* string, ErlNifCharEncoding encoding) {
  return enif_make_string_len(env, string, std::strlen(string), encoding);
}

ERL_NIF_TERM enif_make_ref(ErlNifEnv* env) { return from_term(make_ref(*env->heap)); }

ERL_NIF_TERM enif_make_unique_integer(ErlNifEnv* env, ErlNifUniqueInteger properties) {
  const Word n = properties & ERL_NIF_UNIQUE_MONOTONIC ? next_monotonic_integer() : next_unique_integer();
  return from_term(unique_integer_term(*env->heap, n, properties & ERL_NIF_UNIQUE_POSITIVE));
}

// ---- Exceptions ---------------------------------------------------------------------------------

ERL_NIF_TERM enif_raise_exception(ErlNifEnv* env, ERL_NIF_TERM reason) {
  if (env->process) {
    raise_error(*env->process, to_term(reason));
    env->raised = env->unfinished = true;
  }
  return from_term(kNonValue);
}

ERL_NIF_TERM enif_make_badarg(ErlNifEnv* env) { return enif_raise_exception(env, from_term(atoms::badarg)); }

int enif_has_pending_exception(ErlNifEnv* env, ERL_NIF_TERM* reason) {
  if (env->raised && reason) *reason = from_term(env->process->exception_value);
  return env->raised;
}
