// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/re_pattern.hpp"

#include <cstdio>
#include <cstring>
#include <unordered_map>

#include <fmt/core.h>

#include "runtime/bif/internal_state.hpp"
#include "runtime/bif/iolist.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/unicode.hpp"
#include "vm/base/release.hpp"
#include "vm/term/bits.hpp"

namespace vmrun::regex {

std::uint32_t info(const pcre2_code* code, std::uint32_t what) {
  std::uint32_t value = 0;
  pcre2_pattern_info(code, what, &value);
  return value;
}

bool is_unicode(const pcre2_code* code) { return info(code, PCRE2_INFO_ALLOPTIONS) & PCRE2_UTF; }
bool is_of_characters(const pcre2_code* code) { return info(code, PCRE2_INFO_ARGOPTIONS) & PCRE2_UTF; }

bool uses_crlf(const pcre2_code* code) {
  const std::uint32_t newline = info(code, PCRE2_INFO_NEWLINE);
  return newline == PCRE2_NEWLINE_CRLF || newline == PCRE2_NEWLINE_ANY || newline == PCRE2_NEWLINE_ANYCRLF;
}

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

// ---- Compiling ----------------------------------------------------------------------------------

namespace {

using CompileContext = std::unique_ptr<pcre2_compile_context, Free<pcre2_compile_context_free>>;

/// Returns tables of the classes and cases of single bytes: Latin-1, whatever the locale, as in
/// Erlang's own until OTP 28, whose bytes above 127 have no classes. PCRE2 makes tables for the C
/// locale; here characters of the upper half get the classes of ASCII characters of their kind. The
/// layout is documented in pcre2_internal.h, and it is part of the source text that pcre2_dftables
/// writes for linking.
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

/// Whether patterns mean, and are refused, as PCRE2 has it. Before, OTP had PCRE 8, whose rules and
/// texts this file adds to PCRE2's.
bool follows_pcre2() { return release_has(Trait::kPcre2); }

/// The depth of groups that OTP's libraries accept: PCRE 8, and PCRE2.
std::uint32_t most_nested() { return follows_pcre2() ? 10000 : 798; }

/// Whether the library that is linked is PCRE2 10.45 or later. It finds a range without a meaning
/// one byte behind the hyphen, and POSIX classes that it refuses where they end.
bool is_since_10_45() {
  static const bool is = [] {
    char version[64];
    pcre2_config(PCRE2_CONFIG_VERSION, version);
    int major = 0, minor = 0;
    std::sscanf(version, "%d.%d", &major, &minor);
    return major > 10 || minor >= 45;
  }();
  return is;
}

/// Whether the library says where the text at fault ends (since PCRE2 10.47), not where it is.
bool tells_ends() {
  static const bool ends = [] {
    int code = 0;
    std::size_t at = 0;
    const Code none(pcre2_compile(reinterpret_cast<PCRE2_SPTR>("*"), 1, 0, &code, &at, nullptr));
    return at == 1;
  }();
  return ends;
}

/// Where PCRE 8 finds the error that PCRE2 has found: at the character at fault, or where a POSIX
/// class begins.
std::size_t place_in_pcre8(const std::string& text, bool is_utf8, const CompileError& error) {
  const std::size_t at = error.at;
  if (at == 0) return at;
  const auto start_of_class = [&] {
    const std::size_t start = text.rfind('[', at - 1);
    return start == text.npos ? at : start;
  };
  const auto character_before = [&] {
    std::size_t i = at - 1;
    while (is_utf8 && i > 0 && (text[i] & 0xC0) == 0x80) --i;
    return i;
  };
  switch (error.code) {
    case PCRE2_ERROR_POSIX_NO_SUPPORT_COLLATING: return is_since_10_45() ? start_of_class() : at;
    case PCRE2_ERROR_UNKNOWN_POSIX_CLASS: return at > 3 && text[at - 1] == ']' ? start_of_class() + 2 : at;
    default: break;
  }
  if (!tells_ends()) return at;
  switch (error.code) {
    case PCRE2_ERROR_POSIX_CLASS_NOT_IN_CLASS: return start_of_class();
    case PCRE2_ERROR_BAD_SUBPATTERN_REFERENCE: {  // of those by number, and of relative ones
      const std::size_t digits = text.find_last_not_of("0123456789", at - 1);
      const bool is_number = digits != at - 1 && digits != text.npos && text[digits] == '\\';
      return is_number || text[at - 1] == '>' ? at - 1 : at;
    }
    case PCRE2_ERROR_UNKNOWN_ESCAPE:
    case PCRE2_ERROR_ESCAPE_INVALID_IN_CLASS:
    case PCRE2_ERROR_CLASS_RANGE_ORDER:
    case PCRE2_ERROR_QUANTIFIER_INVALID:
    case PCRE2_ERROR_INVALID_AFTER_PARENS_QUERY:
    case PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS:
    case PCRE2_ERROR_CONDITION_ASSERTION_EXPECTED:
    case PCRE2_ERROR_UNRECOGNIZED_AFTER_QUERY_P:
    case PCRE2_ERROR_INVALID_SUBPATTERN_NAME:
    case PCRE2_ERROR_INVALID_OCTAL:
    case PCRE2_ERROR_INVALID_HEXADECIMAL:
    case PCRE2_ERROR_BACKSLASH_C_SYNTAX:
    case PCRE2_ERROR_CALLOUT_BAD_STRING_DELIMITER: return character_before();
    default: return at;
  }
}

/// Rewrites a pattern that PCRE 8 accepts and PCRE2 refuses into an equal one. Such patterns have a
/// literal - after a class in a class ([\d-z]), a letter, or 8 or 9, without a meaning after a
/// backslash, or \c in front of a character that is not printable. Returns false when the error is
/// another one.
bool make_acceptable(std::string* text, const CompileError& error) {
  const auto is = [&](std::size_t i, const char* any) {
    return i < text->size() && (*text)[i] != '\0' && std::strchr(any, (*text)[i]);
  };
  // Written as a number, so that it does not combine with the text in front of it.
  const auto escape = [&](std::size_t from, std::size_t count, char c) {
    if (!is(from - 1, "\\")) return false;
    text->replace(from, count, fmt::format("x{:02x}", static_cast<unsigned char>(c)));
    return true;
  };
  const std::size_t at = error.at;
  switch (error.code) {
    case PCRE2_ERROR_CLASS_INVALID_RANGE: {
      const std::size_t hyphen = at - (is_since_10_45() ? 1 : 0);
      if (!is(hyphen, "-")) return false;
      text->insert(hyphen, 1, '\\');
      return true;
    }
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

}  // namespace

Code compile(Process& p, std::string text, const Syntax& syntax, CompileError* error) {
  CompileContext context(pcre2_compile_context_create(nullptr));
  if (!context) return nullptr;
  if (!follows_pcre2()) {
    if (!latin1_tables()) return nullptr;
    pcre2_set_character_tables(context.get(), latin1_tables());
    pcre2_set_compile_extra_options(context.get(), PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK);
#ifdef PCRE2_ERROR_MAX_VAR_LOOKBEHIND_EXCEEDED
    pcre2_set_max_varlookbehind(context.get(), 0);
#endif
  }
  pcre2_set_newline(context.get(), syntax.newline ? syntax.newline : PCRE2_NEWLINE_LF);
  pcre2_set_bsr(context.get(), syntax.bsr ? syntax.bsr : PCRE2_BSR_UNICODE);
  pcre2_set_parens_nest_limit(context.get(), most_nested());
  const auto compiled = [&](std::uint32_t more) {
    charge(p, static_cast<SWord>(text.size()));
    Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), syntax.options | more,
                            &error->code, &error->at, context.get()));
    if (!code && !follows_pcre2()) error->at = place_in_pcre8(text, syntax.options & PCRE2_UTF, *error);
    return code;
  };
  Code code = compiled(0);
  const std::size_t given = text.size();
  while (!code && !follows_pcre2() && make_acceptable(&text, *error)) code = compiled(0);
  error->at += given - text.size();
  // PCRE2 10.42 forgets the upper half of the tables when it computes the bytes that can start a
  // match of \w in UTF-8.
  if (code && is_unicode(code.get()) &&
      !(info(code.get(), PCRE2_INFO_ALLOPTIONS) & (PCRE2_UCP | PCRE2_NO_START_OPTIMIZE)) &&
      text.find("\\w") != text.npos)
    code = compiled(PCRE2_NO_START_OPTIMIZE);
  return code;
}

