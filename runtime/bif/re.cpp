#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

#include "runtime/bif/internal_state.hpp"
#include "runtime/bif/iolist.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/unicode.hpp"
#include "runtime/bif/weight.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/term/bits.hpp"

/// re:compile, inspect and run, by PCRE2. replace and split are in runtime/lib/re.erl.
///
/// A compiled pattern is {re_pattern, Captures, Unicode, UseCrlf, Code}. Code is a binary, for
/// programs keep patterns in code, in files and on other nodes: it has the pattern's text and
/// options, and each thread keeps what PCRE2 made of those it has met. So nothing that is made up
/// is ever run.
namespace vmrun {

/// Some milliseconds' worth.
LoopLimit re_loop_limit{usual_or_small<SWord>(40000, 400)};

namespace {

template <auto free>
struct Free {
  void operator()(auto* object) const { free(object); }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Free<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>>;

// ---- Patterns -----------------------------------------------------------------------------------

std::uint32_t info(const pcre2_code* code, std::uint32_t what) {
  std::uint32_t value = 0;
  pcre2_pattern_info(code, what, &value);
  return value;
}

bool is_unicode(const pcre2_code* code) { return info(code, PCRE2_INFO_ALLOPTIONS) & PCRE2_UTF; }

/// Whether \r\n can be one end of a line.
bool uses_crlf(const pcre2_code* code) {
  const std::uint32_t newline = info(code, PCRE2_INFO_NEWLINE);
  return newline == PCRE2_NEWLINE_CRLF || newline == PCRE2_NEWLINE_ANY || newline == PCRE2_NEWLINE_ANYCRLF;
}

/// Classes and cases of single bytes: Latin-1, whatever the locale, as in Erlang's own. PCRE2 makes
/// tables for the C locale; the upper half takes its classes from characters of ASCII that are what
/// they are. The layout is documented in pcre2_internal.h and part of what pcre2_dftables writes
/// for others to link in.
const std::uint8_t* latin1_tables() {
  static const std::uint8_t* const made = [] {
    constexpr unsigned kLower = 0, kFlip = 256, kClasses = 512, kClassCount = 10,
                       kTypes = kClasses + kClassCount * 32;
    auto* tables = const_cast<std::uint8_t*>(pcre2_maketables(nullptr));
    if (!tables) return tables;
    for (unsigned c = 0x80; c < 0x100; ++c) {
      const bool upper = c >= 0xC0 && c <= 0xDE && c != 0xD7;
      const bool lower = (c >= 0xDF && c != 0xF7) || c == 0xAA || c == 0xB5 || c == 0xBA;
      const unsigned like = upper ? 'Z' : lower ? 'z' : c < 0xA0 ? 1 : '!';
      for (unsigned i = 0; i < kClassCount; ++i) {
        std::uint8_t* bits = tables + kClasses + i * 32;
        if (bits[like / 8] >> (like % 8) & 1) bits[c / 8] |= static_cast<std::uint8_t>(1u << (c % 8));
      }
      tables[kTypes + c] = tables[kTypes + like];
      if (upper) {
        tables[kLower + c] = tables[kFlip + c] = static_cast<std::uint8_t>(c + 0x20);
        tables[kFlip + c + 0x20] = static_cast<std::uint8_t>(c);
      }
    }
    return tables;
  }();
  return made;
}

// ---- Options ------------------------------------------------------------------------------------

enum class What : std::uint8_t { kNone, kAll, kAllButFirst, kFirst, kNames, kList };
enum class Type : std::uint8_t { kIndex, kList, kBinary };

struct Options {
  std::uint32_t compile = 0, match = 0, newline = 0, bsr = 0;  // newline and bsr: 0 is what is usual
  bool compile_only = false;                                   // one that does not go with a compiled pattern
  bool run_only = false;                                       // one that does not go with compile/2
  bool global = false, report_errors = false;
  SWord offset = 0;
  std::optional<std::uint32_t> match_limit, depth_limit;
  What what = What::kAll;
  Term wanted;  // kList
  Type type = Type::kIndex;
};

enum class Kind : std::uint8_t {
  kCompile,
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
  (row->kind == Kind::kCompile ? o->compile_only : o->run_only) |=
      row->kind != Kind::kBoth && row->kind != Kind::kNewline && row->kind != Kind::kBsr;
  switch (row->kind) {
    case Kind::kCompile: o->compile |= row->value; return true;
    case Kind::kRun: o->match |= row->value; return true;
    case Kind::kBoth:
      o->compile |= row->value;
      o->match |= row->value;
      return true;
    case Kind::kNewline: {
      const auto newline = named(kNewlines, value);
      o->newline = newline.value_or(0);
      return newline.has_value();
    }
    case Kind::kBsr: o->bsr = row->value; return true;
    case Kind::kGlobal: return o->global = true;
    case Kind::kReportErrors: return o->report_errors = true;
    case Kind::kOffset: return small_in_range(value, 0, SWord{1} << 48, &o->offset);
    case Kind::kMatchLimit: return parse_limit(value, &o->match_limit);
    case Kind::kDepthLimit: return parse_limit(value, &o->depth_limit);
    case Kind::kCapture: return parse_capture(value, o);
  }
  return false;
}

bool parse_options(Term list, Options* o) {
  for (; list.is_list(); list = list.tail())
    if (!parse_option(list.head(), o)) return false;
  return list.is_nil();
}

// ---- Compiling ----------------------------------------------------------------------------------

/// A pattern or subject as a binary; the non-value when it is none, or too long for the calling
/// thread: *used_up. A binary is taken as it is: PCRE2 checks what is to be UTF-8.
Term text_argument(Process& p, Term text, bool unicode, bool* used_up) {
  *used_up = false;
  if (is_binary(text)) return text;
  if (!text.is_cons_or_nil()) return kNonValue;
  Term binary;
  if (unicode) {
    binary = utf8_of_characters(p, text, used_up);
  } else {
    StepsHere steps;
    binary = iodata_to_bitstring(p.heap, text, true, steps);
    *used_up = steps.used_up();
  }
  return binary != kNonValue && is_binary(binary) ? binary : kNonValue;
}

struct CompileError {
  int code = 0;
  std::size_t at = 0;
};

/// As deep as PCRE 8 takes groups that capture.
constexpr std::uint32_t kMostNested = 798;

/// What PCRE 8 takes and PCRE2 refuses: literally - after a class in a class ([\d-z]), and after a
/// backslash a letter, or 8 or 9, without a meaning there; \c before a character that is not
/// printed. Changes the text, so that PCRE2 takes it for the same; false: the error is something
/// else.
bool make_acceptable(std::string* text, const CompileError& error) {
  const auto is = [&](std::size_t i, const char* any) {
    return i < text->size() && (*text)[i] != '\0' && std::strchr(any, (*text)[i]);
  };
  // By number: what is before it may not become one with it.
  const auto escape = [&](std::size_t from, std::size_t count, char c) {
    if (!is(from - 1, "\\")) return false;
    text->replace(from, count, fmt::format("x{:02x}", static_cast<unsigned char>(c)));
    return true;
  };
  const std::size_t at = error.at;
  switch (error.code) {
    case PCRE2_ERROR_CLASS_INVALID_RANGE:
      if (!is(at, "-")) return false;
      text->insert(at, 1, '\\');
      return true;
    case PCRE2_ERROR_BAD_SUBPATTERN_REFERENCE: return is(at, "89") && escape(at, 1, (*text)[at]);
    case PCRE2_ERROR_UNSUPPORTED_ESCAPE_SEQUENCE: return is(at - 1, "F") && escape(at - 1, 1, 'F');
    case PCRE2_ERROR_UNKNOWN_ESCAPE:
    case PCRE2_ERROR_ESCAPE_INVALID_IN_CLASS: return at < text->size() && escape(at, 1, (*text)[at]);
    case PCRE2_ERROR_BACKSLASH_C_SYNTAX:
      return is(at - 1, "c") && at < text->size() && !((*text)[at] & 0x80) &&
             escape(at - 1, 2, (*text)[at] ^ 0x40);
    default: return false;
  }
}

/// Null with error->code 0: no memory.
Code compile(Process& p, std::string text, std::uint32_t options, std::uint32_t newline, std::uint32_t bsr,
             CompileError* error) {
  CompileContext context(pcre2_compile_context_create(nullptr));
  if (!context || !latin1_tables()) return nullptr;
  pcre2_set_character_tables(context.get(), latin1_tables());
  pcre2_set_newline(context.get(), newline ? newline : PCRE2_NEWLINE_LF);
  pcre2_set_bsr(context.get(), bsr ? bsr : PCRE2_BSR_UNICODE);
  pcre2_set_parens_nest_limit(context.get(), kMostNested);
  pcre2_set_compile_extra_options(context.get(), PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK);
  const auto compiled = [&](std::uint32_t more) {
    charge(p, static_cast<SWord>(text.size()));
    return Code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), options | more,
                              &error->code, &error->at, context.get()));
  };
  Code code = compiled(0);
  const std::size_t given = text.size();
  while (!code && make_acceptable(&text, *error)) code = compiled(0);
  error->at += given - text.size();
  // PCRE2 10.42 leaves the upper half of the tables out of the bytes that what starts with \w may
  // start with in UTF-8.
  if (code && is_unicode(code.get()) &&
      !(info(code.get(), PCRE2_INFO_ALLOPTIONS) & (PCRE2_UCP | PCRE2_NO_START_OPTIMIZE)) &&
      text.find("\\w") != text.npos)
    code = compiled(PCRE2_NO_START_OPTIMIZE);
  return code;
}

