// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <map>
#include <unordered_set>
#include <vector>

#include "runtime/dump/dump_file.hpp"
#include "vm/term/term.hpp"

/// Writes terms as a crash dump of Erlang/OTP has them (erts, "How to Interpret the Erlang Crash
/// Dumps"): one word in place, and the objects that it leads to in a section of their own, a line
/// each.
namespace vmrun::dump {

/// Large binaries by the address of their bytes. Each is written once for the whole dump.
using Binaries = std::map<const std::uint8_t*, Word>;

class TermDump {
 public:
  TermDump(DumpFile& out, Binaries& binaries) : out_(out), binaries_(binaries) {}

  /// Writes a term in place. The objects that it leads to are written by the next call of
  /// `objects`.
  void word(Term t);
  /// Writes {First, Second}, which is not an object of the process.
  void pair(Term first, Term second);
  /// Writes each object once.
  void objects();

 private:
  void object(Term t);

  DumpFile& out_;
  Binaries& binaries_;
  std::vector<Term> to_do_;
  std::deque<std::array<Term, 3>> pairs_;
  std::unordered_set<Word> seen_;
};

/// Writes the =binary sections.
void write_binaries(DumpFile& out, const Binaries& binaries);

}  // namespace vmrun::dump