// ---- Texts --------------------------------------------------------------------------------------

Term text_argument(Process& p, Term text, bool unicode, bool* used_up) {
  *used_up = false;
  if (is_binary(text)) return text;
  if (!text.is_cons_or_nil()) return kNonValue;
  Term binary;
  if (unicode) {
    binary = utf8_of_characters(p, text, used_up);
  } else {
    ReductionBudget steps;
    binary = iodata_to_bitstring(p.heap, text, true, steps);
    *used_up = steps.used_up();
  }
  return binary != kNonValue && is_binary(binary) ? binary : kNonValue;
}

namespace {
/// A byte of a pattern takes some five steps to compile.
bool takes_too_long(std::size_t bytes) { return too_long(bytes * 5); }
}  // namespace

bool pattern_text(Process& p, Term expression, const Options& o, std::string* text, bool* used_up) {
  const Term binary = text_argument(p, expression, o.syntax.options & PCRE2_UTF, used_up);
  if (binary == kNonValue) return false;
  *used_up = takes_too_long(bit_size_of(binary) / 8);
  if (*used_up) return false;
  const BytesOf bytes(binary);
  text->assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return true;
}

namespace {

struct ErrorText {
  int code;
  const char* text;
};
/// PCRE 8's texts for errors that PCRE2 words differently.
constexpr ErrorText kErrorTexts[] = {
    {PCRE2_ERROR_QUANTIFIER_INVALID, "nothing to repeat"},
    {PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS, "missing )"},
    {PCRE2_ERROR_MISSING_COMMENT_CLOSING, "missing ) after comment"},
    {PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP, "regular expression is too complicated"},
    {PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS, "unmatched parentheses"},
    {PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH, "lookbehind assertion is not fixed length"},
#ifdef PCRE2_ERROR_MAX_VAR_LOOKBEHIND_EXCEEDED
    {PCRE2_ERROR_MAX_VAR_LOOKBEHIND_EXCEEDED, "lookbehind assertion is not fixed length"},
#endif
    {PCRE2_ERROR_MISSING_OCTAL_OR_HEX_DIGITS, "digits missing in \\x{} or \\o{}"},
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
  if (!follows_pcre2()) {
    if (code < 0) return "invalid UTF-8 string";  // PCRE2 says how
    for (const ErrorText& row : kErrorTexts)
      if (row.code == code) return row.text;
  }
  unsigned char text[256];
  const int n = pcre2_get_error_message(code, text, sizeof text);
  return {reinterpret_cast<char*>(text), static_cast<std::size_t>(n > 0 ? n : 0)};
}

}  // namespace