// ---- Patterns that have been compiled -----------------------------------------------------------

/// How the binary of a compiled pattern begins; the text follows.
struct PatternHead {
  char mark[8];
  std::uint32_t options, newline, bsr;
};
constexpr char kPatternMark[] = "vmrunRE1";

/// A pattern as it was asked for, and what PCRE2 makes of it.
struct Pattern {
  PatternHead head;
  std::string text;
  Code code;
};

/// What the calling thread has compiled, by the bytes of the binaries.
class KnownPatterns {
 public:
  const Pattern* find(std::string_view bytes) const {
    const auto known = patterns_.find(bytes);
    return known == patterns_.end() ? nullptr : &known->second;
  }
  /// Forgets others when there are many.
  const Pattern* keep(std::string_view bytes, Pattern pattern) {
    if (patterns_.size() >= kMost) patterns_.clear();
    return &patterns_.insert_or_assign(std::string(bytes), std::move(pattern)).first->second;
  }

 private:
  static constexpr std::size_t kMost = 256;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, Pattern, Hash, std::equal_to<>> patterns_;
};
thread_local KnownPatterns known_patterns;

/// All that options of re:compile can set.
std::uint32_t all_compile_options() {
  std::uint32_t all = 0;
  for (const OptionRow& row : kOptions)
    if (row.kind == Kind::kCompile || row.kind == Kind::kBoth) all |= row.value;
  return all;
}

