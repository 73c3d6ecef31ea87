#include <algorithm>
#include <cstring>

#include "probes/probes.hpp"
#include "runtime/bif/iolist.hpp"
#include "runtime/bif/support.hpp"
#include "vm/message/carried.hpp"
#include "vm/term/big.hpp"
#include "vm/term/map.hpp"

/// The probes programs fire themselves: user_trace-n0 … n950, -i4s4, -s1. What the module dyntrace
/// is made of. Nothing is built on a heap, and a caller learns whether somebody looked.
namespace vmrun {
namespace {

constexpr Word kMostBytes = 1024;
constexpr unsigned kIntegers = 4, kStrings = 4;
constexpr SWord kProbes = 951, kLabels = 1024;

/// An iolist of at most kMostBytes, NUL-terminated on the stack; nullptr for anything else.
class UserText {
 public:
  explicit UserText(Term t) {
    const SWord bits = t.is_cons_or_nil() || t.is_bitstring() ? iodata_bits(t, true) : -1;
    if (bits < 0 || static_cast<Word>(bits) > kMostBytes * 8) return;
    char* next = bytes_;
    walk_iodata(
        t, [&](std::uint8_t b) { *next++ = static_cast<char>(b); },
        [&](Term binary) {
          const BytesOf bytes(binary);
          std::memcpy(next, bytes.data(), bytes.size());
          next += bytes.size();
          return true;
        });
    *next = 0;
    text_ = bytes_;
  }
  operator const char*() const { return text_; }

 private:
  const char* text_ = nullptr;
  char bytes_[kMostBytes + 1];
};

std::int64_t user_integer(Term t) {
  std::int64_t n;
  return integer_to_int64(t, &n) ? n : 0;
}

/// args: tag, four integers, four strings; an atom stands for what is absent.
template <class Fire>
Term fire_user_trace(Process& p, const Term* a, Fire fire) {
  const UserText tag(a[0]), s1(a[5]), s2(a[6]), s3(a[7]), s4(a[8]);
  fire(PidText(p.id), tag, user_integer(a[1]), user_integer(a[2]), user_integer(a[3]), user_integer(a[4]), s1,
       s2, s3, s4);
  return atoms::true_;
}

/// dyntrace:p and pn: integers as long as they come first, four at most, then strings. (The module
/// has seen to it that four places for strings are enough.)
void sort_arguments(Process& p, Term list, Term* sorted) {
  std::fill_n(sorted, 1 + kIntegers + kStrings, atoms::undefined);
  sorted[0] = own_tag(p).is_nil() ? atoms::undefined : own_tag(p);
  unsigned n = 0;
  for (; n < kIntegers && list.is_list() && list.head().is_integer(); list = list.tail())
    sorted[1 + n++] = list.head();
  for (n = 0; n < kStrings && list.is_list(); list = list.tail()) sorted[1 + kIntegers + n++] = list.head();
}

Term user_trace_i4s4(Process& p, const Term* a) {
  if (!probe::kCompiledIn) return atoms::error;
  if (!probe::user_trace_i4s4_enabled()) return atoms::false_;
  return fire_user_trace(p, a, probe::user_trace_i4s4);
}

Term user_trace_n(Process& p, Term label, const Term* a) {
  SWord n;
  if (!probe::kCompiledIn) return atoms::error;
  if (!small_in_range(label, 0, kLabels - 1, &n)) return atoms::badarg;
  if (n >= kProbes) return atoms::error;
  const auto number = static_cast<unsigned>(n);
  if (!probe::user_trace_n_enabled(number)) return atoms::false_;
  return fire_user_trace(p, a, [&](auto&&... arguments) { probe::user_trace_n(number, arguments...); });
}

}  // namespace

Term bif_dyntrace_available_0(Process&, const Term*) { return bool_term(probe::kCompiledIn); }

Term bif_dyntrace_user_trace_i4s4_9(Process& p, const Term* a) { return user_trace_i4s4(p, a); }
Term bif_dyntrace_user_trace_n_10(Process& p, const Term* a) { return user_trace_n(p, a[0], a + 1); }
Term bif_dyntrace_user_trace_s1_1(Process&, const Term* a) {
  if (!probe::kCompiledIn) return atoms::error;
  if (!probe::user_trace_s1_enabled()) return atoms::false_;
  const UserText text(a[0]);
  if (!text) return atoms::badarg;
  probe::user_trace_s1(text);
  return atoms::true_;
}

// ---- The functions of a tracer module -----------------------------------------------------------
// The machine fires the probes itself for the tracer {dyntrace, State}; programs may call these all
// the same.

namespace {

bool is_sequential(Term tag) { return tag == atoms::seq_trace; }
bool tag_enabled(Term tag) {
  return is_sequential(tag) ? probe::trace_seq_enabled() : probe::trace_enabled();
}

}  // namespace

Term bif_dyntrace_enabled_3(Process&, const Term* a) {
  static const Term discard = intern_atom("discard");
  return tag_enabled(a[0]) ? atoms::trace : discard;
}

/// trace(Tag, State, Tracee, Term, #{extra => Term}); for seq_trace the tracee is the label.
Term bif_dyntrace_trace_5(Process& p, const Term* a) {
  static const Term extra_key = intern_atom("extra");
  if (!a[0].is_atom() || !a[4].is_map()) return raise_badarg(p);
  if (!tag_enabled(a[0])) return atoms::ok;
  const TermText<256> state(a[1]), tracee(a[2]);
  if (is_sequential(a[0])) {
    probe::trace_seq(state, tracee, TermText<768>(a[3]));
    return atoms::ok;
  }
  char event[256];
  BoundedText(event, sizeof event).put(atom_text(a[0]));
  const Term extra = map_get(a[4], extra_key);
  if (extra) probe::trace(tracee, event, state, TermText<256>(a[3]), TermText<256>(extra));
  else probe::trace(tracee, event, state, TermText<256>(a[3]), nullptr);
  return atoms::ok;
}

Term bif_vmrun_trace_p_1(Process& p, const Term* a) {
  Term sorted[1 + kIntegers + kStrings];
  sort_arguments(p, a[0], sorted);
  return user_trace_i4s4(p, sorted);
}
Term bif_vmrun_trace_pn_2(Process& p, const Term* a) {
  Term sorted[1 + kIntegers + kStrings];
  sort_arguments(p, a[1], sorted);
  return user_trace_n(p, a[0], sorted);
}

}  // namespace vmrun