Term error_tuple(Process& p, const CompileError& error) {
  const Term message = text_list(p.heap, error_text(error.code));
  return new_tuple(p.heap, atoms::error,
                   new_tuple(p.heap, message, Term::small(static_cast<SWord>(error.at))));
}

// ---- Patterns that programs keep ----------------------------------------------------------------

namespace {

/// The beginning of a compiled pattern's binary; the text follows it.
struct PatternHead {
  char mark[8];
  Syntax syntax;
};
constexpr char kPatternMark[] = "vmrunRE1";

PatternHead head_of(std::string_view bytes) {
  PatternHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

/// The patterns that the calling thread has compiled, by the bytes of their binaries.
class KnownPatterns {
 public:
  std::optional<Pattern> find(std::string_view bytes) const {
    const auto known = codes_.find(bytes);
    return known == codes_.end() ? std::nullopt : std::optional(pattern(*known));
  }
  /// Drops all others when there are too many.
  Pattern keep(std::string_view bytes, Code code) {
    if (codes_.size() >= kMost) codes_.clear();
    return pattern(*codes_.insert_or_assign(std::string(bytes), std::move(code)).first);
  }

 private:
  static constexpr std::size_t kMost = 256;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Codes = std::unordered_map<std::string, Code, Hash, std::equal_to<>>;

  static Pattern pattern(const Codes::value_type& known) {
    const std::string_view bytes = known.first;
    return {head_of(bytes).syntax, bytes.substr(sizeof(PatternHead)), known.second.get()};
  }

  Codes codes_;
};
thread_local KnownPatterns known_patterns;

}  // namespace

bool is_pattern(Term t) {
  static const Term kTag = intern_atom("re_pattern");
  return t.is_tuple() && t.tuple_arity() == 5 && t.element(0) == kTag && is_binary(t.element(4)) &&
         bit_size_of(t.element(4)) / 8 >= sizeof(PatternHead);
}

std::optional<Pattern> pattern_of(Process& p, Term t, bool* used_up) {
  const BytesOf binary(t.element(4));
  const std::string_view bytes(reinterpret_cast<const char*>(binary.data()), binary.size());
  *used_up = false;
  if (const auto known = known_patterns.find(bytes)) return known;
  const PatternHead head = head_of(bytes);
  if (std::memcmp(head.mark, kPatternMark, sizeof head.mark) != 0) return std::nullopt;
  static const std::uint32_t all_options = all_compile_options();
  if (head.syntax.options & ~all_options) return std::nullopt;
  const std::string_view text = bytes.substr(sizeof(PatternHead));
  *used_up = takes_too_long(text.size());
  if (*used_up) return std::nullopt;
  CompileError error;
  Code code = compile(p, std::string(text), head.syntax, &error);
  return code ? std::optional(known_patterns.keep(bytes, std::move(code))) : std::nullopt;
}

Term pattern_term(Process& p, const Syntax& syntax, std::string_view text, Code code) {
  const Term captures = Term::small(info(code.get(), PCRE2_INFO_CAPTURECOUNT));
  const Term unicode = Term::small(is_of_characters(code.get())), crlf = Term::small(uses_crlf(code.get()));
  PatternHead head{{}, syntax};
  std::memcpy(head.mark, kPatternMark, sizeof head.mark);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += text;
  const Term binary = text_binary(p.heap, bytes);
  known_patterns.keep(bytes, std::move(code));
  return new_tuple(p.heap, intern_atom("re_pattern"), captures, unicode, crlf, binary);
}

}  // namespace vmrun::regex
