// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/bif/internal_state.hpp"
#include "runtime/bif/re_pattern.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/term/bits.hpp"

/// re:compile, inspect and run, implemented by PCRE2. replace and split are in runtime/lib/re.erl.
namespace vmrun {

using namespace regex;

/// Takes some milliseconds.
LoopLimit re_loop_limit{usual_or_small<SWord>(40000, 400)};

namespace {

// An exported pattern is {re_exported_pattern, Head, Text, Options, Code} and can be read by every
// node of OTP 28 or later. The head is "re-PCRE2", a checksum of Code, the version of its encoding,
// and whether the pattern is Unicode. Code is the library's own. In version 0 there is no code, and
// the reader compiles the text. So a code of another machine, which cannot be checked, is never
// executed here.

constexpr std::string_view kExportedMark = "re-PCRE2";
constexpr std::size_t kExportedHeadBytes = 14;

Term exported_term(Process& p, const pcre2_code* code, const std::string& text, Term options) {
  std::string head(kExportedMark);
  head.append(kExportedHeadBytes - 1 - head.size(), '\0');
  head += static_cast<char>(is_of_characters(code));
  return new_tuple(p.heap, intern_atom("re_exported_pattern"), text_binary(p.heap, head),
                   text_binary(p.heap, text), options, text_binary(p.heap, ""));
}

Term compile_bif(Process& p, const Term* a, unsigned arity, BifFn self) {
  Options o;
  std::string text;
  bool used_up = false;
  if ((arity == 2 && !parse_options(a[1], &o)) || o.run_only || !pattern_text(p, a[0], o, &text, &used_up))
    return used_up ? run_on_dirty(p, self, a, arity) : raise_badarg(p);
  CompileError error;
  Code code = compile(p, text, o.syntax, &error);
  if (!code) return error.code ? error_tuple(p, error) : raise_system_limit(p);
  if (o.exported) return new_tuple(p.heap, atoms::ok, exported_term(p, code.get(), text, a[1]));
  return new_tuple(p.heap, atoms::ok, pattern_term(p, o.syntax, text, std::move(code)));
}

// ---- Running ------------------------------------------------------------------------------------

using RunContext = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>>;

/// One call of re:run: the subject to search, and the form of its results.
class Run {
 public:
  Run(Process& p, const pcre2_code* code, const Options& o, Term subject)
      : p_(p),
        code_(code),
        o_(o),
        subject_(subject),
        bytes_(subject),
        unicode_(is_unicode(code)),
        of_characters_(is_of_characters(code)),
        data_(pcre2_match_data_create_from_pattern(code, nullptr)) {
    if (steps_here() == static_cast<SWord>(kStepsOnScheduler)) {
      on_scheduler_ = true;
      limit_ = static_cast<std::uint32_t>(re_loop_limit);
      limited_ = !o.match_limit || *o.match_limit > limit_;
      // Partial matching tells when a match would have gone beyond the beginning.
      cut_ = too_long((bytes_.size() - std::min(bytes_.size(), static_cast<Word>(o.offset))) / kBytesPerStep);
    }
    if (limited_ && !o.depth_limit) {
      thread_local const RunContext few(pcre2_match_context_create(nullptr));
      shared_context_ = few.get();
      if (shared_context_) pcre2_set_match_limit(shared_context_, limit_);
    } else if (limited_ || o.match_limit || o.depth_limit) {
      context_.reset(pcre2_match_context_create(nullptr));
      if (context_ && limited_) pcre2_set_match_limit(context_.get(), limit_);
      else if (context_ && o.match_limit) pcre2_set_match_limit(context_.get(), *o.match_limit);
      if (context_ && o.depth_limit) pcre2_set_depth_limit(context_.get(), *o.depth_limit);
    }
  }

  Term run() {
    if (!data_ || static_cast<Word>(o_.offset) > bytes_.size() || !find_wanted()) return raise_badarg(p_);
    if (cut_ && (o_.global || unicode_)) return stop();
    return o_.global ? all() : once();
  }
  /// Whether matching takes longer than a scheduler may run; run() then has no result.
  bool stopped() const { return stopped_; }

 private:
  Term stop() {
    stopped_ = true;
    return kNonValue;
  }