/// Whether it has the form of a compiled pattern.
bool is_pattern(Term t) {
  static const Term kTag = intern_atom("re_pattern");
  return t.is_tuple() && t.tuple_arity() == 5 && t.element(0) == kTag && is_binary(t.element(4)) &&
         bit_size_of(t.element(4)) / 8 >= sizeof(PatternHead);
}

/// Of what has that form; nullptr: it is none, or its text is too long for the calling thread to
/// compile: *used_up. The result is good until the thread keeps another one.
const Pattern* pattern_of(Process& p, Term t, bool* used_up) {
  const BytesOf binary(t.element(4));
  const std::string_view bytes(reinterpret_cast<const char*>(binary.data()), binary.size());
  *used_up = false;
  if (const Pattern* known = known_patterns.find(bytes)) return known;
  Pattern pattern;
  std::memcpy(&pattern.head, bytes.data(), sizeof(PatternHead));
  if (std::memcmp(pattern.head.mark, kPatternMark, sizeof pattern.head.mark)) return nullptr;
  static const std::uint32_t all_options = all_compile_options();
  if (pattern.head.options & ~all_options) return nullptr;
  pattern.text = bytes.substr(sizeof(PatternHead));
  *used_up = too_long(pattern.text.size() * 5);
  if (*used_up) return nullptr;
  CompileError error;
  pattern.code =
      compile(p, pattern.text, pattern.head.options, pattern.head.newline, pattern.head.bsr, &error);
  return pattern.code ? known_patterns.keep(bytes, std::move(pattern)) : nullptr;
}

/// A byte of a pattern takes some five steps to compile.
bool pattern_text(Process& p, Term expression, const Options& o, std::string* text, bool* used_up) {
  const Term binary = text_argument(p, expression, o.compile & PCRE2_UTF, used_up);
  if (binary == kNonValue) return false;
  *used_up = too_long(bit_size_of(binary) * 5 / 8);
  if (*used_up) return false;
  const BytesOf bytes(binary);
  text->assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return true;
}

