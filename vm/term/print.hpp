// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "vm/term/term.hpp"

/// Texts of pids, functions and terms: for probes (bounded buffer, no allocation, no change of the
/// program), for reports and dumps, and for the BIFs that return such texts. Any thread, as long as
/// no other thread changes the term. Spec: docs/probes.md.
namespace vmrun {

/// Writes into the caller's bytes. The text is cut at the end, never inside a UTF-8 sequence, and
/// always NUL-terminated.
class BoundedText {
 public:
  /// capacity counts the NUL, so the longest text is capacity - 1 bytes.
  BoundedText(char* bytes, std::size_t capacity) : begin_(bytes), next_(bytes), end_(bytes + capacity - 1) {
    *next_ = 0;
  }
  void put(std::string_view text);
  void put(char c) { put(std::string_view(&c, 1)); }
  bool full() const { return full_; }
  std::string_view text() const { return {begin_, static_cast<std::size_t>(next_ - begin_)}; }

 private:
  char* begin_;
  char* next_;
  char* end_;
  bool full_ = false;
};

/// A NUL-terminated text on the stack.
template <std::size_t kBytes>
class StackText {
 public:
  operator const char*() const { return bytes_; }
  std::string_view view() const { return bytes_; }

 protected:
  char bytes_[kBytes];
};

void print_pid(BoundedText& out, Term pid);                                    // <0.N.S>
void print_port(BoundedText& out, Term port);                                  // #Port<0.N>
void print_mfa(BoundedText& out, Term module, Term function, unsigned arity);  // m:f/a
/// Prints a term as PROBES A4 says. The depth is limited.
void print_term(BoundedText& out, Term t);

struct MfaText : StackText<256> {
  MfaText(Term module, Term function, unsigned arity) {
    BoundedText out(bytes_, sizeof bytes_);
    print_mfa(out, module, function, arity);
  }
};

/// Whether an atom's text must be quoted: it is not a plain lower-case word, or it is a reserved
/// word.
bool atom_needs_quotes(std::string_view utf8);
/// Appends an atom in source form, quoted and escaped if need be.
void append_atom_text(std::string& out, Term atom);
std::string pid_text(Term pid);
std::string port_text(Term port);
std::string ref_text(Term ref);  // #Ref<0.A.B.C>
std::string fun_text(Term fun);  // #Fun<mod.IDX.UNIQ>, fun m:f/a

/// Prints a term of any length and depth in the form of print_term, for dumps and listings, where
/// the program's own io_lib cannot be used.
std::string term_text(Term t, std::size_t most_bytes = std::size_t{1} << 20);

/// Prints a term bounded as the BEAM bounds it: a term counts as one, a character of an atom, a
/// string or a binary as one more. A text that used up the limit ends with "... ". Characters of
/// strings are single bytes.
std::string term_text_of_limit(Term t, long limit);

/// Appends a code point as UTF-8.
void append_utf8(std::string& out, char32_t c);

}  // namespace vmrun