  /// Returns the result of pcre2_match. A scheduler searches only the beginning of a long subject:
  /// a match that would have gone beyond it is a partial one.
  int match(Word at, std::uint32_t flags) {
    static const std::uint8_t nothing = 0;
    Word size = bytes_.size();
    if (cut_) {
      size = at + kStepsOnScheduler * kBytesPerStep;
      flags |= PCRE2_PARTIAL_HARD;
    }
    const int rc = pcre2_match(code_, size ? bytes_.data() : &nothing, size, at, o_.match | flags,
                               data_.get(), shared_context_ ? shared_context_ : context_.get());
    if ((cut_ && (rc == PCRE2_ERROR_NOMATCH || rc == PCRE2_ERROR_PARTIAL)) ||
        (limited_ && rc == PCRE2_ERROR_MATCHLIMIT))
      stopped_ = true;
    const Word end = rc > 0 ? pcre2_get_ovector_pointer(data_.get())[1] : bytes_.size();
    charge(p_, static_cast<SWord>(end > at ? end - at : 0) + 8);
    return rc;
  }

  Term once() {
    const int rc = match(static_cast<Word>(o_.offset), 0);
    if (stopped_) return kNonValue;
    if (rc < 0) return not_found(rc);
    return shows_nothing() ? match_atom() : new_tuple(p_.heap, match_atom(), captured(rc));
  }

  /// Whether a scheduler has been busy with many matches for too long. PCRE2 does not tell how much
  /// it does for one, so this reads the clock.
  bool takes_long() {
    constexpr unsigned kEvery = 8;
    constexpr Word kMostNs = 1'000'000;
    if (!on_scheduler_ || ++matches_ % kEvery != 0) return false;
    const Word now = monotonic_ns();
    if (began_ns_ == 0) began_ns_ = now;
    return now - began_ns_ > kMostNs;
  }

  Term all() {
    ListBuilder found(p_.heap);
    bool any = false;
    std::uint32_t flags = 0;
    // After the first match the subject is known to be UTF-8.
    for (Word at = static_cast<Word>(o_.offset);; flags |= PCRE2_NO_UTF_CHECK) {
      const int rc = match(at, flags);
      if (stopped_ || takes_long()) return stop();
      constexpr std::uint32_t kRetryFlags = PCRE2_NOTEMPTY_ATSTART | PCRE2_ANCHORED;
      if (rc == PCRE2_ERROR_NOMATCH) {
        if (!(flags & kRetryFlags) || at >= bytes_.size()) break;
        at = next_character(at);
        flags = 0;
        continue;
      }
      if (rc < 0) {
        if (any && !o_.report_errors) break;
        return not_found(rc);
      }
      any = true;
      if (!shows_nothing()) found.add(captured(rc));
      // After an empty match a longer one may begin at the same place.
      const std::size_t* range = pcre2_get_ovector_pointer(data_.get());
      flags = range[0] == range[1] || range[1] <= at ? kRetryFlags : 0;
      at = range[1];
    }
    if (!any) return intern_atom("nomatch");
    return shows_nothing() ? match_atom() : new_tuple(p_.heap, match_atom(), found.finish());
  }

  Word next_character(Word at) const {
    const std::uint8_t* b = bytes_.data();
    if (b[at] == '\r' && at + 1 < bytes_.size() && b[at + 1] == '\n' && uses_crlf(code_)) return at + 2;
    ++at;
    while (unicode_ && at < bytes_.size() && (b[at] & 0xC0) == 0x80) ++at;
    return at;
  }

  Term not_found(int rc) {
    const char* limit = rc == PCRE2_ERROR_MATCHLIMIT ? "match_limit"
                        : rc == PCRE2_ERROR_DEPTHLIMIT || rc == PCRE2_ERROR_HEAPLIMIT
                            ? "match_limit_recursion"
                            : nullptr;
    if (limit && o_.report_errors) return new_tuple(p_.heap, atoms::error, intern_atom(limit));
    if (limit || rc == PCRE2_ERROR_NOMATCH) return intern_atom("nomatch");
    if (rc == PCRE2_ERROR_NOMEMORY) return raise_system_limit(p_);
    return raise_badarg(p_);  // not UTF-8, or the offset is inside of a character
  }

  static Term match_atom() {
    static const Term kMatch = intern_atom("match");
    return kMatch;
  }

  bool shows_nothing() const {
    return o_.what == What::kNone || (o_.what == What::kNames && wanted_.empty());
  }