struct ErrorText {
  int code;
  const char* text;
};
/// As PCRE 8 says what PCRE2 says in other words.
constexpr ErrorText kErrorTexts[] = {
    {PCRE2_ERROR_QUANTIFIER_INVALID, "nothing to repeat"},
    {PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS, "missing )"},
    {PCRE2_ERROR_MISSING_COMMENT_CLOSING, "missing ) after comment"},
    {PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP, "regular expression is too complicated"},
    {PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS, "unmatched parentheses"},
    {PCRE2_ERROR_CODE_POINT_TOO_BIG, "character value in \\x{} or \\o{} is too large"},
    {PCRE2_ERROR_LOOKBEHIND_INVALID_BACKSLASH_C, "\\C not allowed in lookbehind assertion"},
    {PCRE2_ERROR_UNSUPPORTED_ESCAPE_SEQUENCE, "PCRE does not support \\L, \\l, \\N{name}, \\U, or \\u"},
    {PCRE2_ERROR_CALLOUT_NUMBER_TOO_BIG, "number after (?C is > 255"},
    {PCRE2_ERROR_MISSING_NAME_TERMINATOR, "syntax error in subpattern name (missing terminator)"},
    {PCRE2_ERROR_DUPLICATE_SUBPATTERN_NAME, "two named subpatterns have the same name"},
    {PCRE2_ERROR_INVALID_SUBPATTERN_NAME, "group name must start with a non-digit"},
    {PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY, "unknown property name after \\P or \\p"},
    {PCRE2_ERROR_SUBPATTERN_NAME_TOO_LONG, "subpattern name is too long (maximum 32 characters)"},
    {PCRE2_ERROR_PARENS_QUERY_R_MISSING_CLOSING, "(?R or (?[+-]digits must be followed by )"},
};

std::string error_text(int code) {
  if (code < 0) return "invalid UTF-8 string";  // PCRE2 says how
  for (const ErrorText& row : kErrorTexts)
    if (row.code == code) return row.text;
  unsigned char text[256];
  const int n = pcre2_get_error_message(code, text, sizeof text);
  return {reinterpret_cast<char*>(text), static_cast<std::size_t>(n > 0 ? n : 0)};
}

Term error_tuple(Process& p, const CompileError& error) {
  const Term message = text_list(p.heap, error_text(error.code));
  return new_tuple(p.heap, atoms::error,
                   new_tuple(p.heap, message, Term::small(static_cast<SWord>(error.at))));
}

Term compile_bif(Process& p, const Term* a, unsigned arity, BifFn self) {
  Options o;
  std::string text;
  bool used_up = false;
  if ((arity == 2 && !parse_options(a[1], &o)) || o.run_only || !pattern_text(p, a[0], o, &text, &used_up))
    return used_up ? run_elsewhere(p, self, a, arity) : raise_badarg(p);
  CompileError error;
  Code code = compile(p, text, o.compile, o.newline, o.bsr, &error);
  if (!code) return error.code ? error_tuple(p, error) : raise_system_limit(p);
  const Term captures = Term::small(info(code.get(), PCRE2_INFO_CAPTURECOUNT));
  const Term unicode = Term::small(is_unicode(code.get())), crlf = Term::small(uses_crlf(code.get()));
  PatternHead head{{}, o.compile, o.newline, o.bsr};
  std::memcpy(head.mark, kPatternMark, sizeof head.mark);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += text;
  const Term binary = text_binary(p.heap, bytes);
  known_patterns.keep(bytes, {head, std::move(text), std::move(code)});
  return new_tuple(p.heap, atoms::ok,
                   new_tuple(p.heap, intern_atom("re_pattern"), captures, unicode, crlf, binary));
}

// ---- Names --------------------------------------------------------------------------------------

struct GroupName {
  std::string_view name;
  std::uint32_t group;
};

/// In the order of the names; one that several groups have comes several times.
std::vector<GroupName> group_names(const pcre2_code* code) {
  std::vector<GroupName> names;
  const std::uint32_t count = info(code, PCRE2_INFO_NAMECOUNT), size = info(code, PCRE2_INFO_NAMEENTRYSIZE);
  PCRE2_SPTR table = nullptr;
  pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &table);
  for (std::uint32_t i = 0; i < count; ++i, table += size)
    names.push_back(
        {reinterpret_cast<const char*>(table + 2), static_cast<std::uint32_t>(table[0] << 8 | table[1])});
  return names;
}

