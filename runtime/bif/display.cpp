// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/display.hpp"

#include "runtime/bif/support.hpp"
#include "vm/base/crlf.hpp"
#include "vm/process/dirty_job.hpp"
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

/// Writes the characters of a list to standard error; display/1 writes to standard output.
Term bif_erlang_display_string_1(Process& p, const Term* a) {
  std::string text;
  if (!a[0].is_cons_or_nil() || !list_to_utf8(a[0], &text)) return raise_badarg(p);
  write_past_io(text, stderr);
  return atoms::true_;
}
Term bif_erlang_display_nl_0(Process&, const Term*) {
  write_past_io("\n", stderr);
  return atoms::true_;
}

}  // namespace vmrun