  /// Resolves numbers and names to groups. If several groups share a name, the one that was set
  /// counts. Returns false for a term that cannot name a group.
  bool find_wanted() {
    if (o_.what != What::kNames && o_.what != What::kList) return true;
    const std::vector<GroupName> names = group_names(code_);
    if (o_.what == What::kNames) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (i == 0 || names[i].name != names[i - 1].name) wanted_.emplace_back();
        wanted_.back().push_back(names[i].group);
      }
      return true;
    }
    for (Term l = o_.wanted; l.is_list(); l = l.tail()) {
      wanted_.emplace_back();
      const Term one = l.head();
      if (one.is_small()) {
        wanted_.back().push_back(static_cast<std::uint32_t>(std::min<SWord>(one.small_value(), UINT32_MAX)));
        continue;
      }
      std::string text;
      if (one.is_atom()) {
        text = atom_text(one);
      } else {
        bool used_up;  // then it is longer than any name
        const Term binary = text_argument(p_, one, of_characters_, &used_up);
        if (binary == kNonValue) return false;
        const BytesOf b(binary);
        text.assign(reinterpret_cast<const char*>(b.data()), b.size());
      }
      for (const GroupName& n : names)
        if (n.name == text) wanted_.back().push_back(n.group);
    }
    return true;
  }

  Term captured(int rc) {
    const auto set = static_cast<std::uint32_t>(rc);
    ListBuilder list(p_.heap);
    if (o_.what == What::kNames || o_.what == What::kList) {
      for (const auto& groups : wanted_) {
        std::uint32_t shown = groups.empty() ? UINT32_MAX : groups[0];
        for (const std::uint32_t g : groups)
          if (is_set(g, set)) {
            shown = g;
            break;
          }
        list.add(show(shown, set));
      }
      return list.finish();
    }
    const std::uint32_t end = o_.what == What::kFirst ? 1 : set;
    for (std::uint32_t g = o_.what == What::kAllButFirst ? 1 : 0; g < end; ++g) list.add(show(g, set));
    return list.finish();
  }

  bool is_set(std::uint32_t group, std::uint32_t set) const {
    return group < set && pcre2_get_ovector_pointer(data_.get())[2 * group] != PCRE2_UNSET;
  }

  Term show(std::uint32_t group, std::uint32_t set) {
    const bool there = is_set(group, set);
    const std::size_t* range = pcre2_get_ovector_pointer(data_.get()) + (there ? 2 * std::size_t{group} : 0);
    const Word from = there ? range[0] : 0, length = there ? range[1] - range[0] : 0;
    switch (o_.type) {
      case Type::kIndex:
        return new_tuple(p_.heap, Term::small(there ? static_cast<SWord>(from) : -1),
                         Term::small(static_cast<SWord>(length)));
      case Type::kBinary: return make_part(p_.heap, subject_, from * 8, length * 8);
      case Type::kList: break;
    }
    if (!of_characters_) return byte_list(p_.heap, bytes_.data() + from, length);
    return code_point_list(p_.heap, {reinterpret_cast<const char*>(bytes_.data()) + from, length});
  }

  Process& p_;
  const pcre2_code* code_;
  const Options& o_;
  const Term subject_;
  const BytesOf bytes_;
  const bool unicode_, of_characters_;
  bool on_scheduler_ = false;
  std::uint32_t limit_ = 0;  // what PCRE2 may count in one match on a scheduler
  bool limited_ = false;     // limit_ applies
  bool cut_ = false;         // only the beginning of the subject is searched
  bool stopped_ = false;
  unsigned matches_ = 0;
  Word began_ns_ = 0;                              // when the first few matches were made
  pcre2_match_context* shared_context_ = nullptr;  // the thread's, with that limit
  MatchData data_;
  RunContext context_;
  std::vector<std::vector<std::uint32_t>> wanted_;  // for each value to return, the groups it may come from
};