// ---- Running ------------------------------------------------------------------------------------

/// One call of re:run: where it looks, and what it shows of what it finds.
class Run {
 public:
  Run(Process& p, const pcre2_code* code, const Options& o, Term subject)
      : p_(p),
        code_(code),
        o_(o),
        subject_(subject),
        bytes_(subject),
        unicode_(is_unicode(code)),
        data_(pcre2_match_data_create_from_pattern(code, nullptr)) {
    if (steps_here() == static_cast<SWord>(kStepsOnScheduler)) {
      on_scheduler_ = true;
      limit_ = static_cast<std::uint32_t>(re_loop_limit);
      limited_ = !o.match_limit || *o.match_limit > limit_;
      // Partial matching tells when a match would have looked behind the beginning.
      cut_ = too_long((bytes_.size() - std::min(bytes_.size(), static_cast<Word>(o.offset))) / kBytesPerStep);
    }
    if (limited_ && !o.depth_limit) {
      thread_local const MatchContext few(pcre2_match_context_create(nullptr));
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
  /// It takes longer than a scheduler has time for: run() has no result.
  bool stopped() const { return stopped_; }

 private:
  Term stop() {
    stopped_ = true;
    return kNonValue;
  }

  /// Result of pcre2_match. Of a long subject a scheduler looks at the beginning: a match that
  /// would have looked behind its end is a partial one.
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

  /// Whether a scheduler has been busy with many matches for too long: how much PCRE2 does for one
  /// is not known, so this looks at the clock.
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
    // What has been looked at once is UTF-8.
    for (Word at = static_cast<Word>(o_.offset);; flags |= PCRE2_NO_UTF_CHECK) {
      const int rc = match(at, flags);
      if (stopped_ || takes_long()) return stop();
      constexpr std::uint32_t kElsewhere = PCRE2_NOTEMPTY_ATSTART | PCRE2_ANCHORED;
      if (rc == PCRE2_ERROR_NOMATCH) {
        if (!(flags & kElsewhere) || at >= bytes_.size()) break;
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
      // After nothing was matched there may be something at the same place.
      const std::size_t* range = pcre2_get_ovector_pointer(data_.get());
      flags = range[0] == range[1] || range[1] <= at ? kElsewhere : 0;
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
    return raise_badarg(p_);  // not UTF-8, or an offset inside of a character
  }

  static Term match_atom() {
    static const Term kMatch = intern_atom("match");
    return kMatch;
  }

  bool shows_nothing() const {
    return o_.what == What::kNone || (o_.what == What::kNames && wanted_.empty());
  }

  /// Numbers and names to groups. A group with a name that several have is that which was set.
  /// false: not the name of anything.
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
        const Term binary = text_argument(p_, one, unicode_, &used_up);
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
    if (!unicode_) return byte_list(p_.heap, bytes_.data() + from, length);
    return code_point_list(p_.heap, {reinterpret_cast<const char*>(bytes_.data()) + from, length});
  }

  Process& p_;
  const pcre2_code* code_;
  const Options& o_;
  const Term subject_;
  const BytesOf bytes_;
  const bool unicode_;
  bool on_scheduler_ = false;
  std::uint32_t limit_ = 0;  // of what PCRE2 counts in one match on a scheduler
  bool limited_ = false;     // by limit_
  bool cut_ = false;         // only the beginning is looked at
  bool stopped_ = false;
  unsigned matches_ = 0;
  Word began_ns_ = 0;                              // when the first few matches were made
  pcre2_match_context* shared_context_ = nullptr;  // the thread's, with that limit
  MatchData data_;
  MatchContext context_;
  std::vector<std::vector<std::uint32_t>> wanted_;  // for each that is to be shown the groups it may be
};

Term run_bif(Process& p, const Term* a, unsigned arity, BifFn self) {
  if (came_back(p)) return run_elsewhere(p, self, a, arity);  // by the clock it might decide otherwise now
  const Term subject = a[0], expression = a[1], options = arity == 3 ? a[2] : Term::nil();
  bool used_up;
  Options o;
  if (!parse_options(options, &o)) return raise_badarg(p);
  Code compiled;
  const pcre2_code* code;
  CompileError error;
  if (is_pattern(expression)) {
    if (o.compile_only) return raise_badarg(p);
    const Pattern* const pattern = pattern_of(p, expression, &used_up);
    if (!pattern) return used_up ? run_elsewhere(p, self, a, arity) : raise_badarg(p);
    code = pattern->code.get();
    const std::uint32_t newline = info(code, PCRE2_INFO_NEWLINE), bsr = info(code, PCRE2_INFO_BSR);
    if ((o.newline && o.newline != newline) || (o.bsr && o.bsr != bsr)) {
      compiled = compile(p, pattern->text, pattern->head.options, o.newline ? o.newline : newline,
                         o.bsr ? o.bsr : bsr, &error);
      if (!compiled) return raise_system_limit(p);
      code = compiled.get();
    }
  } else {
    std::string text;
    if (!pattern_text(p, expression, o, &text, &used_up))
      return used_up ? run_elsewhere(p, self, a, arity) : raise_badarg(p);
    compiled = compile(p, text, o.compile, o.newline, o.bsr, &error);
    if (!compiled) {
      if (!error.code || !o.report_errors) return raise_badarg(p);
      const Term why = error_tuple(p, error);
      return new_tuple(p.heap, atoms::error, new_tuple(p.heap, intern_atom("compile"), why.element(1)));
    }
    code = compiled.get();
  }
  const Term binary = text_argument(p, subject, is_unicode(code), &used_up);
  if (binary == kNonValue) return used_up ? run_elsewhere(p, self, a, arity) : raise_badarg(p);
  Run run(p, code, o, binary);
  const Term result = run.run();
  return run.stopped() ? run_elsewhere(p, self, a, arity) : result;
}

/// What was wrong with a call whose options are none of its own.
Term option_fault(Process&, const Export& bif, const Term* a) {
  static const Term re = intern_atom("re"), compile = intern_atom("compile"), run = intern_atom("run"),
                    internal_run = intern_atom("internal_run");
  if (bif.module != re) return kNonValue;
  const bool compiles = bif.function == compile && bif.arity == 2;
  const bool runs = (bif.function == run && bif.arity == 3) || bif.function == internal_run;
  if (!compiles && !runs) return kNonValue;
  Options o;
  return parse_options(a[compiles ? 1 : 2], &o) && !(compiles && o.run_only) ? kNonValue : atoms::badopt;
}
[[maybe_unused]] const bool hooked = add_failure_cause(option_fault);

}  // namespace

Term bif_re_compile_1(Process& p, const Term* a) { return compile_bif(p, a, 1, bif_re_compile_1); }
Term bif_re_compile_2(Process& p, const Term* a) { return compile_bif(p, a, 2, bif_re_compile_2); }
Term bif_re_run_2(Process& p, const Term* a) { return run_bif(p, a, 2, bif_re_run_2); }
Term bif_re_run_3(Process& p, const Term* a) { return run_bif(p, a, 3, bif_re_run_3); }

/// (Subject, Pattern, Options, Whether it is the caller's own call).
Term bif_re_internal_run_4(Process& p, const Term* a) {
  if (a[3] != atoms::true_ && a[3] != atoms::false_) return raise_badarg(p);
  return run_bif(p, a, 3, bif_re_run_3);
}
/// Of the library that matches.
Term bif_re_version_0(Process& p, const Term*) {
  char text[64];  // as pcre2api(3) asks for: 24 are enough
  pcre2_config(PCRE2_CONFIG_VERSION, text);
  return text_binary(p.heap, text);
}

/// {namelist, Names}
Term bif_re_inspect_2(Process& p, const Term* a) {
  const Term namelist = intern_atom("namelist");
  if (!is_pattern(a[0]) || a[1] != namelist) return raise_badarg(p);
  bool used_up;
  const Pattern* const pattern = pattern_of(p, a[0], &used_up);
  if (!pattern) return used_up ? run_elsewhere(p, bif_re_inspect_2, a, 2) : raise_badarg(p);
  ListBuilder list(p.heap);
  std::string_view last;
  for (const GroupName& n : group_names(pattern->code.get())) {
    if (n.name != last) list.add(text_binary(p.heap, n.name));
    last = n.name;
  }
  return new_tuple(p.heap, namelist, list.finish());
}

}  // namespace vmrun
