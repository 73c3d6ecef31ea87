// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/display.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/crlf.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/print.hpp"

namespace vmrun {
namespace {

/// Writes the text of a term and a line end, and returns it. Returns "" when the text is long and
/// this thread is not a dirty scheduler.
std::string displayed(Term t) {
  constexpr std::size_t kMostHere = 50'000;
  const bool here = dirty_thread_kind() == DirtyKind::kNone;
  std::string text = here ? term_text(t, kMostHere) : term_text(t);
  if (here && text.size() > kMostHere - 4) return {};
  text += '\n';
  write_past_io(text);
  return text;
}

}  // namespace

void write_past_io(std::string_view text, std::FILE* to) {
  const std::string lines = with_crlf(text);
  std::fwrite(lines.data(), 1, lines.size(), to);
  std::fflush(to);
}

Term bif_erlang_display_1(Process& p, const Term* a) {
  return displayed(a[0]).empty() ? run_on_dirty(p, bif_erlang_display_1, a, 1) : atoms::true_;
}

/// Returns the text that it has written.
Term bif_erts_debug_display_1(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_erts_debug_display_1, a, 1);
  const std::string text = displayed(a[0]);
  return text.empty() ? run_on_dirty(p, bif_erts_debug_display_1, a, 1) : text_list(p.heap, text);
}

/// (Term, Limit): the characters that display/1 would write, up to a limit (term_text_of_limit).
Term bif_erts_internal_term_to_string_2(Process& p, const Term* a) {
  constexpr long kMostHere = 20'000;
  SWord limit = INT_MAX;
  if (a[1] != atoms::undefined && !small_in_range(a[1], 2, INT_MAX - 1, &limit)) return raise_badarg(p);
  const bool here = dirty_thread_kind() == DirtyKind::kNone;
  const std::string text = term_text_of_limit(a[0], here ? std::min<long>(limit, kMostHere) : limit);
  if (here && limit > kMostHere && text.ends_with("... "))
    return run_on_dirty(p, bif_erts_internal_term_to_string_2, a, 2);
  return text_list(p.heap, text);
}

namespace {

/// What display_string writes.
void write_string(const std::string& text, std::FILE* to) {
  if (!release_has(Trait::kRawDisplayStrings)) return write_past_io(text, to);
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

}  // namespace

/// Writes the characters of a list to standard error; display/1 writes to standard output.
Term bif_erlang_display_string_1(Process& p, const Term* a) {
  std::string text;
  if (!a[0].is_cons_or_nil() || !list_to_utf8(a[0], &text)) return raise_badarg(p);
  write_string(text, stderr);
  return atoms::true_;
}

namespace {

/// Puts the bytes into the input of the controlling terminal, as if they had been typed.
bool type_in(std::string_view bytes) {
  const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC);
  if (terminal < 0) return false;
  const bool done =
      std::ranges::all_of(bytes, [=](const char& c) { return ioctl(terminal, TIOCSTI, &c) == 0; });
  close(terminal);
  return done;
}

}  // namespace

/// (stdin | stdout | stderr, Characters | Bytes).
Term bif_erlang_display_string_2(Process& p, const Term* a) {
  static const Term in = intern_atom("stdin"), out = intern_atom("stdout"), err = intern_atom("stderr");
  if (a[0] != in && a[0] != out && a[0] != err) return raise_badarg(p);
  std::string text;
  if (is_binary(a[1])) {
    const BytesOf bytes(a[1]);
    if (too_long(bytes.size() / kBytesPerStep)) return run_on_dirty(p, bif_erlang_display_string_2, a, 2);
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else {
    SWord length;
    if (!length_here(a[1], &length)) return run_on_dirty(p, bif_erlang_display_string_2, a, 2);
    if (length < 0 || !list_to_utf8(a[1], &text)) return raise_badarg(p);
  }
  if (a[0] == in) return type_in(text) ? atoms::true_ : raise_badarg(p);
  write_string(text, a[0] == out ? stdout : stderr);
  return atoms::true_;
}
Term bif_erlang_display_nl_0(Process&, const Term*) {
  write_past_io("\n", stderr);
  return atoms::true_;
}

}  // namespace vmrun