Term run_bif(Process& p, const Term* a, unsigned arity, BifFn self) {
  if (came_back(p)) return run_on_dirty(p, self, a, arity);  // the clock might lead to another decision now
  const Term subject = a[0], expression = a[1], options = arity == 3 ? a[2] : Term::nil();
  bool used_up;
  Options o;
  if (!parse_options(options, &o)) return raise_badarg(p);
  Code compiled;
  const pcre2_code* code;
  CompileError error;
  if (is_pattern(expression)) {
    if (o.compile_only) return raise_badarg(p);
    const auto pattern = pattern_of(p, expression, &used_up);
    if (!pattern) return used_up ? run_on_dirty(p, self, a, arity) : raise_badarg(p);
    code = pattern->code;
    const std::uint32_t newline = info(code, PCRE2_INFO_NEWLINE), bsr = info(code, PCRE2_INFO_BSR);
    const Syntax& asked = o.syntax;
    if ((asked.newline && asked.newline != newline) || (asked.bsr && asked.bsr != bsr)) {
      compiled = compile(
          p, std::string(pattern->text),
          {pattern->syntax.options, asked.newline ? asked.newline : newline, asked.bsr ? asked.bsr : bsr},
          &error);
      if (!compiled) return raise_system_limit(p);
      code = compiled.get();
    }
  } else {
    std::string text;
    if (!pattern_text(p, expression, o, &text, &used_up))
      return used_up ? run_on_dirty(p, self, a, arity) : raise_badarg(p);
    compiled = compile(p, text, o.syntax, &error);
    if (!compiled) {
      if (!error.code || !o.report_errors) return raise_badarg(p);
      const Term why = error_tuple(p, error);
      return new_tuple(p.heap, atoms::error, new_tuple(p.heap, intern_atom("compile"), why.element(1)));
    }
    code = compiled.get();
  }
  const Term binary = text_argument(p, subject, is_of_characters(code), &used_up);
  if (binary == kNonValue) return used_up ? run_on_dirty(p, self, a, arity) : raise_badarg(p);
  Run run(p, code, o, binary);
  const Term result = run.run();
  return run.stopped() ? run_on_dirty(p, self, a, arity) : result;
}

}  // namespace

Term re_compile_cause(Process&, unsigned, const Term* a) {
  Options o;
  return parse_options(a[1], &o) && !o.run_only ? kNonValue : atoms::badopt;
}

Term re_run_cause(Process&, unsigned, const Term* a) {
  Options o;
  return parse_options(a[2], &o) ? kNonValue : atoms::badopt;
}

Term bif_re_compile_1(Process& p, const Term* a) { return compile_bif(p, a, 1, bif_re_compile_1); }
Term bif_re_compile_2(Process& p, const Term* a) { return compile_bif(p, a, 2, bif_re_compile_2); }
Term bif_re_run_2(Process& p, const Term* a) { return run_bif(p, a, 2, bif_re_run_2); }
Term bif_re_run_3(Process& p, const Term* a) { return run_bif(p, a, 3, bif_re_run_3); }

Term bif_re_import_1(Process& p, const Term* a) {
  const Term t = a[0];
  if (!t.is_tuple() || t.tuple_arity() != 5 || t.element(0) != intern_atom("re_exported_pattern") ||
      !is_binary(t.element(1)) || !is_binary(t.element(2)))
    return raise_badarg(p);
  const BytesOf head(t.element(1));
  if (head.size() < kExportedHeadBytes ||
      !std::equal(kExportedMark.begin(), kExportedMark.end(), head.data()))
    return raise_badarg(p);
  Options o;
  std::string text;
  bool used_up = false;
  if (!parse_options(t.element(3), &o) || o.run_only || !pattern_text(p, t.element(2), o, &text, &used_up))
    return used_up ? run_on_dirty(p, bif_re_import_1, a, 1) : raise_badarg(p);
  CompileError error;
  Code code = compile(p, text, o.syntax, &error);
  if (!code) return error.code ? raise_badarg(p) : raise_system_limit(p);
  return pattern_term(p, o.syntax, text, std::move(code));
}

/// (Subject, Pattern, Options, whether the program itself has called it).
Term bif_re_internal_run_4(Process& p, const Term* a) {
  if (a[3] != atoms::true_ && a[3] != atoms::false_) return raise_badarg(p);
  return run_bif(p, a, 3, bif_re_run_3);
}
/// The version of the library that matches.
Term bif_re_version_0(Process& p, const Term*) {
  char text[64];  // pcre2api(3) asks for 24 bytes at least
  pcre2_config(PCRE2_CONFIG_VERSION, text);
  return text_binary(p.heap, text);
}

/// {namelist, Names}
Term bif_re_inspect_2(Process& p, const Term* a) {
  const Term namelist = intern_atom("namelist");
  if (!is_pattern(a[0]) || a[1] != namelist) return raise_badarg(p);
  bool used_up;
  const auto pattern = pattern_of(p, a[0], &used_up);
  if (!pattern) return used_up ? run_on_dirty(p, bif_re_inspect_2, a, 2) : raise_badarg(p);
  ListBuilder list(p.heap);
  std::string_view last;
  for (const GroupName& n : group_names(pattern->code)) {
    if (n.name != last) list.add(text_binary(p.heap, n.name));
    last = n.name;
  }
  return new_tuple(p.heap, namelist, list.finish());
}

}  // namespace vmrun
