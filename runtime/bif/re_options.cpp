// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/re_options.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "runtime/bif/support.hpp"
#include "vm/base/release.hpp"
#include "vm/term/bits.hpp"

namespace vmrun::regex {

namespace {

enum class Kind : std::uint8_t {
  kCompile,
  kExport,
  kRun,
  kBoth,
  kNewline,
  kBsr,
  kGlobal,
  kReportErrors,
  kOffset,
  kMatchLimit,
  kDepthLimit,
  kCapture
};

struct OptionRow {
  const char* text;
  Kind kind;
  bool pair = false;
  std::uint32_t value = 0;
};

constexpr OptionRow kOptions[] = {
    {"unicode", Kind::kCompile, false, PCRE2_UTF},
    {"caseless", Kind::kCompile, false, PCRE2_CASELESS},
    {"dollar_endonly", Kind::kCompile, false, PCRE2_DOLLAR_ENDONLY},
    {"dotall", Kind::kCompile, false, PCRE2_DOTALL},
    {"dupnames", Kind::kCompile, false, PCRE2_DUPNAMES},
    {"extended", Kind::kCompile, false, PCRE2_EXTENDED},
    {"firstline", Kind::kCompile, false, PCRE2_FIRSTLINE},
    {"multiline", Kind::kCompile, false, PCRE2_MULTILINE},
    {"never_utf", Kind::kCompile, false, PCRE2_NEVER_UTF},
    {"no_auto_capture", Kind::kCompile, false, PCRE2_NO_AUTO_CAPTURE},
    {"no_start_optimize", Kind::kCompile, false, PCRE2_NO_START_OPTIMIZE},
    {"ucp", Kind::kCompile, false, PCRE2_UCP},
    {"ungreedy", Kind::kCompile, false, PCRE2_UNGREEDY},
    {"export", Kind::kExport},
    {"anchored", Kind::kBoth, false, PCRE2_ANCHORED},
    {"newline", Kind::kNewline, true},
    {"bsr_anycrlf", Kind::kBsr, false, PCRE2_BSR_ANYCRLF},
    {"bsr_unicode", Kind::kBsr, false, PCRE2_BSR_UNICODE},
    {"notbol", Kind::kRun, false, PCRE2_NOTBOL},
    {"noteol", Kind::kRun, false, PCRE2_NOTEOL},
    {"notempty", Kind::kRun, false, PCRE2_NOTEMPTY},
    {"notempty_atstart", Kind::kRun, false, PCRE2_NOTEMPTY_ATSTART},
    {"global", Kind::kGlobal},
    {"report_errors", Kind::kReportErrors},
    {"offset", Kind::kOffset, true},
    {"match_limit", Kind::kMatchLimit, true},
    {"match_limit_recursion", Kind::kDepthLimit, true},
    {"capture", Kind::kCapture, true},
};

struct Named {
  const char* text;
  std::uint32_t value;
};
constexpr Named kNewlines[] = {{"cr", PCRE2_NEWLINE_CR},
                               {"lf", PCRE2_NEWLINE_LF},
                               {"crlf", PCRE2_NEWLINE_CRLF},
                               {"any", PCRE2_NEWLINE_ANY},
                               {"anycrlf", PCRE2_NEWLINE_ANYCRLF}};
constexpr Named kWhats[] = {{"none", static_cast<std::uint32_t>(What::kNone)},
                            {"all", static_cast<std::uint32_t>(What::kAll)},
                            {"all_but_first", static_cast<std::uint32_t>(What::kAllButFirst)},
                            {"first", static_cast<std::uint32_t>(What::kFirst)},
                            {"all_names", static_cast<std::uint32_t>(What::kNames)}};
constexpr Named kTypes[] = {{"index", static_cast<std::uint32_t>(Type::kIndex)},
                            {"list", static_cast<std::uint32_t>(Type::kList)},
                            {"binary", static_cast<std::uint32_t>(Type::kBinary)}};

template <std::size_t n>
std::optional<std::uint32_t> named(const Named (&table)[n], Term t) {
  for (const Named& row : table)
    if (t == intern_atom(row.text)) return row.value;
  return std::nullopt;
}

const OptionRow* find_option(Term name, bool pair) {
  static const auto atoms = [] {
    std::array<Term, std::size(kOptions)> a;
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = intern_atom(kOptions[i].text);
    return a;
  }();
  for (std::size_t i = 0; i < atoms.size(); ++i)
    if (name == atoms[i] && kOptions[i].pair == pair) return &kOptions[i];
  return nullptr;
}

bool is_integer_or_name(Term t) {
  return (t.is_small() && t.small_value() >= 0) || t.is_atom() || is_binary(t) || t.is_list() || t.is_nil();
}

bool parse_capture(Term spec, Options* o) {
  if (spec.is_list()) {
    for (Term l = spec; !l.is_nil(); l = l.tail())
      if (!l.is_list() || !is_integer_or_name(l.head())) return false;
    o->what = What::kList;
    o->wanted = spec;
    return true;
  }
  const auto what = spec.is_nil() ? static_cast<std::uint32_t>(What::kNone) : named(kWhats, spec);
  if (!what) return false;
  o->what = static_cast<What>(*what);
  return true;
}

bool parse_limit(Term t, std::optional<std::uint32_t>* out) {
  SWord n;
  if (!small_in_range(t, 0, UINT32_MAX, &n)) return false;
  *out = static_cast<std::uint32_t>(n);
  return true;
}

bool parse_option(Term option, Options* o) {
  const bool pair = option.is_tuple() && option.tuple_arity() >= 2;
  const OptionRow* row = find_option(pair ? option.element(0) : option, pair);
  if (!row) return false;
  if (pair && row->kind == Kind::kCapture && option.tuple_arity() == 3) {
    const auto type = named(kTypes, option.element(2));
    if (!type) return false;
    o->type = static_cast<Type>(*type);
  } else if (pair && option.tuple_arity() != 2) {
    return false;
  }
  const Term value = pair ? option.element(1) : option;
  (row->kind == Kind::kCompile || row->kind == Kind::kExport ? o->compile_only : o->run_only) |=
      row->kind != Kind::kBoth && row->kind != Kind::kNewline && row->kind != Kind::kBsr;
  switch (row->kind) {
    case Kind::kCompile: o->syntax.options |= row->value; return true;
    case Kind::kExport: return o->exported = release_number >= 28;
    case Kind::kRun: o->match |= row->value; return true;
    case Kind::kBoth:
      o->syntax.options |= row->value;
      o->match |= row->value;
      return true;
    case Kind::kNewline: {
      const auto newline = named(kNewlines, value);
      o->syntax.newline = newline.value_or(0);
      return newline.has_value();
    }
    case Kind::kBsr: o->syntax.bsr = row->value; return true;
    case Kind::kGlobal: return o->global = true;
    case Kind::kReportErrors: return o->report_errors = true;
    case Kind::kOffset: return small_in_range(value, 0, SWord{1} << 48, &o->offset);
    case Kind::kMatchLimit: return parse_limit(value, &o->match_limit);
    case Kind::kDepthLimit: return parse_limit(value, &o->depth_limit);
    case Kind::kCapture: return parse_capture(value, o);
  }
  return false;
}

}  // namespace

bool parse_options(Term list, Options* o) {
  for (; list.is_list(); list = list.tail())
    if (!parse_option(list.head(), o)) return false;
  return list.is_nil();
}

std::uint32_t all_compile_options() {
  std::uint32_t all = 0;
  for (const OptionRow& row : kOptions)
    if (row.kind == Kind::kCompile || row.kind == Kind::kBoth) all |= row.value;
  return all;
}

}  // namespace vmrun::regex
